// Package funcname answers: what is this function called? [Written] makes of the
// linker's name the one that a programmer would write, and [Shorten] finds for
// each of several names the shortest that tells it from the others.
//
// Names come from traces, so that they may be anything. What is no name of a
// function stays as it is.
package funcname

import (
	"cmp"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gmpscope/gmpscope/internal/std"
)

// Written returns the name of a function as one writes it, from its name in the
// symbol table:
//
//   - nats%2ego.(*Conn).readLoop is nats.go.(*Conn).readLoop: the linker escapes
//     paths of packages (cmd/internal/objabi.PathToPrefix);
//   - F[go.shape.int] is F[...], as the runtime has it (funcNameForPrint);
//   - (*T).M-fm, a method value, is (*T).M;
//   - f.gowrap1 and f.deferwrap1, by which the compiler wraps the call of a go or
//     defer statement in f, are "f (go wrapper 1)" and "f (defer wrapper 1)", and
//     f·dwrap·1, of Go 1.17 to 1.20, "f (go or defer wrapper 1)";
//   - glob..func1, a function literal outside of functions, is init.func1.
//
// Function literals keep the name of the function around them: serve.func1.2 is
// the second literal in the first of serve (cmd/compile/internal/ir, closureName).
func Written(symbol string) string {
	if !strings.ContainsAny(symbol, "%[") && !strings.Contains(symbol, "-fm") && !strings.Contains(symbol, "wrap") && !strings.Contains(symbol, "glob.") {
		return symbol // OPT: nearly all are written as they are
	}
	path, fn := std.Split(symbol)
	if fn == "" {
		return symbol
	}
	return Path(path) + "." + literal(withoutShapes(fn))
}

// Path returns the path of a package, from that in the symbol table: it undoes
// cmd/internal/objabi.PathToPrefix. What does not come from there stays.
func Path(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		c := path[i]
		if c == '%' {
			if i+2 >= len(path) {
				return path
			}
			hi, lo := strings.IndexByte(hex, path[i+1]), strings.IndexByte(hex, path[i+2])
			if hi < 0 || lo < 0 {
				return path
			}
			c = byte(hi<<4 | lo)
			i += 2
		}
		b.WriteByte(c)
	}
	if s := b.String(); utf8.ValidString(s) && !strings.ContainsFunc(s, unwritable) {
		return s
	}
	return path
}

// hex are the digits that PathToPrefix writes.
const hex = "0123456789abcdef"

func unwritable(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }

// withoutShapes replaces type arguments by "[...]" where they are the compiler's
// shapes, each of which stands for many types.
func withoutShapes(fn string) string {
	if !strings.Contains(fn, "go.shape.") {
		return fn
	}
	var b strings.Builder
	depth, from := 0, 0 // of brackets; where the outermost began
	for i := 0; i < len(fn); i++ {
		switch fn[i] {
		case '[':
			if depth == 0 {
				b.WriteString(fn[from:i])
				from = i
			}
			depth++
		case ']':
			if depth--; depth < 0 {
				return fn
			}
			if depth == 0 {
				if args := fn[from : i+1]; strings.Contains(args, "go.shape.") {
					b.WriteString("[...]")
				} else {
					b.WriteString(args)
				}
				from = i + 1
			}
		}
	}
	if depth != 0 {
		return fn // it was cut
	}
	b.WriteString(fn[from:])
	return b.String()
}

// wrapper is what the compiler calls the function that a go or defer statement
// runs, where the call has arguments.
var wrapper = regexp.MustCompile(`^(.+)(?:\.(go|defer)wrap|·dwrap·)(\d+)$`)

// literal makes readable what the compiler appends to the name of a function.
func literal(fn string) string {
	if rest, ok := strings.CutPrefix(fn, "glob.."); ok {
		fn = "init." + rest
	}
	if m := wrapper.FindStringSubmatch(fn); m != nil {
		return m[1] + " (" + cmp.Or(m[2], "go or defer") + " wrapper " + m[3] + ")"
	}
	if method, ok := strings.CutSuffix(fn, "-fm"); ok && method != "" {
		return method
	}
	return fn
}

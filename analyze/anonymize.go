package analyze

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/events"
)

// names gives the words of a trace to those who judge it: as they are, or, so
// that a report may leave the company, replaced: each package, function and file
// by a number, the same throughout. What belongs to Go's standard library stays.
type names struct {
	packages, funcs, files, types map[string]string // nil: as they are
}

func newNames(anonymize bool) *names {
	if !anonymize {
		return &names{}
	}
	return &names{packages: map[string]string{}, funcs: map[string]string{}, files: map[string]string{}, types: map[string]string{}}
}

// standard are the first parts of the paths of packages in Go's standard
// library. Other paths, with a dot or without, may be anybody's.
var standard = func() map[string]bool {
	m := map[string]bool{}
	for _, p := range strings.Fields(`archive bufio builtin bytes cmp compress container context crypto database debug
		embed encoding errors expvar flag fmt go hash html image index internal io iter log maps math mime net os path plugin
		reflect regexp runtime slices sort strconv strings structs sync syscall testing text time unicode unique unsafe vendor
		weak`) {
		m[p] = true
	}
	return m
}()

// typeArgs are the type arguments in a function's name, which may be anybody's.
var typeArgs = regexp.MustCompile(`\[.*\]`)

// split cuts a function's name behind its package's path.
func split(fn string) (pkg, rest string) {
	from := 0
	if i := strings.IndexByte(fn, '['); i >= 0 {
		from = strings.LastIndexByte(fn[:i], '/') + 1
	} else {
		from = strings.LastIndexByte(fn, '/') + 1
	}
	i := strings.IndexByte(fn[from:], '.')
	if i < 0 {
		return fn, ""
	}
	return fn[:from+i], fn[from+i+1:]
}

func isStandard(pkg string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	return standard[first]
}

func (n *names) numbered(m map[string]string, key, prefix string) string {
	s, ok := m[key]
	if !ok {
		s = fmt.Sprintf("%s%d", prefix, len(m)+1)
		m[key] = s
	}
	return s
}

// function is what a function is called.
func (n *names) function(fn string) string {
	if n.packages == nil || fn == "" {
		return fn
	}
	pkg, rest := split(fn)
	if isStandard(pkg) {
		return typeArgs.ReplaceAllString(fn, "[...]")
	}
	p := n.program(pkg)
	if rest == "" {
		return p
	}
	if fn == "main.main" {
		return fn // each program has it
	}
	return p + "." + n.numbered(n.funcs, fn, "f")
}

// program is what a package is called.
func (n *names) program(pkg string) string {
	if n.packages == nil || pkg == "" || pkg == "main" {
		return pkg
	}
	return n.numbered(n.packages, pkg, "p")
}

// annotations are what types of tasks or regions are called.
func (n *names) annotations(types []string) []string {
	if n.packages == nil {
		return types
	}
	out := make([]string, len(types))
	for i, s := range types {
		out[i] = n.numbered(n.types, s, "type")
	}
	return out
}

// frame is a frame of a stack for people.
func (n *names) frame(f events.Frame) string {
	file := f.File
	if n.packages != nil {
		pkg, _ := split(f.Func)
		base := path.Base(strings.ReplaceAll(f.File, `\`, "/"))
		if isStandard(pkg) {
			file = pkg + "/" + base
		} else {
			file = n.program(pkg) + "/" + n.numbered(n.files, f.File, "file") + ".go"
		}
	}
	return fmt.Sprintf("%s (%s:%d)", n.function(f.Func), file, f.Line)
}

// trace is what the trace itself is called.
func (n *names) trace(name string) string {
	if n.packages == nil {
		return name
	}
	return "trace"
}

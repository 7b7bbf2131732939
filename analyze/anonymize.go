package analyze

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/reconstruct/class"
	"github.com/gmpscope/gmpscope/internal/funcname"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/std"
)

// Pseudonyms replaces the names in traces, so that a report may leave the company:
// each package, function, file and annotation by a number, the same throughout.
// What belongs to Go's standard library stays. Runs that share Pseudonyms give the same
// thing the same number, so that they can be compared. They are not safe for concurrent
// use, and not for two runs at once. A nil *Pseudonyms changes nothing.
type Pseudonyms struct {
	key   []byte                       // of [KeyedPseudonyms]; nil for numbers in the order of the names
	names map[string]map[string]string // by kind
}

// NewPseudonyms returns Pseudonyms that number the names of each kind in the order in which they come
// up: package p1, function f1 and so on.
func NewPseudonyms() *Pseudonyms { return &Pseudonyms{names: map[string]map[string]string{}} }

// The kinds of names, with which their numbers begin.
const (
	aPackage  = "p"
	aFunction = "f"
	aFile     = "file"
	aType     = "type" // of tasks or regions
	aLog      = "log"
	aReason   = "reason"
	anOwner   = "owner"
	aProcess  = "process"
)

// KeyedPseudonyms returns Pseudonyms whose numbers depend on key and name only, so that
// independent analyses replace a name by the same number: see [Pseudonym]. The holder of the key can
// test whether a number stands for a guessed name.
func KeyedPseudonyms(key []byte) *Pseudonyms {
	n := NewPseudonyms()
	n.key = key
	return n
}

var (
	// plainName is how a function of the standard library is called within its
	// package: identifiers, receivers, and what the compiler adds for closures,
	// wrappers and bodies of loops, as in (*conn).serve.func1 and Lock-fm.
	plainName = regexp.MustCompile(`^[\w.()*·-]+$`)
	// behindTypes is what may follow type arguments, as in (*Pointer[...]).Load.
	behindTypes = regexp.MustCompile(`^(\)?[.-][\w.·-]+|\)?)$`)
	// sourceFile is how files of the standard library are called.
	sourceFile = regexp.MustCompile(`^\w[\w.-]*\.(go|s)$`)
)

// standardName returns the name of a function of the standard library without type
// arguments, which may be anybody's. It is not ok if the function is no such.
func standardName(fn string) (name string, ok bool) {
	pkg, rest := std.Split(fn)
	if !std.Has(pkg) {
		return "", false
	}
	from := strings.IndexByte(rest, '[')
	if from < 0 {
		return fn, plainName.MatchString(rest)
	}
	if !plainName.MatchString(rest[:from]) {
		return "", false
	}
	name = pkg + "." + rest[:from] + "[...]"
	// The arguments end at the last bracket: tags of structs among them may hold any
	// others. A name that was cut within them has no end.
	if to := strings.LastIndexByte(rest, ']'); strings.Count(rest, "[") == strings.Count(rest, "]") && behindTypes.MatchString(rest[to+1:]) {
		name += rest[to+1:]
	}
	return name, true
}

// numbered returns the replacement of a name of a kind.
func (n *Pseudonyms) numbered(kind, name string) string {
	if n == nil {
		return name
	}
	known := n.names[kind]
	if known == nil {
		known = map[string]string{}
		n.names[kind] = known
	}
	s, ok := known[name]
	if !ok {
		s = fmt.Sprintf("%s%d", kind, len(known)+1)
		if n.key != nil {
			s = Pseudonym(n.key, kind, name)
		}
		known[name] = s
	}
	return s
}

// Pseudonym returns the replacement by [KeyedPseudonyms] of a name of a kind: the kind, such as "p" for
// a package or "f" for a function, and the first 12 hexadecimal digits of the HMAC-SHA-256 of both
// under the key.
func Pseudonym(key []byte, kind, name string) string {
	h := hmac.New(sha256.New, key)
	io.WriteString(h, kind+"\x00"+name)
	return kind + hex.EncodeToString(h.Sum(nil)[:6])
}

// Function returns what a report has in place of fn, the full name of a function as a trace has it. A
// function of the standard library, and main.main, keep their names.
func (n *Pseudonyms) Function(fn string) string {
	if n == nil || fn == "" || fn == "main.main" { // which each program has
		return funcname.Written(fn)
	}
	if name, ok := standardName(fn); ok {
		return funcname.Written(name)
	}
	pkg, rest := std.Split(fn)
	p := n.program(pkg)
	if rest == "" {
		return p
	}
	return p + "." + n.numbered(aFunction, fn)
}

// class is what a class is called: by its start function, or where that calls functions
// which it is given, by the one that it was given. Where no stack shows that one, it is the
// start function, unless that is the library's, which tells nothing.
func (n *Pseudonyms) class(c class.Class) string {
	switch {
	case c.Waker != "":
		return funcname.NotShown + funcname.WokenBy + n.Function(c.Waker)
	case c.Stopped != "":
		return funcname.NotShown + funcname.StoppedIn + n.Function(c.Stopped)
	case c.Wrapper && c.Does == "" && c.Creator != "" && (findings.OfLibrary(c.Start) || c.Lent) && !findings.OfLibrary(c.Creator):
		name := funcname.NotShown + funcname.StartedBy + n.Function(c.Creator)
		if c.Call > 1 {
			name += fmt.Sprintf(" (call %d)", c.Call)
		}
		return name
	case c.Wrapper && c.Does == "" && findings.OfLibrary(c.Start):
		return funcname.NotShown + funcname.StartedBy + n.Function(c.Start)
	case c.Wrapper && c.Does != "":
		return n.Function(c.Does) + funcname.StartedBy + n.Function(c.Start)
	}
	return n.Function(c.Start)
}

// program is what a package is called.
func (n *Pseudonyms) program(pkg string) string {
	if n == nil || pkg == "" || pkg == "main" {
		return funcname.Path(pkg)
	}
	return n.numbered(aPackage, pkg)
}

// Annotation returns what a report has in place of s, a type of tasks or regions; "" stays.
func (n *Pseudonyms) Annotation(s string) string { return n.noted(aType, s) }

// noted returns the replacement of what the program says about itself, if it does.
func (n *Pseudonyms) noted(kind, s string) string {
	if s == "" {
		return s
	}
	return n.numbered(kind, s)
}

func (n *Pseudonyms) process(s string) string { return n.numbered(aProcess, s) }

// stopReasons are the words of the runtime for why it stops the world, its
// stwReasonStrings.
var stopReasons = []string{
	"", "unknown", "GC mark termination", "GC sweep termination", "write heap dump", "goroutine profile", "goroutine profile cleanup",
	"all goroutines stack trace", "read mem stats", "AllThreadsSyscall", "GOMAXPROCS", "start trace", "stop trace",
	"CountPagesInUse (test)", "ReadMetricsSlow (test)", "ReadMemStatsSlow (test)", "PageCachePagesLeaked (test)", "ResetDebugLog (test)",
}

// reason is what a reason to stop the world is called.
func (n *Pseudonyms) reason(s string) string {
	if slices.Contains(stopReasons, s) {
		return s
	}
	return n.numbered(aReason, s)
}

func (n *Pseudonyms) frame(f *events.Frame) string {
	return fmt.Sprintf("%s (%s:%d)", n.Function(f.Func), n.file(f), f.Line)
}

// file is what the file of a frame is called.
func (n *Pseudonyms) file(f *events.Frame) string {
	if n == nil || f.File == "" || f.File == "<autogenerated>" {
		return f.File
	}
	pkg, _ := std.Split(f.Func)
	if _, ok := standardName(f.Func); !ok {
		pkg = n.program(pkg)
	} else if file, ok := standardFile(f.File); ok {
		return file
	}
	// With a function of Go's own, the file is what cgo made, or the program's, where
	// go:linkname gives one of its functions such a name.
	test := ""
	if strings.HasSuffix(f.File, "_test.go") {
		test = "_test"
	}
	return pkg + "/" + n.numbered(aFile, f.File) + test + ".go"
}

// standardFile returns a file of the standard library without the folder of the
// Go installation: -trimpath leaves sync/mutex.go of /usr/local/go/src/sync/mutex.go.
func standardFile(file string) (string, bool) {
	file = strings.ReplaceAll(file, `\`, "/")
	dir, base := path.Split(file)
	dir = strings.TrimSuffix(dir, "/")
	if !sourceFile.MatchString(base) {
		return "", false
	}
	for rest, more := dir, true; more; _, rest, more = strings.Cut(rest, "/src/") {
		if std.Has(rest) {
			return rest + "/" + base, true
		}
	}
	return "", false
}

// trace is what the trace itself is called.
func (n *Pseudonyms) trace(name string) string {
	if n == nil {
		return name
	}
	return "trace"
}

// loss is why something of the trace is missing. Errors of the system and of the
// network name files and hosts.
func (n *Pseudonyms) loss(why string) string {
	const brokeOff = "the input broke off"
	if n != nil && strings.HasPrefix(why, brokeOff) {
		return brokeOff
	}
	return why
}

// failure is a generation that could not be decoded. The reader's errors quote
// the trace.
func (n *Pseudonyms) failure(f events.Failure) string {
	if n != nil {
		f.Err = errDamaged
	}
	used := "events of it that were used: " + quantity.Count(f.Events)
	if f.Events == 0 {
		used = "none of its events could be used"
	}
	return fmt.Sprintf("generation %d at byte %d: %v (%s)", f.Generation, f.Offset, f.Err, used)
}

package words

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/funcname"
	"github.com/gmpscope/gmpscope/internal/std"
	"github.com/gmpscope/gmpscope/internal/term"
)

// Unknown is the name of a class whose start function the trace does not show,
// where a name stands alone.
const Unknown = "(unknown function)"

// Lengths, in runes, to which names are cut in a sentence, and where they are
// shown in full.
const (
	maxName = 72
	maxFull = 600
)

// Names reports what functions and classes are called in one document: for short,
// so that no two are called the same, or in full. A nil *Names leaves the paths
// of packages out.
type Names struct {
	shorts  *funcname.Shorts
	known   map[string]bool // with a path, as Visible
	lengths []int           // of those, the longest first
	twice   map[string]bool // functions that goroutines of several classes run, by how they were started
	full    bool
}

// NewNames returns the names for a document about these classes.
func NewNames(classes []string) *Names {
	n := &Names{known: map[string]bool{}, twice: map[string]bool{}}
	shown := make([]string, 0, len(classes))
	started := map[string]string{}
	for _, c := range classes {
		shown = append(shown, Visible(c))
		if what, _, _ := funcname.Cut(shown[len(shown)-1]); started[what] == "" {
			started[what] = shown[len(shown)-1]
		} else if started[what] != shown[len(shown)-1] {
			n.twice[what] = true
		}
		what, _, who := funcname.Cut(shown[len(shown)-1])
		for _, fn := range []string{what, who} {
			if strings.Contains(fn, "/") && !n.known[fn] {
				n.known[fn] = true
				n.lengths = append(n.lengths, len(fn))
			}
		}
	}
	slices.Sort(n.lengths)
	n.lengths = slices.Compact(n.lengths)
	slices.Reverse(n.lengths)
	n.shorts = funcname.Shorten(shown)
	return n
}

// ClassesOf returns the names of classes and creators that a result has.
func ClassesOf(r *analyze.Result) []string {
	var out []string
	for i := range r.Waits.Classes {
		c := &r.Waits.Classes[i]
		out = append(out, c.Name, c.Creator, c.StartedBy)
	}
	for i := range r.Breakdown.Classes {
		out = append(out, r.Breakdown.Classes[i].Name, r.Breakdown.Classes[i].Creator)
	}
	for _, p := range r.Span.Path {
		out = append(out, p.Name, p.Creator)
	}
	for f := range r.AllFindings() {
		out = append(out, ofActors(f)...)
	}
	return out
}

func ofActors(f *findings.Finding) []string {
	var out []string
	for i := range f.Actors {
		out = append(out, f.Actors[i].Class, f.Actors[i].Creator)
	}
	return out
}

// Full returns the names with which functions are called in full.
func (n *Names) Full() *Names {
	full := Names{full: true}
	if n != nil {
		full.shorts, full.twice = n.shorts, n.twice
	}
	return &full
}

// InFull reports whether functions are called in full.
func (n *Names) InFull() bool { return n != nil && n.full }

// ShortName is the short name of a class, also where names are shown in full. That a function of
// the standard library has started it, or one that is called Go, is left out where that is not
// what tells it from another: it says nothing about the program.
func (n *Names) ShortName(class string) string {
	class = Visible(class)
	if n == nil {
		return (*funcname.Shorts)(nil).Class(class)
	}
	if what, link, who := funcname.Cut(class); link == funcname.StartedBy && what != funcname.NotShown && !n.twice[what] {
		if pkg, _ := std.Split(who); std.Has(pkg) || launched.MatchString(class) {
			class = what
		}
	}
	return n.shorts.Class(class)
}

// Class is what a class of goroutines is called in a sentence.
func (n *Names) Class(s string) string {
	if s == "" {
		return "goroutines of unknown start function"
	}
	return n.Shortened(s, maxName)
}

// Shortened is what a function or a class is called, in at most most runes unless
// names are shown in full.
func (n *Names) Shortened(s string, most int) string {
	return n.Cut(n.Function(s), most)
}

// Function is what a function or a class is called, however long.
func (n *Names) Function(s string) string {
	if n.InFull() {
		return Visible(s)
	}
	return n.ShortName(s)
}

// Cut shortens s, in which there are names, to most runes unless names are shown in
// full.
func (n *Names) Cut(s string, most int) string {
	if n.InFull() {
		most = max(most, maxFull)
	}
	return Cut(s, most)
}

// launched is a start function, and that a method Go of a library started it, as that of
// sync.WaitGroup and errgroup.Group: nobody needs to know.
var launched = regexp.MustCompile(`([\w\]]), started by [\w./-]+\.\(\*\w+\)\.Go\.func\d+`)

// imported finds names of functions with their import path in a sentence.
var imported = regexp.MustCompile(`((?:[A-Za-z0-9_~-][A-Za-z0-9._~-]*/)+)[A-Za-z0-9_~-][A-Za-z0-9._~-]*\.[A-Za-z_(]`)

// version is the last element of the path of a module's second or later version.
var version = regexp.MustCompile(`^v[0-9]+\.`)

// Prose makes a sentence of a detector harmless, and calls the functions in it what
// they are called. Those that are none of a class lose the directories of paths that
// begin with a domain or have three parts, so that runtime/debug.SetGCPercent stays
// what one looks up.
func (n *Names) Prose(s string) string {
	s = Visible(s)
	if n.InFull() {
		return s
	}
	if strings.Contains(s, funcname.StartedBy) {
		s = launched.ReplaceAllString(s, "$1")
	}
	if !strings.Contains(s, "/") {
		return s
	}
	var b strings.Builder
	at := 0
	for _, m := range imported.FindAllStringSubmatchIndex(s, -1) {
		from, to := m[2], m[3]
		if from < at || from > 0 && strings.ContainsRune("/:@", rune(s[from-1])) {
			continue // of a file, or of an address
		}
		dir := s[from:to]
		if fn := n.at(s[from:]); fn != "" {
			b.WriteString(s[at:from] + n.ShortName(fn))
			at = from + len(fn)
			continue
		}
		first, _, _ := strings.Cut(dir, "/")
		if !strings.Contains(first, ".") && strings.Count(dir, "/") < 2 {
			continue
		}
		b.WriteString(s[at:from])
		at = to
		if version.MatchString(s[to:]) { // the package is called by what is before
			b.WriteString((*funcname.Shorts)(nil).Function(s[from:m[1]]))
			at = m[1]
		}
	}
	b.WriteString(s[at:])
	return b.String()
}

// at returns the name of a function of a class with which s begins, the longest;
// empty if it is none.
func (n *Names) at(s string) string {
	if n == nil {
		return ""
	}
	for _, l := range n.lengths {
		if l <= len(s) && n.known[s[:l]] && (l == len(s) || !inName(s[l])) {
			return s[:l]
		}
	}
	return ""
}

// inName reports whether a name that is followed by c goes on.
func inName(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= utf8.RuneSelf
}

// Cut shortens s to n runes, leaving out its middle.
func Cut(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	head := n * 2 / 3
	tail := n - head - 1
	return string(r[:head]) + "…" + string(r[len(r)-tail:])
}

// Visible makes a string from a trace harmless: what hides, or hides others,
// becomes visible, and invalid UTF-8 becomes U+FFFD.
func Visible(s string) string { return term.Visible(s) }

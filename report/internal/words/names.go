package words

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/funcname"
	"github.com/gmpscope/gmpscope/internal/std"
	"github.com/gmpscope/gmpscope/internal/term"
)

// Unknown is the name of a class whose start function the trace does not show, where a name stands alone.
const Unknown = "(unknown function)"

// Lengths, in runes, to which names are cut in a sentence, and where they are shown in full.
const (
	maxName = 72
	maxFull = 600
)

// Names knows what the functions and classes in one document are called: by the shortest names
// of which no two are the same, or in full. A nil *Names leaves the paths of packages out.
type Names struct {
	shorts *funcname.Shorts
	twice  map[string]bool // functions that goroutines of several classes run, by how they were started
	full   bool
}

// NewNames returns the names for a document about these classes; with full by the paths of their packages.
func NewNames(classes []string, full bool) *Names {
	n := &Names{twice: map[string]bool{}, full: full}
	shown := make([]string, 0, len(classes))
	started := map[string]string{}
	for _, c := range classes {
		shown = append(shown, Visible(c))
		if what, _, _ := funcname.Cut(shown[len(shown)-1]); started[what] == "" {
			started[what] = shown[len(shown)-1]
		} else if started[what] != shown[len(shown)-1] {
			n.twice[what] = true
		}
	}
	n.shorts = funcname.Shorten(shown)
	return n
}

// ClassesOf returns the names of classes and creators that a result has.
func ClassesOf(r *analyze.Result) []string {
	out := slices.Concat(
		each(r.Waits.Classes, func(c *waits.Class) []string { return []string{c.Name, c.Creator, c.StartedBy} }),
		each(r.Breakdown.Classes, func(c *breakdown.Class) []string { return []string{c.Name, c.Creator} }),
		each(r.Span.Path, func(p *analyze.PathPart) []string { return []string{p.Name, p.Creator} }))
	for f := range r.AllFindings() {
		out = append(out, OfActors(f)...)
	}
	return out
}

// OfActors returns the names of classes and creators that a finding has.
func OfActors(f *findings.Finding) []string {
	return each(f.Actors, func(a *findings.Actor) []string { return []string{a.Class, a.Creator} })
}

// Full returns Names by which functions are called in full.
func (n *Names) Full() *Names {
	full := Names{full: true}
	if n != nil {
		full.shorts, full.twice = n.shorts, n.twice
	}
	return &full
}

// InFull reports whether functions are called in full.
func (n *Names) InFull() bool { return n != nil && n.full }

// ShortName returns the short name of a class, also if names are shown in full. It leaves out
// the function of the standard library, or one called Go, that started the class, unless
// another class differs in nothing else: it says nothing about the program.
func (n *Names) ShortName(class string) string {
	class = Visible(class)
	if n == nil {
		return (*funcname.Shorts)(nil).Class(class)
	}
	if what, link, who := funcname.Cut(class); link == funcname.StartedBy && what != funcname.NotShown && !n.twice[what] {
		if pkg, _ := std.Split(who); std.Has(pkg) || strings.Contains(who, ").Go.func") {
			class = what
		}
	}
	return n.shorts.Class(class)
}

// Class returns what a class of goroutines is called in a sentence.
func (n *Names) Class(s string) string {
	if s == "" {
		return "goroutines of unknown start function"
	}
	return n.Shortened(s, maxName)
}

// Shortened returns what a function or a class is called, in at most most characters unless
// names are shown in full.
func (n *Names) Shortened(s string, most int) string {
	return n.Cut(n.Function(s), most)
}

// Function returns what a function or a class is called, however long.
func (n *Names) Function(s string) string {
	if n.InFull() {
		return Visible(s)
	}
	return n.ShortName(s)
}

// Cut shortens s, which holds names, to at most most characters, unless names are shown in
// full.
func (n *Names) Cut(s string, most int) string {
	if n.InFull() {
		most = max(most, maxFull)
	}
	return Cut(s, most)
}

// Text returns a text of a finding, safe to display, with the names of functions as reports show them.
func (n *Names) Text(t findings.Text) string {
	var b strings.Builder
	for _, p := range t {
		switch {
		case n.InFull() || p.Kind != findings.Function && p.Kind != findings.File:
			b.WriteString(Visible(p.Text))
		case p.Kind == findings.File:
			b.WriteString(Visible(path.Base(p.Text)))
		default:
			b.WriteString(n.ShortName(p.Text))
		}
	}
	return b.String()
}

// Cut shortens s to at most n characters, leaving out its middle.
func Cut(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	head := n * 2 / 3
	tail := n - head - 1
	return string(r[:head]) + "…" + string(r[len(r)-tail:])
}

// First returns the first most of some strings, which may be hostile, each fit for a line and of at most n
// characters; if there are more, more says how many: it is a format for their number.
func First(list []string, most, n int, more string) (out []string) {
	for _, s := range list[:min(len(list), most)] {
		out = append(out, Cut(Visible(s), n))
	}
	if left := len(list) - most; left > 0 {
		out = append(out, fmt.Sprintf(more, left))
	}
	return out
}

// All is [First] of all strings.
func All(list []string, n int) []string { return First(list, len(list), n, "") }

// Visible returns s with what is invisible, or hides other text, made visible, and with U+FFFD
// for invalid UTF-8: strings from a trace may be hostile.
func Visible(s string) string { return term.Visible(s) }

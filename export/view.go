package export

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/term"
	"github.com/gmpscope/gmpscope/reference"
)

// View is what a writer sees of an analysis: an [analyze.Lookup], with names that are safe to
// display, as [Shown] makes them. The zero value must not be used before [View.Begin].
type View struct {
	analyze.Lookup
	known map[int32]string
}

// unknown is the name of what the trace does not name.
const unknown = "(unknown function)"

// Begin stores the functions that resolve handles. It implements [analyze.Observer].
func (v *View) Begin(l analyze.Lookup) {
	*v = View{l, map[int32]string{0: unknown, waits.ClassOthers: "(other classes)"}}
}

// Class returns the name of a class, the goroutines with one start function. class is its handle, a
// small number: the Class of a [reference.Decision], or [waits.ClassOthers]. A class without a name,
// such as 0, or of which the trace does not show the start function, is "(unknown function)". The name
// is safe to display, as [Shown] makes it.
func (v *View) Class(class int32) string {
	name, ok := v.known[class]
	if !ok {
		name = Function(v.Lookup.Class(class))
		v.known[class] = name
	}
	return name
}

// Has reports whether the time t, in ns since the first event of the trace, lies in the window of the
// analysis, [Focus.From, Focus.To); To of 0 is the end of the trace.
func (v *View) Has(t int64) bool { return t >= v.Focus.From && (v.Focus.To <= 0 || t < v.Focus.To) }

// Cut returns the part of [from, to), in ns, that lies in the window, and whether there is
// one. An empty interval is in the window if its instant is.
func (v *View) Cut(from, to int64) (int64, int64, bool) {
	if from == to {
		return from, to, v.Has(from)
	}
	from = max(from, v.Focus.From)
	if v.Focus.To > 0 {
		to = min(to, v.Focus.To)
	}
	return from, to, from < to
}

// NoWaker returns what an export shows in place of the waker's class if no goroutine was the
// waker: the word for why in parentheses, such as "(timer)". why is the Why of the decision that made
// the goroutine runnable.
func NoWaker(why reference.Why) string { return "(" + why.String() + ")" }

// Shown returns a text from the trace, made safe to display: control characters, others that are not
// seen or change the direction of the text, and bytes that are not UTF-8 are replaced by visible ones.
func Shown(text string) string { return term.Visible(text) }

// Function returns the name of a function of the trace, made safe to display by [Shown]; "(unknown
// function)" if it is empty.
func Function(name string) string {
	if name == "" {
		return unknown
	}
	return Shown(name)
}

// Comments returns lines of text that each export carries about a result: the name of its
// trace, the rules by which it was analysed, and what is missing.
func Comments(res *analyze.Result) []string {
	t := &res.Trace
	out := []string{"trace: " + Shown(t.Name), "rules: Go " + t.Rules.GoVersion}
	for _, w := range t.Warnings {
		out = append(out, "warning: "+Shown(w))
	}
	return out
}

// Evidence returns lines of text with the numbers that led to a finding, a line each.
func Evidence(f *findings.Finding) []string {
	out := make([]string, len(f.Evidence))
	for i, e := range f.Evidence {
		out[i] = Shown(fmt.Sprintf("%s: %s", e.What, e.Value))
		if len(e.Limit) > 0 {
			out[i] += " (threshold: " + Shown(e.Limit.String()) + ")"
		}
	}
	return out
}

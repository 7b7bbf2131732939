package export

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/term"
	"github.com/gmpscope/gmpscope/reference"
)

// Names returns names of classes by their handles, safe to display.
type Names struct {
	lookup analyze.Lookup
	known  map[int32]string
}

// NewNames returns the Names of an analysis.
func NewNames(l analyze.Lookup) *Names {
	return &Names{lookup: l, known: map[int32]string{
		0:                 unknown,
		waits.ClassOthers: "(other classes)",
	}}
}

// unknown is the name of what the trace does not name.
const unknown = "(unknown function)"

// Class returns the name of a class.
func (n *Names) Class(class int32) string {
	name, ok := n.known[class]
	if !ok {
		name = Function(n.lookup.Class(class))
		n.known[class] = name
	}
	return name
}

// NoWaker returns the replacement for the class of a waker that was no goroutine, by
// "why" of the decision.
func NoWaker(why reference.Why) string { return "(" + why.String() + ")" }

// Shown returns a text of the trace, safe to display.
func Shown(text string) string { return term.Visible(text) }

// Function returns the name of a function of the trace, safe to display.
func Function(name string) string {
	if name == "" {
		return unknown
	}
	return Shown(name)
}

// Comments returns lines about a result for each export: its trace, its rules, and what
// is missing.
func Comments(res *analyze.Result) []string {
	t := &res.Trace
	out := []string{"trace: " + Shown(t.Name), "rules: Go " + t.Rules.GoVersion}
	for _, w := range t.Warnings {
		out = append(out, "warning: "+Shown(w))
	}
	return out
}

// Evidence returns lines about the numbers of a finding.
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

// Package all lists the detectors, in the order of order.txt. A detector is each
// folder beside it that holds a doc.md.
package all

import "github.com/gmpscope/gmpscope/analyze/findings"

//go:generate go run ./gen

// Docs returns the explanations of all detectors, in their order.
func Docs() []findings.Doc {
	var out []findings.Doc
	for _, d := range Detectors(Default()) {
		out = append(out, d.Doc())
	}
	return out
}

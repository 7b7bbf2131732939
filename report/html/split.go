package html

import (
	"html/template"

	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/replay"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// splitView is the waiting held against the reference.
type splitView struct {
	Lines  []string
	Legend []legendItem
	Bars   []splitBar
}

type splitBar struct {
	Name  Name
	Bar   template.HTML
	Cells []cell
}

// newSplit returns nil if nothing was held against the reference.
func newSplit(s *replay.Decomposition, names *words.Names) *splitView {
	if s == nil {
		return nil
	}
	v := &splitView{Legend: []legendItem{{"behind", "capacity: unavoidable"}, {"overtaken", "policy: Go's own rules"}, {"missed", "excess: neither explains it"}}}
	for _, l := range report.SplitLines(s) {
		v.Lines = append(v.Lines, words.Cut(words.Visible(l), 1200))
	}
	if s.Untrusted != "" {
		v.Legend = nil
		return v
	}
	whole := int64(1)
	segments := func(p replay.Parts) []segment {
		return []segment{
			{"behind", p.CapacityNs, "capacity: " + quantity.Duration(p.CapacityNs)},
			{"overtaken", p.PolicyNs, "policy: " + quantity.Duration(p.PolicyNs)},
			{"missed", p.ExcessNs, "excess: " + quantity.Duration(p.ExcessNs)},
		}
	}
	for _, c := range s.Classes {
		sum := int64(0)
		for _, x := range segments(c.Parts) {
			sum += max(x.N, 0) // a part below zero has no bar
		}
		whole = max(whole, sum)
	}
	for i := range s.Classes {
		c, p := &s.Classes[i], s.Classes[i].Parts
		v.Bars = append(v.Bars, splitBar{
			Name: className(c.Name, names), Bar: bar(segments(p), whole, 16, "waiting by capacity, policy and excess"),
			Cells: []cell{intCell(quantity.Duration(p.ObservedNs), p.ObservedNs), intCell(quantity.Duration(p.CapacityNs), p.CapacityNs), intCell(quantity.Duration(p.PolicyNs), p.PolicyNs), intCell(quantity.Duration(p.ExcessNs), p.ExcessNs)},
		})
	}
	return v
}

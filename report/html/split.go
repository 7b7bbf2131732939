package html

import (
	"html/template"

	"github.com/gmpscope/gmpscope/replay"
	"github.com/gmpscope/gmpscope/report"
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
func newSplit(s *replay.Split) *splitView {
	if s == nil {
		return nil
	}
	v := &splitView{Legend: []legendItem{{"behind", "capacity: unavoidable"}, {"overtaken", "policy: Go's own rules"}, {"missed", "excess: neither explains it"}}}
	for _, l := range report.SplitLines(s) {
		v.Lines = append(v.Lines, cut(visible(l), 1200))
	}
	whole := int64(1)
	segments := func(p replay.Parts) []segment {
		return []segment{
			{"behind", p.CapacityNs, "capacity: " + dur(p.CapacityNs)},
			{"overtaken", p.PolicyNs, "policy: " + dur(p.PolicyNs)},
			{"missed", p.ExcessNs, "excess: " + dur(p.ExcessNs)},
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
			Name: className(c.Name), Bar: bar(segments(p), whole, 16, "waiting by capacity, policy and excess"),
			Cells: []cell{num(dur(p.ObservedNs), p.ObservedNs), num(dur(p.CapacityNs), p.CapacityNs), num(dur(p.PolicyNs), p.PolicyNs), num(dur(p.ExcessNs), p.ExcessNs)},
		})
	}
	return v
}

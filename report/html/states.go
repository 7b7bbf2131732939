package html

import (
	"html/template"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// statesView is what the goroutines of each class did with their life.
type statesView struct {
	Lead   string
	Legend []legendItem
	Rows   []lifeRow
	More   int
}

type lifeRow struct {
	Name   Name
	System bool
	Bar    template.HTML
	Cells  []cell
}

// lifePart is a part of a life: its colour, what it is called, and how long it is.
type lifePart struct {
	key, title string
	ns         int64
}

func lifeParts(s *breakdown.TimeByState) []lifePart {
	return []lifePart{
		{"user", "running", s.RunningNs}, {"missed", "runnable", s.RunnableNs}, {"idle", "blocked", s.Blocked()},
		{"syscall", "system call", s.SyscallNs}, {"unused", "unknown", s.UnknownNs},
	}
}

// newStatesView returns nil if the result has no lives.
func newStatesView(r *analyze.Result, names *words.Names) *statesView {
	cs := report.ClassesByWaiting(r)
	if len(cs) == 0 {
		return nil
	}
	v := &statesView{Lead: report.StatesLead(r), More: max(0, len(cs)-maxClasses)}
	for _, p := range lifeParts(&breakdown.TimeByState{}) {
		v.Legend = append(v.Legend, legendItem{p.key, p.title})
	}
	for i := range cs[:min(len(cs), maxClasses)] {
		v.Rows = append(v.Rows, newLifeRow(&cs[i], names))
	}
	return v
}

func newLifeRow(c *breakdown.Class, names *words.Names) lifeRow {
	whole := c.LifeNs()
	out := lifeRow{Name: className(c.Name, names), System: c.Runtime, Cells: []cell{intCell(quantity.Duration(whole), whole)}}
	var segments []segment
	for _, p := range lifeParts(&c.TimeByState) {
		segments = append(segments, segment{p.key, p.ns, p.title + ": " + quantity.Duration(p.ns) + ", " + quantity.Part(p.ns, whole)})
		out.Cells = append(out.Cells, floatCell(quantity.Part(p.ns, whole), quantity.Ratio(p.ns, whole)))
	}
	out.Bar = bar(segments, whole, 10, "life by what its goroutines did")
	blocked := report.BlockedInWords(&c.TimeByState, 2)
	if blocked == "" {
		blocked = "–"
	}
	out.Cells = append(out.Cells, cell{Text: words.Visible(blocked)})
	return out
}

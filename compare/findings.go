package compare

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// grown is by which factor a cost must change.
const grown = 2

// changes holds the findings of both sides against each other, by detector. A
// finding's cost in a trace that does not have it is 0.
func changes(before, after []*analyze.Result, basis Basis) []FindingChange {
	type side struct {
		n     int
		costs []float64
	}
	type entry struct {
		FindingChange
		sides [2]side
		cost  [2]int64
	}
	at := map[string]int{}
	var list []entry
	for s, rs := range [...][]*analyze.Result{before, after} {
		for _, r := range rs {
			costs := map[string]int64{}
			for _, f := range r.Findings {
				if f.Kind == findings.KindTrace {
					continue // it judges the recording
				}
				i, ok := at[f.ID]
				if !ok {
					i = len(list)
					at[f.ID] = i
					list = append(list, entry{FindingChange: FindingChange{ID: f.ID, Severity: string(f.Severity)}})
				}
				e := &list[i]
				if _, ok := costs[f.ID]; !ok {
					e.sides[s].n++
				}
				costs[f.ID] += f.CostNs
				if findings.Severity(e.Severity).Order() > f.Severity.Order() {
					e.Severity = string(f.Severity)
				}
				if title := [...]*findings.Text{&e.BeforeTitle, &e.AfterTitle}[s]; *title == nil || f.CostNs > e.cost[s] {
					*title, e.cost[s] = f.Title, f.CostNs
				}
			}
			for i := range list {
				list[i].sides[s].costs = append(list[i].sides[s].costs, float64(costs[list[i].ID])*basis.scale(r))
			}
		}
	}
	out := []FindingChange{}
	for i := range list {
		e := &list[i]
		for s, rs := range [...][]*analyze.Result{before, after} {
			// Traces from before it was first seen.
			for len(e.sides[s].costs) < len(rs) {
				e.sides[s].costs = append(e.sides[s].costs, 0)
			}
		}
		b, a := &e.sides[0], &e.sides[1]
		x := e.FindingChange
		x.BeforeN, x.AfterN = b.n, a.n
		if x.Title = x.AfterTitle; x.Title == nil {
			x.Title = x.BeforeTitle
		}
		x.BeforeCostNs, x.AfterCostNs = int64(quantity.Median(b.costs)), int64(quantity.Median(a.costs))
		x.Change = Same
		noted := cmp.Compare(2*x.AfterN, len(after)) >= 0 && x.AfterN > 0
		was := cmp.Compare(2*x.BeforeN, len(before)) >= 0 && x.BeforeN > 0
		switch {
		case x.BeforeN == 0 && noted:
			x.Change = New
		case x.AfterN == 0 && was:
			x.Change = Gone
		case float64(x.AfterCostNs) >= grown*float64(x.BeforeCostNs) && x.AfterCostNs > 0:
			x.Change = Grown
		case float64(x.BeforeCostNs) >= grown*float64(x.AfterCostNs) && x.BeforeCostNs > 0:
			x.Change = Shrunk
		}
		out = append(out, x)
	}
	rank := map[Change]int{New: 0, Grown: 1, Gone: 2, Shrunk: 3, Same: 4}
	slices.SortFunc(out, func(x, y FindingChange) int {
		return cmp.Or(cmp.Compare(rank[x.Change], rank[y.Change]),
			cmp.Compare(findings.Severity(x.Severity).Order(), findings.Severity(y.Severity).Order()),
			cmp.Compare(abs(y.AfterCostNs-y.BeforeCostNs), abs(x.AfterCostNs-x.BeforeCostNs)), cmp.Compare(x.ID, y.ID))
	})
	return out
}

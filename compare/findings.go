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
	sides := [...][]*analyze.Result{before, after}
	var costs [2][]map[string]int64 // of each trace, by ID
	found := map[string]*FindingChange{}
	for s, rs := range sides {
		most := map[string]int64{}
		for _, r := range rs {
			cost := map[string]int64{}
			costs[s] = append(costs[s], cost)
			for _, f := range r.Findings {
				if f.Kind == findings.KindTrace {
					continue // it judges the recording
				}
				x := found[f.ID]
				if x == nil {
					x = &FindingChange{ID: f.ID, Severity: string(f.Severity)}
					found[f.ID] = x
				}
				cost[f.ID] += f.CostNs
				if findings.Severity(x.Severity).Order() > f.Severity.Order() {
					x.Severity = string(f.Severity)
				}
				if title := [...]*findings.Text{&x.BeforeTitle, &x.AfterTitle}[s]; *title == nil || f.CostNs > most[f.ID] {
					*title, most[f.ID] = f.Title, f.CostNs
				}
			}
		}
	}
	out := []FindingChange{}
	for id, x := range found {
		for s, rs := range sides {
			var all []float64
			for i, r := range rs {
				ns, ok := costs[s][i][id]
				if ok {
					*[...]*int{&x.BeforeN, &x.AfterN}[s]++
				}
				all = append(all, float64(ns)*basis.scale(r))
			}
			*[...]*int64{&x.BeforeCostNs, &x.AfterCostNs}[s] = int64(quantity.Median(all))
		}
		if x.Title = x.AfterTitle; x.Title == nil {
			x.Title = x.BeforeTitle
		}
		x.Change = Same
		noted := 2*x.AfterN >= len(after)
		was := 2*x.BeforeN >= len(before)
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
		out = append(out, *x)
	}
	rank := map[Change]int{New: 0, Grown: 1, Gone: 2, Shrunk: 3, Same: 4}
	slices.SortFunc(out, func(x, y FindingChange) int {
		return cmp.Or(cmp.Compare(rank[x.Change], rank[y.Change]),
			cmp.Compare(findings.Severity(x.Severity).Order(), findings.Severity(y.Severity).Order()),
			cmp.Compare(abs(y.AfterCostNs-y.BeforeCostNs), abs(x.AfterCostNs-x.BeforeCostNs)), cmp.Compare(x.ID, y.ID))
	})
	return out
}

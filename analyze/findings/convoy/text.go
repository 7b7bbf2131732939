package convoy

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, n *numbers) {
	name, top := f.Name(n.cause), &n.cells[0]
	x.Title = fmt.Sprintf("Runs of %s lasting up to %s held up, %s, goroutines that need %s at a time",
		name, findings.Dur(n.longest.longest), findings.Plural(n.held, "time", "times"), findings.Dur(n.medianNs))
	x.Evidence = []findings.Evidence{
		{What: "long runs with others behind them", Value: findings.Count(n.runs), Limit: findings.Dur(w.t.LongNs) + " each"},
		{What: "the longest", Value: findings.Dur(n.longest.longest), Limit: findings.Dur(w.t.LongNs), Ns: n.longest.longest},
		{What: "their mean", Value: findings.Dur(top.runNs / top.runs), Ns: top.runNs / top.runs},
		{What: "median run of those behind", Value: findings.Dur(n.medianNs), Limit: findings.Times(w.t.Ratio) + " shorter", Ns: n.medianNs},
		{What: "goroutines that they found waiting behind them", Value: findings.Count(n.held)},
		{What: "longest that one of these stood behind one run", Value: findings.Dur(top.victims.Worst), Ns: top.victims.Worst},
	}
	x.Advice = []string{
		"Split the long work of " + name + " into pieces of some 100 µs and let others in between them (runtime.Gosched, or a channel operation that blocks).",
		"Or bound how many such goroutines run at once, below GOMAXPROCS, so that a P stays free for short work; or move the heavy part into another process.",
		"If the long runs are not stopped after some 20 ms, see late-preemption.",
	}
	for _, c := range n.cells[1:min(maxVictims, len(n.cells))] {
		x.Evidence = append(x.Evidence, findings.Evidence{What: "of the cost, to " + f.Name(c.victim), Value: findings.Dur(c.victims.Ns), Ns: c.victims.Ns})
	}
	if n.rare {
		x.Evidence = append(x.Evidence, findings.Evidence{What: "all runs of that class", Value: findings.Count(n.class.Runs) + ", median " + findings.Dur(n.class.Median())})
		x.Advice = append(x.Advice, "Runs this long are rare in this class: their threads may just have had no CPU for a while. CPU samples in the trace would tell.")
	}
}

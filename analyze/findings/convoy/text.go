package convoy

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, n *evidence) {
	top := &n.cells[0]
	long := x.Actors[len(x.Actors)-1].Work()
	after := ""
	if a := (findings.Actor{Class: f.Name(n.cause), Stack: f.Frames(n.longest.after)}); a.Short() != findings.Short(a.Class) {
		after = " after its wait in " + a.Short()
		if by := a.Caller(); by != "" {
			after += " (called by " + by + ")"
		}
	}
	x.Headline = fmt.Sprintf("Runs of %s of up to %s hold up short ones", x.Actors[len(x.Actors)-1].Brief(), quantity.Duration(n.longest.longest))
	x.Title = fmt.Sprintf("Runs of %s lasting up to %s held up, %s, goroutines that need %s at a time",
		long, quantity.Duration(n.longest.longest), quantity.Plural(n.held, "time", "times"), quantity.Duration(n.medianNs))
	x.Evidence = []findings.Evidence{
		{What: "long runs with others behind them", Value: quantity.Count(n.runs), Limit: quantity.Duration(w.t.LongNs) + " each"},
		{What: "the longest", Value: quantity.Duration(n.longest.longest), Limit: quantity.Duration(w.t.LongNs), Ns: n.longest.longest},
		{What: "their mean", Value: quantity.Duration(top.runNs / top.runs), Ns: top.runNs / top.runs},
		{What: "median run of those behind", Value: quantity.Duration(n.medianNs), Limit: quantity.Times(w.t.Ratio) + " shorter", Ns: n.medianNs},
		{What: "goroutines that they found waiting behind them", Value: quantity.Count(n.held)},
		{What: "longest that one of these stood behind one run", Value: quantity.Duration(top.victims.Worst), Ns: top.victims.Worst},
	}
	x.Advice = []string{
		"Split the long work of " + long + after + " into pieces of some 100 µs and let others in between them (runtime.Gosched, or a channel operation that blocks).",
		"Or bound how many such goroutines run at once, below GOMAXPROCS, so that a P stays free for short work; or move the heavy part into another process.",
		"If the long runs are not stopped after some 20 ms, look for loops that the runtime cannot preempt, and for a machine that lacks CPUs.",
	}
	if n.together > 0 {
		are, in := "are in ", n.in
		if n.in != x.Actors[len(x.Actors)-1].Short() {
			are = "come from "
		}
		if n.inBy != "" {
			in += " (called by " + n.inBy + ")"
		}
		x.Evidence = append(x.Evidence, findings.Evidence{What: "goroutines that were in " + n.in + " at once, or had just been", Value: quantity.Count(n.together + 1), Limit: quantity.Count(crowd(f) + 1)})
		x.Advice = append([]string{"See whether the up to " + quantity.Count(n.together+1) + " goroutines that " + are + in + " at once do the same, as when a cache has expired: then let one do it, and the others wait for it (golang.org/x/sync/singleflight) or go on with what was there before. If not, let only a few in at a time."}, x.Advice...)
	}
	for _, c := range n.cells[1:min(maxVictims, len(n.cells))] {
		x.Evidence = append(x.Evidence, findings.Evidence{What: "of the cost, to " + f.Name(c.victim), Value: quantity.Duration(c.victims.Ns), Ns: c.victims.Ns})
	}
	if n.rare {
		x.Evidence = append(x.Evidence, findings.Evidence{What: "all runs of that class", Value: quantity.Count(n.class.Runs) + ", median " + quantity.Duration(n.class.Median())})
		x.Advice = append(x.Advice, "Runs this long are rare in this class: their threads may just have had no CPU for a while. CPU samples in the trace would tell.")
	}
}

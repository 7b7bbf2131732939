package stwstoplatency

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, n *evidence) {
	top, worst := &n.cells[0], n.worst
	name := f.Name(top.class)
	x.Headline = fmt.Sprintf("The world is slow to stop, for up to %s, because of %s", quantity.Duration(worst.worst), findings.Short(name))
	x.Title = fmt.Sprintf("%s the world took over %s to stop, most by %s, which ran on; the longest %s",
		quantity.Plural(n.late, "time", "times"), quantity.Duration(w.t.LateNs), name, quantity.Duration(worst.worst))
	x.Evidence = []findings.Evidence{
		{What: "late stops", Value: quantity.Count(n.late) + " of " + quantity.Count(w.stops), Limit: quantity.Duration(w.t.LateNs) + " each"},
		{What: "the latest, from the request to the stop of the last P", Value: quantity.Duration(worst.worst), Limit: quantity.Duration(w.t.SevereNs), Ns: worst.worst},
		{What: "all late stops, summed", Value: quantity.Duration(n.lateNs), Ns: n.lateNs},
		{What: "times that " + name + " was asked to stop, and stopped late", Value: quantity.Count(top.requests) + ", " + quantity.Count(top.slow)},
		{What: "longest pause, stopping included", Value: quantity.Duration(w.longest), Ns: w.longest},
	}
	if top.itself > 0 {
		x.Evidence = append(x.Evidence, findings.Evidence{What: "late stops of it that came only when it blocked, yielded or ended", Value: quantity.Count(top.itself)})
	}
	if n.seen > 0 {
		x.Evidence = append(x.Evidence, findings.Evidence{What: "CPU samples of those who were late, taken meanwhile", Value: quantity.Count(n.seen)})
	}
	for _, l := range w.labels[:min(3, len(w.labels))] {
		if word := f.Word(l.label); word != "" {
			x.Evidence = append(x.Evidence, findings.Evidence{What: "late stops asked for: " + word, Value: quantity.Count(l.n)})
		}
	}
	x.Advice = []string{
		"Look in " + name + ", where it stopped or just before, for what cannot be interrupted: assembly over a large input, a large copy or clear, a tight loop of pointer assignments, code of the runtime; or, with GODEBUG=asyncpreemptoff=1, any loop without calls. Do it in pieces of some 100 µs.",
		"Stop the world less often: allocate less, or raise GOGC or GOMEMLIMIT; call runtime.GC, runtime.ReadMemStats, runtime.GOMAXPROCS and the goroutine profile rarely (runtime/metrics needs no stop).",
	}
	if n.seldom {
		x.Advice = append(x.Advice, "Most of the time "+name+" stopped when asked: its thread may have had no CPU the other times. CPU samples in the trace would tell.")
	}
}

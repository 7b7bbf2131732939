package preemptionthrash

import (
	"fmt"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice; waiting is the preempted goroutines for
// each P, on average.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, waiting float64) {
	total, procs := w.victims.Total, w.view.Procs()
	top := x.Actors[slices.IndexFunc(x.Actors, func(a findings.Actor) bool { return a.Role == findings.Cause })]
	name := top.Work()
	if top.Brief() == findings.Short(top.Class) {
		name = top.Class
	}
	x.Headline = fmt.Sprintf("Too much computing at once in %s: up to %s goroutines take turns on %s",
		top.Brief(), quantity.Count(w.gs), quantity.Plural(procs, "P", "Ps"))
	x.Title = fmt.Sprintf("CPU-bound goroutines, most of %s, were preempted %s to let others of their kind run: up to %s of them took turns on %s",
		name, quantity.Plural(total.N, "time", "times"), quantity.Count(w.gs), quantity.Plural(procs, "P", "Ps"))
	x.Evidence = []findings.Evidence{
		{What: "preemptions after which the goroutine had to wait", Value: quantity.Count(total.N), Limit: quantity.Duration(w.t.WaitNs) + " each"},
		{What: "goroutines that took turns so, within " + quantity.Duration(w.t.BucketNs), Value: quantity.Count(w.gs), Limit: "more than " + quantity.Plural(procs, "P", "Ps")},
		{What: "for each P and second, at most", Value: quantity.Number(w.rate(w.best.n, w.best.to-w.best.from)), Limit: quantity.Number(w.t.Rate)},
		{What: "time for which it was above that", Value: quantity.Duration(w.sustained), Limit: quantity.Duration(w.t.SustainedNs), Ns: w.sustained},
		{What: "preempted goroutines waiting meanwhile, for each P", Value: quantity.Number(waiting), Limit: quantity.Number(w.t.Waiting)},
		{What: "mean run before such a preemption", Value: quantity.Duration(w.runs / total.N), Ns: w.runs / total.N},
		{What: "mean wait after it", Value: quantity.Duration(total.Ns / total.N), Ns: total.Ns / total.N},
		{What: "all preemptions at the end of a slice", Value: quantity.Count(w.all)},
		{What: "preemptions for the runtime: stopped world, garbage collector, tracer", Value: quantity.Count(w.others)},
	}
	x.Advice = []string{
		fmt.Sprintf("Let no more goroutines of %s work at once than GOMAXPROCS (%d): a fixed number of workers, or a semaphore around the computation. Together they take as long as now, but most of them are done much earlier, and whoever else wants a P gets one.", name, procs),
		"If short requests share the process, keep a P or two free of such work, or move it into another process.",
	}
}

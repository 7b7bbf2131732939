package preemptionthrash

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

// phrase writes title, evidence and advice; waiting is the preempted goroutines for
// each P, on average.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, waiting float64) {
	total, procs := w.victims.Total, w.world.Procs()
	name := f.Name(w.victims.Top(1)[0].Class)
	x.Title = fmt.Sprintf("CPU-bound goroutines, most of %s, were preempted %s to let others of their kind run: up to %s of them took turns on %s",
		name, findings.Plural(total.N, "time", "times"), findings.Count(w.gs), findings.Plural(procs, "P", "Ps"))
	x.Evidence = []findings.Evidence{
		{What: "preemptions after which the goroutine had to wait", Value: findings.Count(total.N), Limit: findings.Dur(w.t.WaitNs) + " each"},
		{What: "goroutines that took turns so, within " + findings.Dur(w.t.BucketNs), Value: findings.Count(w.gs), Limit: "more than " + findings.Plural(procs, "P", "Ps")},
		{What: "for each P and second, at most", Value: findings.Number(w.rate(w.best.n, w.best.to-w.best.from)), Limit: findings.Number(w.t.Rate)},
		{What: "time for which it was above that", Value: findings.Dur(w.sustained), Limit: findings.Dur(w.t.SustainedNs), Ns: w.sustained},
		{What: "preempted goroutines waiting meanwhile, for each P", Value: findings.Number(waiting), Limit: findings.Number(w.t.Waiting)},
		{What: "mean run before such a preemption", Value: findings.Dur(w.runs / total.N), Ns: w.runs / total.N},
		{What: "mean wait after it", Value: findings.Dur(total.Ns / total.N), Ns: total.Ns / total.N},
		{What: "all preemptions at the end of a slice", Value: findings.Count(w.all)},
		{What: "preemptions for the runtime: stopped world, garbage collector, tracer", Value: findings.Count(w.others)},
	}
	x.Advice = []string{
		fmt.Sprintf("Let no more goroutines of %s work at once than GOMAXPROCS (%d): a fixed number of workers, or a semaphore around the computation. The total takes as long, and most of them are done much earlier.", name, procs),
		"If short requests share the process, keep a P or two free of such work, or move it into another process.",
	}
}

package lockedthreadpenalty

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding) {
	n := w.handovers()
	name := f.Name(w.causes.Top(1)[0].Class)
	rate := float64(n) * 1e9 / float64(max(1, f.RecordedNs()))
	x.Headline = fmt.Sprintf("%s is locked to a thread: a P changed threads for it %s", findings.Short(name), quantity.Plural(n, "time", "times"))
	x.Title = fmt.Sprintf("%s is wired to a thread: %s a P changed threads for that, with work waiting, %s each",
		name, quantity.Plural(n, "time", "times"), quantity.Duration(w.sum/n))
	x.Evidence = []findings.Evidence{
		{What: "hand-overs to and from wired threads, with work waiting", Value: quantity.Count(w.to) + " and " + quantity.Count(w.from), Limit: quantity.Count(w.t.MinCount)},
		{What: "a second", Value: quantity.Number(rate)},
		{What: "mean time without a goroutine on the P", Value: quantity.Duration(w.sum / n), Limit: quantity.Duration(w.t.MeanNs), Ns: w.sum / n},
		{What: "the longest", Value: quantity.Duration(w.longest), Ns: w.longest},
		{What: "Ps stood still for it, summed", Value: quantity.Duration(w.sum) + ", " + quantity.Percent(float64(w.sum)/float64(max(1, f.PT()))) + " of the P-time", Ns: w.sum},
		{What: "longer ones, left out", Value: quantity.Count(w.freaks), Limit: quantity.Duration(w.t.FreakNs)},
	}
	x.Advice = []string{
		"Keep " + name + " off paths that run often: hand it whole batches, and let it answer them at once, so that a thread switch serves many requests.",
		"Unlock (runtime.UnlockOSThread) wherever the thread's own state is not needed, or let the wired goroutine do the work around it itself, rather than wait for another goroutine at each step.",
	}
}

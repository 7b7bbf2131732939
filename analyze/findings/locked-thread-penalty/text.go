package lockedthreadpenalty

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding) {
	n := w.handovers()
	name := f.Name(w.causes.Top(1)[0].Class)
	rate := float64(n) * 1e9 / float64(max(1, f.RecordedNs()))
	x.Title = fmt.Sprintf("%s is wired to a thread: %s a P changed threads for that, with work waiting, %s each",
		name, findings.Plural(n, "time", "times"), findings.Dur(w.sum/n))
	x.Evidence = []findings.Evidence{
		{What: "hand-overs to and from wired threads, with work waiting", Value: findings.Count(w.to) + " and " + findings.Count(w.from), Limit: findings.Count(w.t.MinCount)},
		{What: "a second", Value: findings.Number(rate)},
		{What: "mean time without a goroutine on the P", Value: findings.Dur(w.sum / n), Limit: findings.Dur(w.t.MeanNs), Ns: w.sum / n},
		{What: "the longest", Value: findings.Dur(w.longest), Ns: w.longest},
		{What: "Ps stood still for it, summed", Value: findings.Dur(w.sum) + ", " + findings.Percent(float64(w.sum)/float64(max(1, f.PT()))) + " of the P-time", Ns: w.sum},
		{What: "longer ones, left out", Value: findings.Count(w.freaks), Limit: findings.Dur(w.t.FreakNs)},
	}
	x.Advice = []string{
		"Keep " + name + " off paths that run often: hand it whole batches, and let it answer them at once, so that a thread switch serves many requests.",
		"Unlock (runtime.UnlockOSThread) wherever the thread's own state is not needed, or let the wired goroutine do the work around it itself, rather than wait for another goroutine at each step.",
	}
}

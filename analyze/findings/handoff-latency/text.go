package handofflatency

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice; still is the share of the P-time that
// passed in hand-overs.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, still float64) {
	total := w.victims.Total
	longest := total.To - total.From
	name := f.Name(w.givers.Top(1)[0].Class)
	x.Headline = fmt.Sprintf("Ps handed off by %s wait for a thread: %s, over %s each",
		name, quantity.Plural(w.late, "time", "times"), quantity.Duration(w.t.LateNs))
	x.Title = fmt.Sprintf("%s, most from %s, a P with work at hand waited over %s for the thread it was handed to",
		quantity.Plural(w.late, "time", "times"), name, quantity.Duration(w.t.LateNs))
	x.Evidence = []findings.Evidence{
		{What: "late hand-overs", Value: quantity.Count(w.late) + " of " + quantity.Count(w.n), Limit: quantity.Duration(w.t.LateNs) + " each"},
		{What: "the costliest took", Value: quantity.Duration(longest), Limit: quantity.Duration(w.t.LateNs), Ns: longest},
		{What: "mean of all", Value: quantity.Duration(w.sum / w.n), Ns: w.sum / w.n},
		{What: "Ps stood still for it, summed", Value: quantity.Duration(w.sum) + ", " + quantity.Percent(still) + " of the P-time", Limit: quantity.Percent(w.t.Still), Ns: w.sum},
		{What: "under 20 µs, 100 µs, 1 ms, 10 ms, and above", Value: fmt.Sprint(w.bars[:])},
		{What: "of the late ones, to threads that the trace had not shown before", Value: quantity.Count(w.made)},
	}
	if 2*w.made >= w.late {
		x.Advice = append(x.Advice, "Most of these threads had to be made first. Threads end when a goroutine ends that is wired to one (call runtime.UnlockOSThread before), and more are needed the more goroutines block in system calls or cgo at once: bound these by a semaphore.")
	}
	x.Advice = append(x.Advice, "The P was taken from, or given up by, "+name+": make fewer system calls and cgo calls that block, or bound how many run at once by a few goroutines that make them.")
	x.Advice = append(x.Advice, "If threads start slowly whoever they are for, the machine has too few free CPUs, or a quota: compare with a lower GOMAXPROCS.")
}

package netpolldelay

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, n *evidence) {
	total := w.victims.Total
	x.Headline = fmt.Sprintf("No P has time to poll the network: %s late", quantity.Plural(w.late, "wake-up was", "wake-ups were"))
	x.Title = fmt.Sprintf("%s came late, from a thread without a P, because no P had time to poll; %s of them then waited, up to %s",
		quantity.Plural(w.late, "network wake-up", "network wake-ups"), quantity.Count(total.N), quantity.Duration(total.Worst))
	x.Evidence = []findings.Evidence{
		{What: "network wake-ups by threads without a P while all Ps were busy", Value: quantity.Count(w.late) + " of " + quantity.Count(n.wakes) + " (" + quantity.Percent(n.share) + ")", Limit: quantity.Percent(w.t.Share)},
		{What: "of them, that waited for a P afterwards", Value: quantity.Count(total.N), Limit: quantity.Count(w.t.MinCount) + " of " + quantity.Duration(w.t.WaitNs) + ", and " + quantity.Percent(w.t.TailShare)},
		{What: "their waits, summed", Value: quantity.Duration(total.Ns), Ns: total.Ns},
		{What: "the longest", Value: quantity.Duration(total.Worst), Limit: quantity.Duration(w.t.WaitNs), Ns: total.Worst},
		{What: "before each wake-up, not shown by the trace: the data lay in the kernel for up to", Value: quantity.Duration(w.t.PollNs) + " (sysmon polls when nobody has for so long)"},
	}
	if n.busy {
		name := f.Name(w.causes.Top(1)[0].Class)
		x.Evidence = append(x.Evidence, findings.Evidence{What: "run intervals of " + quantity.Duration(w.t.LongNs) + " and more while such goroutines waited", Value: quantity.Count(w.causes.Total.N) + ", most of " + name, Ns: w.causes.Total.Ns})
		x.Advice = append(x.Advice,
			"Split the long runs of "+name+", with runtime.Gosched or an operation that blocks after every 100 µs or so: a P polls the network when it finds nothing else to run.",
			"Bound how many of them run at once, below GOMAXPROCS, so that a P stays free for those who serve the network; or move the computing into another process.")
	} else {
		x.Advice = append(x.Advice,
			"No goroutine ran for long: the Ps did not poll because their queues never ran empty. Admit less work at once, so that the queues stay short, or add CPUs.")
	}
	x.Advice = append(x.Advice, "Latency that clients see beyond the waits in this report may be this: compare it with theirs.")
}

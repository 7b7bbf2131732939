package workconservation

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, n *evidence) {
	total := w.victims.Total
	x.Headline = fmt.Sprintf("Ps stood idle beside work for %s of the P-time", quantity.Percent(n.share))
	x.Title = fmt.Sprintf("%s a P stood idle for %s or more beside a goroutine that it could have run: %s of the P-time went unused",
		quantity.Plural(total.N, "time", "times"), quantity.Duration(w.t.IntervalNs), quantity.Percent(n.share))
	x.Evidence = []findings.Evidence{
		{What: "P-time that was idle beside work", Value: quantity.Percent(n.share), Limit: quantity.Percent(n.limit), Ns: total.Ns},
		{What: "intervals", Value: quantity.Count(total.N), Limit: quantity.Duration(w.t.IntervalNs) + " each"},
		{What: "the longest", Value: quantity.Duration(w.longest), Ns: w.longest},
		{What: "their mean", Value: quantity.Duration(n.meanNs), Limit: quantity.Duration(w.t.LateNs) + ", or " + quantity.Percent(w.t.ManyShare) + " of the P-time, if more than a note", Ns: n.meanNs},
		{What: "their length, summed", Value: quantity.Duration(w.length), Ns: w.length},
	}
	switch m := f.Records(); {
	case m != nil && 2*m.Wakeups.LateNs >= w.length:
		x.Title += ", since the kernel ran woken threads late, up to " + quantity.Duration(m.Wakeups.LongestNs) + " after it woke them"
	case m != nil:
		x.Title += ", though the kernel ran most woken threads at once: the runtime woke them late, or none"
	case n.late:
		x.Title += ", since the machine seems to have woken threads late"
		x.Headline = fmt.Sprintf("The machine seems to wake threads late: %s of the P-time was idle beside work", quantity.Percent(n.share))
		x.Kind = findings.KindMachine
		if f.StoodStill() {
			x.Title += "; threads with a P stood still " + quantity.Plural(f.Stalls.N, "time", "times")
		}
	}
	if m := f.Records(); m != nil {
		x.Evidence = append(x.Evidence, findings.Evidence{What: "wake-ups of threads that took 100 µs or more, by the kernel's records", Value: quantity.Count(m.Wakeups.Late) + " of " + quantity.Count(m.Wakeups.Count) + ", " + quantity.Duration(m.Wakeups.LateNs), Ns: m.Wakeups.LateNs})
	}
	if w.worstP >= 0 {
		x.Evidence = append(x.Evidence, findings.Evidence{What: fmt.Sprintf("in the worst, P%d was idle for", w.worstP), Value: quantity.Duration(w.worstFor), Ns: w.worstFor})
	}
	if w.restarts > 0 {
		x.Evidence = append(x.Evidence, findings.Evidence{What: "of them right after a stop-the-world", Value: quantity.Count(w.restarts)})
		if 2*w.restarts > total.N {
			x.Advice = append(x.Advice, "Most of it follows a stop-the-world: the Ps come back slowly. Fewer GC cycles (GOGC, GOMEMLIMIT) and fewer calls that stop the world help; newer Go versions restart faster.")
		}
	}
	x.Advice = append(x.Advice,
		"Check what keeps this machine from waking threads in time: "+f.TakesCPUs()+", power saving. The runtime asks for a thread as soon as there is work for an idle P, and threads wake up within some 100 µs.",
		"Try the newest Go version: waking Ps has changed often.",
		"If the work comes one small piece at a time, hand out larger ones: a wake-up then pays.")
}

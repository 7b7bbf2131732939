package slowrestart

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// quick is why the machine may have done it, as prompt is.
const quick = "Most restarts were quick: in the slow ones threads may just have had no CPU."

func prompt(f *findings.Facts) string {
	const same = "The first P was back in time, and others were not: it looks the same if "
	if f.EnoughCPUs() {
		return same + "other programs use the CPUs. Repeat the recording on a quiet machine."
	}
	return same + "the machine has fewer CPUs than Ps, or other programs use them. Repeat the recording with no more Ps than CPUs."
}

// phrase writes title, evidence and advice, of which doubt is one.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, doubt string) {
	total := w.slow.Total
	longest := quantity.Duration(w.worst.ns)
	if w.worst.ns >= w.t.MaxNs {
		longest += " or more"
	}
	x.Headline = fmt.Sprintf("Ps are slow to work again after the world was stopped: up to %s", longest)
	x.Title = fmt.Sprintf("After %s of the world it took over %s until the Ps had taken up the work that waited; the longest %s",
		quantity.Plural(total.N, "stop", "stops"), quantity.Duration(w.t.SlowNs), longest)
	x.Evidence = []findings.Evidence{
		{What: "slow restarts", Value: quantity.Count(total.N) + " of " + quantity.Count(w.restarts) + " with work for Ps that were away", Limit: quantity.Duration(w.t.SlowNs) + " each"},
		{What: "the longest", Value: longest, Limit: quantity.Duration(w.t.SlowNs), Ns: w.worst.ns},
		{What: "their mean", Value: quantity.Duration(w.slowNs / total.N), Ns: w.slowNs / total.N},
		{What: "of them, those in which the first P was back in time", Value: quantity.Count(w.prompt), Limit: quantity.Duration(w.t.SlowNs)},
		{What: "in the longest, Ps that ran nothing at first", Value: quantity.Count(w.worst.away)},
		{What: "in the longest, goroutines that they could have run", Value: quantity.Count(w.worst.wanting) + ", " + quantity.Count(w.worst.global) + " in the global queue"},
	}
	for _, l := range w.labels[:min(3, len(w.labels))] {
		if word := f.Word(l.label); word != "" {
			x.Evidence = append(x.Evidence, findings.Evidence{What: "slow restarts after: " + word, Value: quantity.Count(l.n)})
		}
	}
	x.Advice = []string{
		"Stop the world less often: allocate less, or raise GOGC or GOMEMLIMIT; call runtime.ReadMemStats, runtime.GC and the goroutine profile rarely.",
		"Only Ps with work in their own queues are started at once, the others one by one, each by the one before: many goroutines in one queue, or in the global one, as after a cycle that made many wait for assists (see gc-assist-wait), make that chain long.",
		"Check whether the machine wakes threads late (" + f.TakesCPUs() + "), and try the newest Go version: it gives Ps their old threads back after a stop (Go 1.26).",
	}
	if doubt != "" {
		x.Advice = append(x.Advice, doubt)
	}
}

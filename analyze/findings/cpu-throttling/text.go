package cputhrottling

import (
	"fmt"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, n *evidence) {
	b, silences := &n.beat, int64(len(n.beat.Silences))
	x.Headline = fmt.Sprintf("A CPU quota seems to stop the process: %s, in periods of %s",
		quantity.Plural(silences, "time", "times"), quantity.Duration(b.PeriodNs))
	x.Title = fmt.Sprintf("%s the whole process stood still, for some %s, and each time went on a multiple of %s after the last: so does a CPU quota",
		quantity.Plural(silences, "time", "times"), quantity.Duration(middle(n.lengths)), quantity.Duration(b.PeriodNs))
	x.Evidence = []findings.Evidence{
		{What: "silences while goroutines ran", Value: quantity.Count(silences), Limit: quantity.Count(int64(w.t.MinCount)) + " of 5 ms or more"},
		{What: "their sum, without a time slice where goroutines may have run for one", Value: quantity.Duration(n.stoppedNs) + " (" + quantity.Percent(f.Share(n.stoppedNs)) + " of the recording)", Ns: n.stoppedNs},
		{What: "the longest of them", Value: quantity.Duration(slices.Max(n.lengths)), Ns: slices.Max(n.lengths)},
		{What: "period of their ends", Value: quantity.Duration(b.PeriodNs), Limit: quantity.Duration(w.t.PeriodNs) + " within " + quantity.Percent(w.t.Within), Ns: b.PeriodNs},
		{What: "regularity of that period, 1 being exact", Value: quantity.Number(b.R)},
		{What: "probability of such regularity by chance", Value: quantity.Percent(b.Chance), Limit: quantity.Percent(w.t.Chance)},
		{What: "of them, those that no program makes by itself", Value: quantity.Count(int64(n.sure)), Limit: "half"},
		{What: "goroutines that had a P meanwhile, at most", Value: quantity.Count(int64(n.most))},
	}
	x.Advice = []string{
		advice(f),
		"See nr_throttled and throttled_usec in the cpu.stat file of the control group: they prove it, or refute it.",
		raise,
		bursts,
	}
	if n.usedNs > 0 && f.RecordedNs() > 0 {
		x.Evidence = append(x.Evidence, findings.Evidence{What: "CPUs used on average, at most: the Ps' running time without the silences", Value: quantity.Number(float64(n.usedNs) / float64(f.RecordedNs())), Ns: n.usedNs})
	}
	x.Evidence = append(x.Evidence, f.EvidenceOfCPUs()...)
	if lost := f.WithoutCPUNs(); lost > 0 {
		x.Evidence = append(x.Evidence, findings.Evidence{What: "goroutines ran without a CPU, at least: beyond what these can give", Value: quantity.Duration(lost), Ns: lost})
	}
}

const (
	raise  = "Raise the limit, or do away with it in favour of CPU weights (requests), if the latency matters more than the bill."
	bursts = "If the limit fits the mean load, look for what uses it up in bursts: the mark workers of the garbage collector take a quarter of the Ps and more."
)

// advice reports what to do with GOMAXPROCS, by what is known of the CPUs.
func advice(f *findings.Facts) string {
	const early = "more Ps than the limit use it up early in each period, and then stand still together."
	const since = " From Go 1.25 on the runtime sets GOMAXPROCS by the limit, unless the variable is set; with older versions set it, or use go.uber.org/automaxprocs."
	switch {
	case f.EnoughCPUs():
		return "More Ps than CPUs is ruled out, if the process had as many as was told: only threads in system calls and of C libraries can use a quota up beside the Ps. Look for what else stops the process: a debugger, a checkpoint, the host of a virtual machine."
	case f.MorePs():
		return "Set GOMAXPROCS to " + quantity.Count(int64(f.PsFor())) + ": " + early + since
	}
	return "Compare GOMAXPROCS, " + quantity.Count(int64(max(1, f.GOMAXPROCS))) + " here, with the CPU limit of the container or service: " + early + since
}

package ospreemption

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice; found is not empty, and the first is what
// the finding is about.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, found []proof) {
	x.Headline = findings.Say("%s", found[0].headline(f))
	x.Title = findings.Say("%s", found[0].title(f))
	for i := range found {
		w.measure(f, x, &found[i])
	}
	x.Evidence = append(x.Evidence, f.EvidenceOfCPUs()...)
	advise(x, f, found[0].way)
	x.Advise("The kernel knows: compare run and wait times in /proc/PID/task/*/schedstat, or perf sched timehist, over a recording.")
	x.Advise("Read run intervals, slices and waits of this trace with care: they contain time in which nothing ran.")
}

// advise adds what to do about too few CPUs, by what is known of their number.
func advise(x *findings.Finding, f *findings.Facts, shown way) {
	const who = "look for who takes them: other processes, threads of C libraries, neighbours of a virtual machine (steal time)."
	switch {
	case f.EnoughCPUs():
		x.Advise("More Ps than CPUs is ruled out, if the process had as many as was told: " + who)
	case f.MorePs():
		x.Advise("Set GOMAXPROCS to %s: with more Ps than CPUs, threads take turns on the CPUs, and the runtime can neither see nor order that. Or give the process more CPUs.", quantity.Count(int64(f.PsFor())))
		if shown != byCPUs {
			x.Advise("The Ps ran no longer than the CPUs that were told allow: " + who)
		}
	default:
		x.Advise("Compare GOMAXPROCS, %s here, with the CPUs that the process may use: the cores of the machine, its affinity mask, its container's limit. With more Ps than these, threads take turns on the CPUs, and the runtime can neither see nor order that.", quantity.Count(int64(max(1, f.GOMAXPROCS))))
		x.Advise("If it has CPUs enough, " + who)
	}
}

// headline is the short title.
func (p *proof) headline(f *findings.Facts) string {
	switch {
	case p.way == byCPUs && p.basis == findings.Certain:
		return fmt.Sprintf("More Ps than CPUs: goroutines had no CPU for %s of their running time", quantity.Percent(p.share))
	case p.way == byTurns:
		return fmt.Sprintf("Threads seem to have lacked a CPU: of %s busy Ps %s made progress", quantity.Number(p.mean), quantity.Number(p.mean-p.together))
	case p.way == byStalls:
		return fmt.Sprintf("Other processes seem to take CPUs: threads with a P stood still %s, up to %s", quantity.Plural(p.stalls.N, "time", "times"), quantity.Duration(p.stalls.Longest))
	case p.way == bySamples:
		return "Goroutines that ran had a CPU for " + quantity.Percent(p.ratio) + " of that time only"
	}
	return "Threads seem to have lacked a CPU"
}

func (p *proof) title(f *findings.Facts) string {
	switch p.way {
	case byCPUs:
		if p.basis != findings.Certain {
			return fmt.Sprintf("If the process had %s, goroutines ran without a CPU for %s (%s); but the CPU profiler counts more CPU time than that",
				quantity.Amount(f.CPUs, "CPU", "CPUs"), quantity.Duration(p.cost), quantity.Percent(p.share))
		}
		return fmt.Sprintf("There were more Ps than CPUs: goroutines ran for %s, of which %s (%s) had no CPU",
			quantity.Duration(f.RanNs()), quantity.Duration(p.cost), quantity.Percent(p.share))
	case bySamples:
		return "Goroutines that ran had a CPU for " + quantity.Percent(p.ratio) + " of that time only, by the CPU profiler's clock"
	case byTurns:
		return fmt.Sprintf("Of %s Ps that ran a goroutine, on average, only %s made progress: threads seem to have lacked a CPU for %s of the running time",
			quantity.Number(p.mean), quantity.Number(p.mean-p.together), quantity.Percent(p.share))
	case byStalls:
		return fmt.Sprintf("%s the thread of a P that ran no goroutine did nothing for over 1 ms, %s in all, where the scheduler needs microseconds: it had no CPU, and other processes, or more Ps than CPUs, are to blame, not the program",
			quantity.Plural(p.stalls.N, "time", "times"), quantity.Duration(p.stalls.Ns))
	}
	return fmt.Sprintf("%s ended late, up to %s after they began, though signals could interrupt the code: its threads, or the runtime's watcher, seem to have lacked a CPU",
		quantity.Plural(p.n, "time slice", "time slices"), quantity.Duration(p.worst))
}

// measure writes the evidence of one proof.
func (w *watcher) measure(f *findings.Facts, x *findings.Finding, p *proof) {
	switch p.way {
	case byCPUs:
		x.Measured("goroutines ran, summed over all Ps", findings.Time(f.RanNs()), findings.Time(f.CPUTimeNs()).With(" of CPU time"))
		x.Measured("without a CPU, at least", findings.Time(p.cost).With(" (%s of it)", quantity.Percent(p.share)), findings.Share(w.t.NoteShare))
		if p.basis != findings.Certain {
			x.Measured("CPU profiler time, which exceeds that of the stated CPUs", findings.Time(w.samples*w.t.SampleNs), findings.Time(f.CPUTimeNs()))
		}
	case bySamples:
		x.Measured("CPU samples in goroutines of the program", findings.Count(w.samples))
		x.Measured("expected for their running time, one in "+quantity.Duration(w.t.SampleNs), findings.Number(p.expected), findings.Number(w.t.MinSamples))
		x.Measured("share of the running time without a CPU", findings.Share(p.share).Of(p.cost), findings.Share(w.t.NoteShare))
	case byTurns:
		w.measureTurns(x, p)
	case byStalls:
		s := p.stalls
		x.Measured("times that a P's thread stood still in the scheduler", findings.Count(s.N), findings.Count(w.t.MinStalls).With(" of 1 ms"))
		x.Measured("their sum, against the program's running", findings.Time(s.Ns).With(" (%s)", quantity.Percent(p.share)), findings.Share(w.t.StallShare))
		x.Measured("the longest", findings.Time(s.Longest))
		x.Measured("goroutines waited meanwhile, summed", findings.Time(s.WaitedNs).With(" (%s of all waiting)", quantity.Part(min(s.WaitedNs, f.Waits.User.TotalNs), f.Waits.User.TotalNs)))
	default:
		x.Measured("late slices that a signal ended", findings.Count(p.n).With(" of %s that a preemption ended", quantity.Count(p.slices)), findings.Count(w.t.MinLate).With(" of %s, and %s", quantity.Duration(w.t.LateNs), quantity.Percent(w.t.LateShare)))
		x.Measured("their time beyond "+quantity.Duration(w.t.SliceNs), findings.Time(p.ns).With(" (%s of such slices)", quantity.Percent(p.share)), findings.Share(w.t.NoteShare))
		x.Measured("the longest", findings.Time(p.worst), findings.Time(w.t.LateNs))
	}
}

func (w *watcher) measureTurns(x *findings.Finding, p *proof) {
	total := p.account.lost.Total
	x.Measured("share of the running time without a CPU", findings.Share(p.share).Of(total.Ns), findings.Share(w.t.NoteShare))
	x.Measured("run intervals far longer than is usual for their class", findings.Count(p.account.n), findings.Count(w.t.MinCount).With(" of %s and %s medians", quantity.Duration(w.t.LongNs), quantity.Count(w.t.Ratio)))
	x.Measured("the longest, beyond the median", findings.Time(total.Worst))
	x.Measured("Ps that ran a goroutine of the program, on average while there was one", findings.Number(p.mean))
	x.Measured("of them, not in such an interval", findings.Number(p.mean-p.together))
	if p.turns {
		x.Measured("how much that number varies, as a share of what chance would give: they take turns", findings.Share(max(0, p.spread)), findings.Share(w.t.Turns))
	}
	if p.atTicks {
		x.Measured("how nearly they end at the same phase of a clock of "+quantity.Duration(p.tick)+", as the kernel's tick, 1 being exactly", findings.Number(p.r), findings.Number(w.t.TickR))
	}
}

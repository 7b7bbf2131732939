package ospreemption

import (
	"cmp"
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	cputhrottling "github.com/gmpscope/gmpscope/analyze/findings/cpu-throttling"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// proof is one way in which it shows, with what it would say in a finding.
type proof struct {
	findings.Finding
	share   float64 // of the running time
	warning float64 // from which share on it is a warning
	sure    bool    // by two ways, or by the profiler: it may be critical
	late    bool    // time slices ended late
	byCPUs  bool    // by the number of CPUs that the process is said to have had
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	if m := f.Records(); m != nil {
		return w.byKernel(f, m)
	}
	if q := f.Quota; q != nil && q.Counted().Throttled > 0 && cputhrottling.Counts(f, q) {
		return nil // cpu-throttling reports it, and is certain
	}
	w.ran = *w.view.RunIntegral()
	a := &w.all
	if b := w.silences.Beat(w.quota.PeriodNs); b.IsPeriodic(w.quota.PeriodNs, w.quota.MinCount, w.quota.Chance, w.quota.Within) {
		a = &w.apart // the rest is told there
	}
	found := w.proofs(f, a)
	if len(found) == 0 {
		return nil
	}
	x, worst := found[0].Finding, findings.Severity("")
	for i := range found {
		if s, ok := w.severity(f, &found[i]); ok && s.AtLeast(worst) {
			worst = s
		}
		if i > 0 {
			x.Evidence = append(x.Evidence, found[i].Evidence...)
		}
	}
	if worst == "" {
		return nil
	}
	x.Severity = worst
	late := func(p proof) bool { return p.sure || p.late } // signals were late, or two ways agree
	x.Guessed = x.Basis == findings.Suspected && !f.StoodStill() && !slices.ContainsFunc(found, late)
	x.Evidence = append(x.Evidence, f.EvidenceOfCPUs()...)
	advise(&x, f, found[0].byCPUs)
	return []findings.Finding{x}
}

// proofs returns what shows a lack of CPUs, the largest cost first; but what is
// certain comes before what is suspected.
func (w *watcher) proofs(f *findings.Facts, a *account) []proof {
	expected := float64(w.sumLast-w.sumFirst) / float64(w.t.SampleNs)
	var found []proof
	if expected >= w.t.MinSamples {
		found = append(found, w.bySamples(f, a, expected))
	} else {
		found = append(found, w.byTurns(f, a), w.bySlices(f, a))
	}
	little := func(p proof) bool { return p.share < w.t.NoteShare }
	found = slices.DeleteFunc(found, little)
	slices.SortStableFunc(found, func(x, y proof) int { return cmp.Compare(y.CostNs, x.CostNs) })
	if p := w.byStalls(f); p.CostNs > 0 {
		found = append(found, p)
	}
	p := w.byCPUs(f, a)
	if little(p) {
		return found
	}
	if len(found) > 0 {
		p.Actors, p.FromNs, p.ToNs = found[0].Actors, found[0].FromNs, found[0].ToNs
	}
	return append([]proof{p}, found...)
}

// severity grades a proof; not ok means not worth a word.
func (w *watcher) severity(f *findings.Facts, p *proof) (s findings.Severity, ok bool) {
	s, ok = w.t.Grade.Severity(p.CostNs, f.RecordedNs())
	switch {
	case ok && p.share < p.warning:
		s = findings.Note
	case s == findings.Critical && (p.share < w.t.CriticalShare || !p.sure):
		s = findings.Warning
	}
	return s, ok
}

// headline is that of a proof without another.
func headline() findings.Text { return findings.Say("Threads seem to have lacked a CPU") }

// byCPUs compares what the Ps ran with the CPUs that the process is said to have
// had. The CPU profiler's clock may say that it had more.
func (w *watcher) byCPUs(f *findings.Facts, a *account) proof {
	lost, ran := f.WithoutCPUNs(), f.RanNs()
	if lost == 0 {
		return proof{}
	}
	p := proof{byCPUs: true, share: float64(lost) / float64(ran), warning: w.t.WarningShare, sure: true}
	p.CostNs, p.ToNs, p.Basis, p.Actors = lost, f.EndNs, findings.Certain, a.lost.Actors(f, findings.Victim, 3)
	p.Headline = findings.Say("More Ps than CPUs: goroutines had no CPU for %s of their running time", quantity.Percent(p.share))
	p.Title = findings.Say("There were more Ps than CPUs: goroutines ran for %s, of which %s (%s) had no CPU",
		quantity.Duration(ran), quantity.Duration(lost), quantity.Percent(p.share))
	p.Measured("goroutines ran, summed over all Ps", findings.Time(ran), findings.Time(f.CPUTimeNs()).With(" of CPU time"))
	p.Measured("without a CPU, at least", findings.Time(lost).With(" (%s of it)", quantity.Percent(p.share)), findings.Share(w.t.NoteShare))
	if profiled := w.samples * w.t.SampleNs; float64(profiled) > (1+w.t.NoteShare)*float64(f.CPUTimeNs()) {
		p.sure, p.Basis, p.Headline = false, findings.Suspected, headline()
		p.Title = findings.Say("If the process had %s, goroutines ran without a CPU for %s (%s); but the CPU profiler counts more CPU time than that",
			quantity.Amount(f.CPUs, "CPU", "CPUs"), quantity.Duration(lost), quantity.Percent(p.share))
		p.Measured("CPU profiler time, which exceeds that of the stated CPUs", findings.Time(profiled), findings.Time(f.CPUTimeNs()))
	}
	return p
}

// bySamples compares the CPU profiler's clock, which runs on CPU time, with the
// running time that the trace shows.
func (w *watcher) bySamples(f *findings.Facts, a *account, expected float64) proof {
	ratio := float64(w.samples) / expected
	p := proof{share: max(0, 1-ratio), warning: w.t.WarningShare, sure: true}
	p.CostNs, p.FromNs, p.ToNs, p.Basis = int64(p.share*float64(w.ran.Ns)), w.firstSample, w.lastSample, findings.Inferred
	p.Actors = a.lost.Actors(f, findings.Victim, 3)
	p.Headline = findings.Say("Goroutines that ran had a CPU for %s of that time only", quantity.Percent(ratio))
	p.Title = findings.Say("%s, by the CPU profiler's clock", p.Headline)
	p.Measured("CPU samples in goroutines of the program", findings.Count(w.samples))
	p.Measured("expected for their running time, one in "+quantity.Duration(w.t.SampleNs), findings.Number(expected), findings.Number(w.t.MinSamples))
	p.Measured("share of the running time without a CPU", findings.Share(p.share).Of(p.CostNs), findings.Share(w.t.NoteShare))
	return p
}

// byTurns looks at run intervals far longer than their class's: whether the Ps
// that they leave are always about as many, and whether they end at ticks.
func (w *watcher) byTurns(f *findings.Facts, a *account) proof {
	if a.n < w.t.MinCount || a.ns >= w.ran.Ns {
		return proof{}
	}
	mean := float64(w.ran.Ns) / float64(w.ran.BusyNs) // Ps that ran a goroutine
	together := float64(a.ns) / float64(w.ran.BusyNs) // of them, interrupted
	held := float64(a.ns) / float64(w.ran.Ns)
	free := 1 - held
	// The integral of the square of how many run uninterrupted, and what it would be
	// if each were interrupted by itself: a binomial number of them at each instant.
	got := w.ran.Squares - 2*a.with + float64(a.ns) + 2*a.pairs
	spread := (got - free*free*w.ran.Squares) / (held * free * float64(w.ran.Ns))
	var tick int64
	near, chance := 0.0, 1.0 // how nearly they end at ticks of so many ns; 1: exactly
	for k, t := range ticks {
		x := math.Hypot(a.turn[k][0], a.turn[k][1]) / float64(max(1, a.self))
		if c := findings.RayleighChance(a.self, x); c < chance {
			tick, near, chance = t, x, c
		}
	}
	turns := spread < w.t.Turns
	atTicks := a.self >= w.t.MinCount && near >= w.t.TickR && chance < w.t.Chance
	if !atTicks && !(turns && together >= w.t.Together) {
		return proof{}
	}
	total := a.lost.Total
	p := proof{share: float64(total.Ns) / float64(w.ran.Ns), warning: w.t.WarningShare, sure: turns && atTicks}
	p.CostNs, p.FromNs, p.ToNs, p.Basis = total.Ns, total.From, total.To, findings.Suspected
	p.Actors = a.lost.Actors(f, findings.Victim, 3)
	p.Headline = findings.Say("Threads seem to have lacked a CPU: of %s busy Ps %s made progress", quantity.Number(mean), quantity.Number(mean-together))
	p.Title = findings.Say("Of %s Ps that ran a goroutine, on average, only %s made progress: threads seem to have lacked a CPU for %s of the running time",
		quantity.Number(mean), quantity.Number(mean-together), quantity.Percent(p.share))
	p.Measured("share of the running time without a CPU", findings.Share(p.share).Of(total.Ns), findings.Share(w.t.NoteShare))
	p.Measured("run intervals far longer than is usual for their class", findings.Count(a.n), findings.Count(w.t.MinCount).With(" of %s and %s medians", quantity.Duration(w.t.LongNs), quantity.Count(w.t.Ratio)))
	p.Measured("the longest, beyond the median", findings.Time(total.Worst))
	p.Measured("Ps that ran a goroutine of the program, on average while there was one", findings.Number(mean))
	p.Measured("of them, not in such an interval", findings.Number(mean-together))
	if turns {
		p.Measured("how much that number varies, as a share of what chance would give: they take turns", findings.Share(max(0, spread)), findings.Share(w.t.Turns))
	}
	if atTicks {
		p.Measured("how nearly they end at the same phase of a clock of "+quantity.Duration(tick)+", as the kernel's tick, 1 being exactly", findings.Number(near), findings.Number(w.t.TickR))
	}
	return p
}

// byStalls looks at Ps whose threads ran nothing and did nothing for far longer than the
// scheduler needs: that shows when, and not how much.
func (w *watcher) byStalls(f *findings.Facts) proof {
	s := w.view.Stalls()
	p := proof{share: float64(s.Ns) / float64(max(1, w.ran.Ns+s.Ns)), warning: math.Inf(1)}
	if s.N < w.t.MinStalls || s.N < w.t.IdleStalls && s.WaitedNs < w.t.Grade.NoteNs || p.share < w.t.StallShare {
		return proof{}
	}
	p.CostNs, p.FromNs, p.ToNs, p.Basis = s.Ns, s.From, s.From+s.Longest, findings.Inferred
	p.Actors = []findings.Actor{{Role: findings.Victim, P: findings.OnP(s.P)}}
	p.Headline = findings.Say("Other processes seem to take CPUs: threads with a P stood still %s, up to %s", quantity.Plural(s.N, "time", "times"), quantity.Duration(s.Longest))
	p.Title = findings.Say("%s the thread of a P that ran no goroutine did nothing for over 1 ms, %s in all, where the scheduler needs microseconds: it had no CPU, and other processes, or more Ps than CPUs, are to blame, not the program",
		quantity.Plural(s.N, "time", "times"), quantity.Duration(s.Ns))
	p.Measured("times that a P's thread stood still in the scheduler", findings.Count(s.N), findings.Count(w.t.MinStalls).With(" of 1 ms"))
	p.Measured("their sum, against the program's running", findings.Time(s.Ns).With(" (%s)", quantity.Percent(p.share)), findings.Share(w.t.StallShare))
	p.Measured("the longest", findings.Time(s.Longest))
	p.Measured("goroutines waited meanwhile, summed", findings.Time(s.WaitedNs).With(" (%s of all waiting)", quantity.Part(min(s.WaitedNs, f.Waits.User.TotalNs), f.Waits.User.TotalNs)))
	return p
}

// bySlices looks at time slices that ended later than sysmon's sleeps explain,
// though a signal could interrupt the code.
func (w *watcher) bySlices(f *findings.Facts, a *account) proof {
	var n, ns int64
	var worst findings.Cell
	var who findings.Tally
	slices.SortFunc(a.late.List, func(x, y *findings.Cell) int { return cmp.Compare(x.Stack, y.Stack) })
	for _, l := range a.late.List {
		if !findings.Signalled(f.Frames(l.Stack)) {
			continue
		}
		n += l.N
		ns += l.Ns
		if l.Worst > worst.Worst {
			worst = *l
		}
		who.Add(l)
	}
	if n < w.t.MinLate || float64(n) < w.t.LateShare*float64(a.slices) {
		return proof{}
	}
	p := proof{share: float64(ns) / float64(a.sliceNs), warning: w.t.LateWarning, late: true}
	p.CostNs, p.FromNs, p.ToNs, p.Basis = ns, worst.From, worst.To, findings.Suspected
	p.Actors = who.Actors(f, findings.Victim, 3)
	longest := w.t.SliceNs + worst.Worst
	p.Headline = headline()
	p.Title = findings.Say("%s ended late, up to %s after they began, though signals could interrupt the code: its threads, or the runtime's watcher, seem to have lacked a CPU",
		quantity.Plural(n, "time slice", "time slices"), quantity.Duration(longest))
	p.Measured("late slices that a signal ended", findings.Count(n).With(" of %s that a preemption ended", quantity.Count(a.slices)), findings.Count(w.t.MinLate).With(" of %s, and %s", quantity.Duration(w.t.LateNs), quantity.Percent(w.t.LateShare)))
	p.Measured("their time beyond "+quantity.Duration(w.t.SliceNs), findings.Time(ns).With(" (%s of such slices)", quantity.Percent(p.share)), findings.Share(w.t.NoteShare))
	p.Measured("the longest", findings.Time(longest), findings.Time(w.t.LateNs))
	return p
}

// advise adds what to do about too few CPUs, by what is known of their number.
func advise(x *findings.Finding, f *findings.Facts, byCPUs bool) {
	const who = "look for who takes them: other processes, threads of C libraries, neighbours of a virtual machine (steal time)."
	switch {
	case f.EnoughCPUs():
		x.Advise("More Ps than CPUs is ruled out, if the process had as many as was told: " + who)
	case f.MorePs():
		x.Advise("Set GOMAXPROCS to %s: with more Ps than CPUs, threads take turns on the CPUs, and the runtime can neither see nor order that. Or give the process more CPUs.", quantity.Count(int64(f.PsFor())))
		if !byCPUs {
			x.Advise("The Ps ran no longer than the CPUs that were told allow: " + who)
		}
	default:
		x.Advise("Compare GOMAXPROCS, %s here, with the CPUs that the process may use: the cores of the machine, its affinity mask, its container's limit. With more Ps than these, threads take turns on the CPUs, and the runtime can neither see nor order that.", quantity.Count(int64(max(1, f.GOMAXPROCS))))
		x.Advise("If it has CPUs enough, " + who)
	}
	x.Advise("The kernel knows: compare run and wait times in /proc/PID/task/*/schedstat, or perf sched timehist, over a recording.")
	x.Advise("Read run intervals, slices and waits of this trace with care: they contain time in which nothing ran.")
}

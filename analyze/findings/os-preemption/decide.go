package ospreemption

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	cputhrottling "github.com/gmpscope/gmpscope/analyze/findings/cpu-throttling"
)

// proof is one way by which it shows, and its numbers.
type proof struct {
	way      way
	share    float64 // of the running time
	warning  float64 // from which share on it is a warning
	sure     bool    // by two ways, or by the profiler: it may be critical
	cost     int64
	basis    string
	actors   []findings.Actor
	from, to int64

	expected, ratio float64 // bySamples: samples, and the share of them that there are

	account  *account // byTurns: of what it looked at
	mean     float64  // Ps that ran a goroutine
	together float64  // of them, interrupted
	spread   float64  // of how many are not, as a share of what chance would give
	turns    bool     // they take turns
	atTicks  bool     // they end at ticks
	tick     int64    // of so many ns
	r        float64  // how nearly; 1: exactly

	n, ns, slices, worst int64 // bySlices: late ones, ns beyond SliceNs, all, ns of the longest

	stalls *findings.Stalls // byStalls
}

// way is how a lack of CPUs shows.
type way uint8

const (
	byCPUs way = iota
	bySamples
	byTurns
	bySlices
	byStalls
)

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
	best, worst := &found[0], findings.Severity("")
	for i := range found {
		if s, ok := w.severity(f, &found[i]); ok && s.AtLeast(worst) {
			worst = s
		}
	}
	if worst == "" {
		return nil
	}
	x := findings.Finding{
		Severity: worst, CostNs: best.cost, FromNs: best.from, ToNs: best.to, Basis: best.basis, Actors: best.actors,
	}
	late := func(p proof) bool { return p.sure || p.way == bySlices } // signals were late, or two ways agree
	x.Guessed = x.Basis == findings.Suspected && !f.StoodStill() && !slices.ContainsFunc(found, late)
	w.phrase(f, &x, found)
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
	enough := func(p proof) bool { return p.share < w.t.NoteShare }
	found = slices.DeleteFunc(found, enough)
	slices.SortStableFunc(found, func(x, y proof) int { return cmp.Compare(y.cost, x.cost) })
	if p := w.byStalls(f); p.stalls != nil {
		found = append(found, p)
	}
	p := w.byCPUs(f, a)
	if enough(p) {
		return found
	}
	if len(found) > 0 {
		p.actors, p.from, p.to = found[0].actors, found[0].from, found[0].to
	}
	return append([]proof{p}, found...)
}

// severity grades a proof; not ok means not worth a word.
func (w *watcher) severity(f *findings.Facts, p *proof) (s findings.Severity, ok bool) {
	s, ok = w.t.Grade.Severity(p.cost, f.RecordedNs())
	switch {
	case ok && (p.share < p.warning || p.way == byStalls): // which shows when, not how much
		s = findings.Note
	case s == findings.Critical && (p.share < w.t.CriticalShare || !p.sure):
		s = findings.Warning
	}
	return s, ok
}

// byCPUs compares what the Ps ran with the CPUs that the process is said to have
// had. The CPU profiler's clock may say that it had more.
func (w *watcher) byCPUs(f *findings.Facts, a *account) proof {
	lost, ran := f.WithoutCPUNs(), f.RanNs()
	if lost == 0 {
		return proof{}
	}
	p := proof{
		way: byCPUs, share: float64(lost) / float64(ran), warning: w.t.WarningShare, sure: true, cost: lost, basis: findings.Certain,
		actors: a.lost.Actors(f, findings.Victim, 3), to: f.EndNs,
	}
	if float64(w.samples*w.t.SampleNs) > (1+w.t.NoteShare)*float64(f.CPUTimeNs()) {
		p.sure, p.basis = false, findings.Suspected
	}
	return p
}

// bySamples compares the CPU profiler's clock, which runs on CPU time, with the
// running time that the trace shows.
func (w *watcher) bySamples(f *findings.Facts, a *account, expected float64) proof {
	ratio := float64(w.samples) / expected
	lost := max(0, 1-ratio)
	return proof{
		way: bySamples, share: lost, warning: w.t.WarningShare, sure: true, cost: int64(lost * float64(w.ran.Ns)), basis: findings.Inferred,
		expected: expected, ratio: ratio,
		actors: a.lost.Actors(f, findings.Victim, 3), from: w.firstSample, to: w.lastSample,
	}
}

// byTurns looks at run intervals far longer than their class's: whether the Ps
// that they leave are always about as many, and whether they end at ticks.
func (w *watcher) byTurns(f *findings.Facts, a *account) proof {
	if a.n < w.t.MinCount || a.ns >= w.ran.Ns {
		return proof{}
	}
	p := proof{
		way: byTurns, warning: w.t.WarningShare, basis: findings.Suspected, account: a,
		mean:     float64(w.ran.Ns) / float64(w.ran.BusyNs),
		together: float64(a.ns) / float64(w.ran.BusyNs),
	}
	held := float64(a.ns) / float64(w.ran.Ns)
	free := 1 - held
	// The integral of the square of how many run uninterrupted, and what it would be
	// if each were interrupted by itself: a binomial number of them at each instant.
	got := w.ran.Squares - 2*a.with + float64(a.ns) + 2*a.pairs
	p.spread = (got - free*free*w.ran.Squares) / (held * free * float64(w.ran.Ns))
	chance := 1.0
	for k, t := range ticks {
		x := math.Hypot(a.turn[k][0], a.turn[k][1]) / float64(max(1, a.self))
		if c := findings.RayleighChance(a.self, x); c < chance {
			p.tick, p.r, chance = t, x, c
		}
	}
	p.turns = p.spread < w.t.Turns
	p.atTicks = a.self >= w.t.MinCount && p.r >= w.t.TickR && chance < w.t.Chance
	if !p.atTicks && !(p.turns && p.together >= w.t.Together) {
		return proof{}
	}
	total := a.lost.Total
	p.share, p.sure, p.cost = float64(total.Ns)/float64(w.ran.Ns), p.turns && p.atTicks, total.Ns
	p.actors, p.from, p.to = a.lost.Actors(f, findings.Victim, 3), total.From, total.To
	return p
}

// byStalls looks at Ps whose threads ran nothing and did nothing for far longer than the
// scheduler needs.
func (w *watcher) byStalls(f *findings.Facts) proof {
	s := w.view.Stalls()
	p := proof{way: byStalls, share: float64(s.Ns) / float64(max(1, w.ran.Ns+s.Ns)), cost: s.Ns, basis: findings.Inferred, from: s.From, to: s.From + s.Longest}
	if s.N < w.t.MinStalls || s.N < w.t.IdleStalls && s.WaitedNs < w.t.Grade.NoteNs || p.share < w.t.StallShare {
		return proof{}
	}
	p.stalls = s
	p.actors = []findings.Actor{{Role: findings.Victim, P: findings.OnP(s.P)}}
	return p
}

// bySlices looks at time slices that ended later than sysmon's sleeps explain,
// though a signal could interrupt the code.
func (w *watcher) bySlices(f *findings.Facts, a *account) proof {
	var n, ns int64
	var worst findings.Cell
	var who findings.Tally
	for _, stack := range slices.Sorted(maps.Keys(a.late)) {
		if !findings.Signalled(f.Frames(stack)) {
			continue
		}
		l := a.late[stack]
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
	return proof{
		way: bySlices, share: float64(ns) / float64(a.sliceNs), warning: w.t.LateWarning, cost: ns, basis: findings.Suspected,
		n: n, ns: ns, slices: a.slices, worst: w.t.SliceNs + worst.Worst,
		actors: who.Actors(f, findings.Victim, 3), from: worst.From, to: worst.To,
	}
}

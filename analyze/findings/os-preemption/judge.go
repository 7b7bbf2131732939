package ospreemption

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
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
}

// way is how a lack of CPUs shows.
type way uint8

const (
	bySamples way = iota
	byTurns
	bySlices
)

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	w.ran = *w.world.Ran()
	a := &w.all
	if b := w.silences.Beat(w.quota.PeriodNs); b.Keeps(w.quota.PeriodNs, w.quota.MinCount, w.quota.Chance, w.quota.Within) {
		a = &w.apart // the rest is told there
	}
	expected := float64(w.sumLast-w.sumFirst) / float64(w.t.SampleNs)
	var found []proof
	if expected >= w.t.MinSamples {
		found = append(found, w.bySamples(f, a, expected))
	} else {
		found = append(found, w.byTurns(f, a), w.bySlices(f, a))
	}
	found = slices.DeleteFunc(found, func(p proof) bool { return p.share < w.t.NoteShare })
	if len(found) == 0 {
		return nil
	}
	slices.SortStableFunc(found, func(x, y proof) int { return cmp.Compare(y.cost, x.cost) })
	best := &found[0]
	s, ok := w.t.Grade.Severity(best.cost, f.RecordedNs())
	switch {
	case !ok:
		return nil
	case best.share < best.warning:
		s = findings.Note
	case s == findings.Critical && (best.share < w.t.CriticalShare || !best.sure):
		s = findings.Warning
	}
	x := findings.Finding{
		ID: ID, Severity: s, CostNs: best.cost, FromNs: best.from, ToNs: best.to, Basis: best.basis, Actors: best.actors,
	}
	w.phrase(f, &x, found)
	f.Short(&x)
	return []findings.Finding{x}
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

// bySlices looks at time slices that ended later than sysmon's sleeps explain,
// though a signal could interrupt the code.
func (w *watcher) bySlices(f *findings.Facts, a *account) proof {
	var n, ns int64
	var worst late
	var who findings.Tally
	for _, stack := range slices.Sorted(maps.Keys(a.late)) {
		if !slices.ContainsFunc(f.Frames(stack), func(s string) bool { return strings.HasPrefix(s, "runtime.asyncPreempt") }) {
			continue
		}
		l := a.late[stack]
		n += l.n
		ns += l.ns
		if l.worst > worst.worst {
			worst = *l
		}
		who.Add(findings.Cell{Class: l.class, Ns: l.ns, From: l.from, To: l.to, G: l.g, P: l.p, Stack: stack})
	}
	if n < w.t.MinLate || float64(n) < w.t.LateShare*float64(a.slices) {
		return proof{}
	}
	return proof{
		way: bySlices, share: float64(ns) / float64(a.sliceNs), warning: w.t.LateWarning, cost: ns, basis: findings.Suspected,
		n: n, ns: ns, slices: a.slices, worst: worst.worst,
		actors: who.Actors(f, findings.Victim, 3), from: worst.from, to: worst.to,
	}
}

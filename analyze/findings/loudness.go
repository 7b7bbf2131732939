package findings

import (
	"slices"

	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

const (
	// awaitedShare is the share of the waiting of a finding's victims from which on it is more than
	// the order in which the parts of a job ran.
	awaitedShare = 0.25
	// littleUse is the share of P-time in use below which a program is idle, and shortWait for how
	// long a goroutine may be runnable before anybody notices, ns.
	littleUse = 0.1
	shortWait = 2_000_000
)

// Idle reports whether the program hardly used its Ps, and no wait for one was long. used is the
// P-time that it used, of is all P-time, and longestWait the longest wait for a P, all in ns.
func Idle(used, of, longestWait int64) bool {
	return of > 0 && quantity.Ratio(used, of) < littleUse && longestWait < shortWait
}

// soften makes a finding milder that is true but changes little:
//
//   - the machine is suspected, and nothing from outside proves it;
//   - all Ps were busy, and any goroutine that was runnable meanwhile was part of a larger job;
//   - it is in doubt whether threads had CPUs, for half of the waiting or more;
//   - the program is idle, and what was lost is little of what it did not use, unless it was counted.
func (w *View) soften(f *Facts, d *Detector, x *Finding) {
	if x.Kind == KindTrace {
		return
	}
	used, of := f.Procs.InUse()
	doubted := slices.Contains(x.Doubts, Strained)
	x.InLine = len(d.InLine) > 0 && !x.OutOfTurn && w.inLine(f, x, d.InLine)
	switch machine := x.Kind == KindMachine && !x.Sure(); {
	case x.InLine,
		doubted && x.CostOf == OfWaiting && f.Stalls.WaitedNs > 0 && 2*f.Stalls.WaitedNs >= f.Waits.User.TotalNs,
		x.CostOf != OfBlocked && !x.Counted && Idle(used, of, f.Waits.User.MaxNs) && float64(x.CostNs) < littleUse*float64(of):
		x.Severity = Note
	case machine && x.Severity == Critical:
		x.Severity = Warning
	}
}

// Sure reports whether a finding about the machine is beyond doubt: the kernel's records prove it, or
// its basis is Certain.
func (f *Finding) Sure() bool { return f.Proven || f.Basis == Certain }

// Queued returns the causes of waiting by which a goroutine only stood in line: behind goroutines
// that became runnable earlier, and behind mark workers. It is for Detector.InLine.
func Queued() []waits.Cause { return []waits.Cause{waits.CauseQueueing, waits.CauseGC} }

// inLine reports whether the victims of a finding mostly stood in line while the Ps were busy, by the
// causes that count as that, and no goroutine waited for one of them: in whatever order they run, all is
// done at the same time.
func (w *View) inLine(f *Facts, x *Finding, by []waits.Cause) bool {
	var waited, awaited, all, queued int64
	for i := range f.Waits.Classes {
		c := &f.Waits.Classes[i]
		if !slices.ContainsFunc(x.Actors, func(a Actor) bool { return a.Role == Victim && a.Class == c.Name && a.Creator == c.Creator }) {
			continue
		}
		class := w.ClassStat(c.ID)
		waited += class.WaitedNs
		awaited += class.AwaitedNs
		all += c.Waits.TotalNs
		for _, cause := range by {
			queued += waits.CauseNs(c.Waits.Causes, cause)
		}
	}
	return waited > 0 && 2*queued >= all && float64(awaited) < awaitedShare*float64(waited)
}

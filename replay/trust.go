package replay

import (
	"fmt"
	"math"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// From these shares of the waiting on, another GOMAXPROCS is not predicted.
const (
	muchNetwork = 0.05 // of the number of waits: that the network ended, and nobody in the program is known to have sent it
	muchKernel  = 0.25 // of the time: for threads to wake up, or for Ps in system calls
)

// What the trace cannot tell of another GOMAXPROCS: with two Ps, the work of real programs
// took 1.1 to 2 times as long as with one, 1.4 in the middle (lab/docs/replay-programs.md), for
// caches, memory and the allocator are shared, and threads are woken. One that never
// collected garbage allocates too little for most of that.
const (
	workShared   = 1.6
	workSeparate = 1.05
	callsLonger  = 2
	wakesLonger  = 4 // where the trace does not show how long threads take to wake up
)

// A makespan is not trusted if what is not known changes it by more than that part, and
// the time waited not by this one.
const (
	mostMakespan = 0.10
	mostWaited   = 0.25
)

// sliced is a class whose number of goroutines follows GOMAXPROCS (testing.B).
const sliced = "testing.(*B).RunParallel"

// sensitivity simulates with another GOMAXPROCS if computing, or system calls, took another
// time. without is the simulation of the same seed in which they take what they took.
func (r *replaying) sensitivity(s scheduler, without outcome, procs int) (*Sensitivity, error) {
	x := &Sensitivity{Work: workShared, makespan: without.run.MakespanNs}
	if r.work.Cycles == 0 {
		x.Work = workSeparate
	}
	if procs < r.work.Procs {
		x.Work = 1 / x.Work
	}
	r.total += 3
	a, b, c := s, s, s
	a.change.Work, b.change.Calls, c.change.AtOnce = x.Work, callsLonger, true
	b.costs = b.costs.WithThreadWakes(callsLonger)
	if r.work.ThreadWakeNs == 0 {
		b.costs = s.costs.WithThreadWakes(wakesLonger)
	}
	var runs [3]Run
	for i, s := range []scheduler{a, b, c} {
		all, err := r.simulate(s, 1)
		if err != nil {
			return nil, err
		}
		runs[i] = all[0].run
	}
	x.WorkNs, x.CallsNs, x.DeadlinesNs = runs[0].MakespanNs, runs[1].MakespanNs, runs[2].MakespanNs
	x.WorkWaited = float64(runs[0].Waits.TotalNs) / float64(max(without.run.Waits.TotalNs, 1))
	return x, nil
}

// distrust reports why a trace cannot tell how long would have been waited with so many Ps;
// empty if nothing speaks against it, or if procs is what there was, or 0. The work of a
// trace is what was done with its own GOMAXPROCS; lab/docs/replay.md says how often predictions
// that nothing spoke against were right.
func (r *replaying) distrust(e Error, procs int, x *Sensitivity) string {
	w := r.work
	if procs == 0 || procs == w.Procs {
		return ""
	}
	all := r.observed.waits.All
	kernel := int64(0)
	for _, c := range all.Causes {
		switch c.Cause {
		case waits.CauseIdlePAvailable, waits.CausePWakingUp, waits.CauseUnavailable:
			kernel += c.Ns
		}
	}
	switch {
	case procs > w.Procs && w.Procs == 1:
		return "the recording had one P: it shows neither how goroutines that run at once get in each other's way, at locks and in caches, nor how late threads wake up: what is said of waiting is untrusted"
	case r.meet(procs) != "":
		return r.meet(procs)
	case beyond(e.Makespan, bandMakespan):
		return ownMakespan(e)
	case beyond(e.Waits.Total, bandWaited):
		return fmt.Sprintf("the model is off by %s in the time waited for the work as it was: for another GOMAXPROCS it is untrusted", quantity.Change(1+*e.Waits.Total))
	case float64(w.Network) > muchNetwork*float64(all.Count):
		return fmt.Sprintf("%s of the waits follow on one for the network, and which of them the program itself ended is a guess: what is said of waiting with another GOMAXPROCS is untrusted", quantity.Percent(float64(w.Network)/float64(all.Count)))
	case float64(kernel) > muchKernel*float64(all.TotalNs):
		return fmt.Sprintf("%s of the waiting was for threads that woke up late, or for Ps in system calls, which is the kernel's doing: for another GOMAXPROCS it is untrusted", quantity.Percent(float64(kernel)/float64(all.TotalNs)))
	case x != nil && math.Abs(x.WorkWaited-1) > mostWaited:
		return fmt.Sprintf("with another GOMAXPROCS the work may take %s as long, and the time waited would be %s: what is said of waiting is untrusted", times(x.Work), quantity.Change(x.WorkWaited))
	}
	return ""
}

// distrustMakespan reports why a trace cannot tell what the makespan would have been with so
// many Ps, as distrust does of waiting. self is the simulation of the work as it was.
func (r *replaying) distrustMakespan(e Error, self outcome, procs int, x *Sensitivity) string {
	if x == nil {
		return ""
	}
	part := func(ns int64) float64 { return float64(ns) / float64(max(x.makespan, 1)) }
	all, unsent := r.observed.waits.All.Count, r.work.Network-r.work.Sent
	switch {
	case beyond(e.Makespan, bandMakespan):
		return ownMakespan(e)
	case float64(unsent) > muchNetwork*float64(all):
		return fmt.Sprintf("%s of the waits follow on one for the network, which answers in the model when it did in the trace, whatever the program did before: for another GOMAXPROCS it is untrusted", quantity.Percent(float64(unsent)/float64(all)))
	case r.meet(procs) != "" && float64(x.makespan) < (1-morePs)*float64(self.run.MakespanNs):
		return r.meet(procs)
	case math.Abs(part(x.WorkNs)-1) > mostMakespan:
		return fmt.Sprintf("with another GOMAXPROCS the work may take %s as long, and the makespan would be %s: it is untrusted", times(x.Work), quantity.Duration(x.WorkNs))
	case math.Abs(part(x.WorkNs)-1)+math.Abs(part(x.CallsNs)-1) > mostMakespan:
		return fmt.Sprintf("the makespan depends on how long system calls take, and threads to wake up: with the one twice as long as in the trace, and the other longer, it would be %s: it is untrusted", quantity.Duration(x.CallsNs))
	case math.Abs(part(x.WorkNs)-1)+math.Abs(part(x.CallsNs)-1)+math.Abs(part(x.DeadlinesNs)-1) > mostMakespan:
		return fmt.Sprintf("the makespan depends on deadlines, or on goroutines that sleep and look again: if what they wait for came at once, it would be %s, and that is for the schedule to decide: it is untrusted", quantity.Duration(x.DeadlinesNs))
	}
	for _, c := range r.res.Waits.Classes {
		if strings.HasPrefix(c.Name, sliced) {
			return fmt.Sprintf("%s starts as many goroutines as there are Ps: for another GOMAXPROCS there would be other work: untrusted", sliced)
		}
	}
	return ""
}

// ownMakespan reports that the model is out of its band in the makespan.
func ownMakespan(e Error) string {
	return fmt.Sprintf("the model is off by %s in the makespan for the work as it was: for another GOMAXPROCS it is untrusted", quantity.Change(1+*e.Makespan))
}

func times(x float64) string { return fmt.Sprintf("%.2g times", x) }

// meet reports why more Ps than a trace had cannot be judged by it if goroutines waited for a
// mutex; else it is empty.
func (r *replaying) meet(procs int) string {
	if procs <= r.work.Procs || len(r.locks("")) == 0 {
		return ""
	}
	return "goroutines waited for a mutex: on more Ps they may meet there more often than in the trace: untrusted, and the makespan is the least to expect"
}

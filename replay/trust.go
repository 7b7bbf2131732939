package replay

import (
	"fmt"
	"math"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/replay/workload"
)

// From these shares of the waiting on, another GOMAXPROCS is not predicted.
const (
	muchNetwork = 0.05 // of the number of waits: that the network ended
	muchKernel  = 0.25 // of the time: for threads to wake up, or for Ps in system calls
)

// sliced is a class whose number of goroutines follows GOMAXPROCS (testing.B).
const sliced = "testing.(*B).RunParallel"

// distrust says why a trace cannot tell how it would have gone with so many Ps; empty
// if nothing speaks against it, or if procs is what there was, or 0. The work of a trace is
// what was done with its own GOMAXPROCS; docs/replay.md says how often predictions that
// nothing spoke against were right.
func (f *Simulation) distrust(w *workload.Workload, res *analyze.Result, observed outcome, e Error, procs int) string {
	if procs == 0 || procs == w.Procs {
		return ""
	}
	off := func(e *float64, band float64) bool { return e != nil && math.Abs(*e) > band }
	all := observed.waits.All
	kernel := int64(0)
	for _, c := range all.Causes {
		switch c.Cause {
		case waits.CauseIdlePMissed, waits.CauseIdlePWaking, waits.CauseUnavailable:
			kernel += c.Ns
		}
	}
	switch {
	case procs > w.Procs && w.Procs == 1:
		return "the recording had one P: it shows neither how goroutines that run at once get in each other's way, at locks and in caches, nor how late threads wake up: waiting is untrusted, and the makespan is the least to expect"
	case f.meet(w, procs) != "":
		return f.meet(w, procs)
	case off(e.Makespan, bandMakespan):
		return fmt.Sprintf("the model is off by %s in the makespan for the work as it was: for another GOMAXPROCS it is untrusted", quantity.Change(1+*e.Makespan))
	case off(e.Waits.Total, bandWaited):
		return fmt.Sprintf("the model is off by %s in the time waited for the work as it was: for another GOMAXPROCS it is untrusted", quantity.Change(1+*e.Waits.Total))
	case float64(w.Network) > muchNetwork*float64(all.Count):
		return fmt.Sprintf("%s of the waits follow on one for the network, which answers in the model when it did in the trace, whatever the program did before: for another GOMAXPROCS it is untrusted", quantity.Percent(float64(w.Network)/float64(all.Count)))
	case float64(kernel) > muchKernel*float64(all.TotalNs):
		return fmt.Sprintf("%s of the waiting was for threads that woke up late, or for Ps in system calls, which is the kernel's doing: for another GOMAXPROCS it is untrusted", quantity.Percent(float64(kernel)/float64(all.TotalNs)))
	}
	for _, c := range res.Waits.Classes {
		if strings.HasPrefix(c.Name, sliced) {
			return fmt.Sprintf("%s starts as many goroutines as there are Ps: for another GOMAXPROCS there would be other work: untrusted", sliced)
		}
	}
	return ""
}

// meet says why more Ps than a trace had cannot be judged by it if goroutines waited for a
// mutex; else it is empty.
func (f *Simulation) meet(w *workload.Workload, procs int) string {
	if procs <= w.Procs || len(f.locks(w, "")) == 0 {
		return ""
	}
	return "goroutines waited for a mutex: on more Ps they may meet there more often than in the trace: untrusted, and the makespan is the least to expect"
}

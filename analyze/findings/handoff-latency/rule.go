// Package handofflatency is the detector handoff-latency: did work wait for the
// thread that a P was handed to? doc.md explains it.
package handofflatency

import (
	"fmt"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "handoff-latency"

// Thresholds decide when the detector reports goroutines that waited for the thread to which
// their P was handed off. Fields whose names end in Ns are in nanoseconds; shares are
// fractions from 0 to 1.
type Thresholds struct {
	// LateNs is the length from which on a hand-over counts: several times what
	// it takes to wake a thread that waits, 2 to 8 µs (golang/go#18023; measured).
	LateNs   int64 `json:"late_ns"`
	MinCount int64 `json:"min_count"` // number of late hand-overs from which on it is more than a note
	// Still is the share of the P-time that must have passed in hand-overs for
	// more than a note. Below, whatever takes the Ps is the trouble. The share
	// for critical is that of Grade.
	Still float64        `json:"still"`
	Grade findings.Grade `json:"grade"` // severities, by the time that goroutines waited for Ps in late hand-overs
}

// Default returns the thresholds that apply unless a configuration sets others.
func Default() Thresholds {
	return Thresholds{LateNs: 20_000, MinCount: 20, Still: 0.05, Grade: findings.DefaultGrade()}
}

// New returns the detector that reports goroutines that waited for the thread to which their P
// was handed off, with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, NeedsQueues: true, Delays: true,
		Remedy: findings.Remedy{Why: "threads are the machine's"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, threads: map[int64]struct{}{}}
			view.Handovers(w.handover)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindPStart}}, w.pStart)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	threads map[int64]struct{} // that had a P
	last    []thread           // by P

	victims findings.Tally // by class of the one that ran first
	givers  findings.Tally
	n       int64 // hand-overs with somebody waiting
	sum     int64
	late    int64
	made    int64 // of the late ones, to threads not seen before
	bars    [len(limits) + 1]int64
}

// thread is the one that a P got last; to remember it spares most look-ups.
type thread struct {
	m     int64
	fresh bool // it was not seen before
}

// limits of the bars that the evidence shows, in ns.
var limits = [...]int64{20_000, 100_000, 1_000_000, 10_000_000}

// maxThreads bounds the threads that are told apart; later ones count as seen.
const maxThreads = 1 << 16

func (w *watcher) pStart(d *reference.Decision) {
	if d.P < 0 || d.P >= w.view.KnownPs() {
		return
	}
	last := findings.Entry(&w.last, d.P, thread{m: reference.NoM})
	last.fresh = false
	if last.m == d.M {
		return
	}
	last.m = d.M
	if _, ok := w.threads[d.M]; !ok && len(w.threads) < maxThreads {
		w.threads[d.M] = struct{}{}
		last.fresh = true
	}
}

func (w *watcher) handover(h *findings.Handover) {
	ns := h.To - h.From
	made := int(h.P) < len(w.last) && w.last[h.P].fresh
	// Between threads that goroutines are wired to, it is locked-thread-penalty's.
	if h.Ns == 0 || h.Why == reference.WhyLocked && !made {
		return
	}
	w.n++
	w.sum += ns
	bar, _ := slices.BinarySearch(limits[:], ns+1) // how many limits it reaches
	w.bars[bar]++
	if ns < w.t.LateNs {
		return
	}
	w.late++
	if made {
		w.made++
	}
	w.victims.Add(&findings.Cell{Class: h.Class, Ns: h.Ns, From: h.From, To: h.To, G: h.G, P: h.P})
	w.givers.Add(&findings.Cell{Class: h.GiverClass, Ns: h.Ns, From: h.From, To: h.To, G: h.Giver, P: h.P, Stack: h.GiverStack})
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	total := w.victims.Total
	s, ok := w.t.Grade.Severity(total.Ns, f.RecordedNs())
	if !ok {
		return nil
	}
	still := quantity.Ratio(w.sum, max(1, f.PT())) // the share of the P-time that passed in hand-overs
	switch {
	case w.late < w.t.MinCount || still < w.t.Still:
		s = findings.Note
	case s == findings.Critical && still < w.t.Grade.CriticalShare:
		s = findings.Warning
	}
	x := total.Finding(s, findings.Certain)
	x.Feigned = findings.ByStall
	x.Actors = append(w.victims.Actors(f, findings.Victim, 3), w.givers.Actors(f, findings.Cause, 2)...)
	name, times, late := f.Name(w.givers.Top(1)[0].Class), quantity.Plural(w.late, "time", "times"), quantity.Duration(w.t.LateNs)
	x.Headline = findings.Say("Ps handed off by %s wait for a thread: %s, over %s each", name, times, late)
	x.Title = findings.Say("%s, most from %s, a P with work at hand waited over %s for the thread it was handed to", times, name, late)
	x.Measured("late hand-overs", findings.Count(w.late).With(" of %s", quantity.Count(w.n)), findings.Time(w.t.LateNs).With(" each"))
	x.Measured("the costliest took", findings.Time(total.To-total.From), findings.Time(w.t.LateNs))
	x.Measured("mean of all", findings.Time(w.sum/w.n))
	x.Measured("Ps stood still for it, summed", findings.Time(w.sum).With(", %s of the P-time", quantity.Percent(still)), findings.Share(w.t.Still))
	x.Measured("under 20 µs, 100 µs, 1 ms, 10 ms, and above", findings.Said("%s", fmt.Sprint(w.bars[:])))
	x.Measured("of the late ones, to threads that the trace had not shown before", findings.Count(w.made))
	if 2*w.made >= w.late {
		x.Advise("Most of these threads had to be made first. Threads end when a goroutine ends that is wired to one (call runtime.UnlockOSThread before), and more are needed the more goroutines block in system calls or cgo at once: bound these by a semaphore.")
	}
	x.Advise("The P was taken from, or given up by, %s: make fewer system calls and cgo calls that block, or bound how many run at once by a few goroutines that make them.", name)
	x.Advise("If threads start slowly whoever they are for, the machine has too few free CPUs, or a quota: compare with a lower GOMAXPROCS.")
	return []findings.Finding{x}
}

// Package lockedthreadpenalty is the detector locked-thread-penalty: what did
// goroutines that are wired to a thread cost in thread switches? doc.md
// explains it.
package lockedthreadpenalty

import (
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "locked-thread-penalty"

// Thresholds decide when the detector reports the cost of thread switches for goroutines that
// are locked to a thread. Fields whose names end in Ns are in nanoseconds.
type Thresholds struct {
	// MinCount is how many times a P must have gone to or from a wired thread.
	MinCount int64 `json:"min_count"`
	// MeanNs is the mean time for that, with work waiting, from which on it is a
	// penalty: some four times a switch of goroutines in a traced program (0.25
	// µs, measured). A thread that spins takes 1.5 to 2 µs, one that sleeps 8
	// (golang/go#18023).
	MeanNs int64 `json:"mean_ns"`
	// FreakNs is the length above which a hand-over is left out: no switch of
	// threads takes so long, the thread had no CPU.
	FreakNs int64          `json:"freak_ns"`
	Grade   findings.Grade `json:"grade"` // severities, by the time that goroutines waited for Ps while threads were switched
}

// Default returns the thresholds that apply unless a configuration sets others.
func Default() Thresholds {
	g := findings.DefaultGrade()
	g.NoteShare = 0.01 // a wired thread that is used rarely is in order
	return Thresholds{MinCount: 40, MeanNs: 1_000, FreakNs: 1_000_000, Grade: g}
}

// New returns the detector that reports the cost of thread switches for goroutines that are
// locked to a thread, with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, NeedsQueues: true, Delays: true,
		Remedy: findings.Remedy{Unlocked: true, Why: "no goroutine wired to its thread: the most that unlocking can give"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view}
			view.Handovers(w.handover)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	victims findings.Tally // by class of the one that ran next
	causes  findings.Tally // by class of the one that is wired
	to      int64          // hand-overs to a wired thread
	from    int64          // and from one
	sum     int64
	longest int64
	freaks  int64
}

func (w *watcher) handover(h *findings.Handover) {
	if h.Why != reference.WhyLocked || h.Ns == 0 {
		return
	}
	ns := h.To - h.From
	if ns > w.t.FreakNs {
		w.freaks++
		return
	}
	w.sum += ns
	w.longest = max(w.longest, ns)
	w.victims.Add(&findings.Cell{Class: h.Class, Ns: h.Ns, From: h.From, To: h.To, G: h.G, P: h.P})
	cause := findings.Cell{Class: h.GiverClass, Ns: h.Ns, From: h.From, To: h.To, G: h.Giver, P: h.P, Stack: h.GiverStack}
	if h.Locked {
		w.to++
		cause.Class, cause.G, cause.Stack = h.Class, h.G, 0
		if g := w.view.ByID(h.G); g != nil {
			cause.Stack = g.Stack
		}
	} else {
		w.from++
	}
	w.causes.Add(&cause)
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	total, n := w.victims.Total, w.to+w.from
	s, ok := w.t.Grade.Severity(total.Ns, f.RecordedNs())
	if !ok || n < w.t.MinCount || w.sum/n < w.t.MeanNs {
		return nil
	}
	x := total.Finding(s, findings.Inferred)
	x.Feigned = findings.ByStall
	x.Actors = append(w.victims.Actors(f, findings.Victim, 2), w.causes.Actors(f, findings.Cause, 2)...)
	name, times, mean := f.Name(w.causes.Top(1)[0].Class), quantity.Plural(n, "time", "times"), w.sum/n
	x.Headline = findings.Say("%s is locked to a thread: a P changed threads for it %s", findings.Short(name), times)
	x.Title = findings.Say("%s is wired to a thread: %s a P changed threads for that, with work waiting, %s each", name, times, quantity.Duration(mean))
	x.Measured("hand-overs to and from wired threads, with work waiting", findings.Count(w.to).With(" and %s", quantity.Count(w.from)), findings.Count(w.t.MinCount))
	x.Measured("a second", findings.Rate(float64(n)*1e9/float64(max(1, f.RecordedNs()))))
	x.Measured("mean time without a goroutine on the P", findings.Time(mean), findings.Time(w.t.MeanNs))
	x.Measured("the longest", findings.Time(w.longest))
	x.Measured("Ps stood still for it, summed", findings.Time(w.sum).With(", %s of the P-time", quantity.Part(w.sum, f.PT())))
	x.Measured("longer ones, left out", findings.Count(w.freaks), findings.Time(w.t.FreakNs))
	x.Advise("Keep %s off paths that run often: hand it whole batches, and let it answer them at once, so that a thread switch serves many requests.", name)
	x.Advise("Unlock (runtime.UnlockOSThread) wherever the thread's own state is not needed, or let the wired goroutine do the work around it itself, rather than wait for another goroutine at each step.")
	return []findings.Finding{x}
}

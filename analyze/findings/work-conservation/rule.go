// Package workconservation is the detector work-conservation: did Ps idle while
// goroutines waited? doc.md explains it.
package workconservation

import (
	"fmt"
	"math"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "work-conservation"

// Thresholds decide when the detector reports Ps that were idle while a runnable goroutine
// stood in a queue. Fields whose names end in Ns are in nanoseconds; shares are fractions of
// all P-time.
type Thresholds struct {
	IntervalNs int64 `json:"interval_ns"` // least length of an interval: in shorter ones a thread is waking up
	// Least goroutine-time lost for each severity, as a share of all P-time.
	NoteShare     float64 `json:"note_share"`
	WarningShare  float64 `json:"warning_share"`
	CriticalShare float64 `json:"critical_share"`
	// Least goroutine-time lost for each severity, and least number of intervals for any.
	NoteNs     int64 `json:"note_ns"`
	WarningNs  int64 `json:"warning_ns"`
	CriticalNs int64 `json:"critical_ns"`
	MinCount   int64 `json:"min_count"`
	// A finding is only a note where fewer than WarningCount intervals lost less than
	// CriticalNs; and where intervals last less than LateNs on average, as a thread may
	// take to wake up beside other processes, unless ManyShare of the P-time is lost.
	WarningCount int64   `json:"warning_count"`
	LateNs       int64   `json:"late_ns"`
	ManyShare    float64 `json:"many_share"`
	// AfterSTWNs is how long after a stop-the-world an interval counts as a slow
	// restart.
	AfterSTWNs int64 `json:"after_stw_ns"`
}

// Default returns the thresholds that apply unless a configuration sets others.
func Default() Thresholds {
	return Thresholds{
		IntervalNs: 100_000, NoteShare: 0.01, WarningShare: 0.02, CriticalShare: 0.2,
		NoteNs: 1_000_000, WarningNs: 10_000_000, CriticalNs: 100_000_000, MinCount: 3,
		WarningCount: 10, LateNs: 1_000_000, ManyShare: 0.1, AfterSTWNs: 1_000_000,
	}
}

// New returns the detector that reports Ps that were idle while a runnable goroutine stood in
// a queue, with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, CostOf: findings.OfIdle, NeedsQueues: true, Strains: true, Delays: true,
		Remedy: findings.Remedy{Why: "the model leaves no P idle longer than threads take to wake up: the gain is in the split's excess"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, start: -1, restarted: -1}
			view.IdlePs(w.add)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	idle      []int64 // by P: since when; -1: not
	last      int64   // when it was looked at
	lost      int64   // View.UnservedByIdlePs, since last
	start     int64   // of the interval; -1: none
	cost      int64   // of the interval
	restarted int64   // end of the last stop-the-world

	victims  findings.Tally
	length   int64 // of all long intervals
	longest  int64
	restarts int64
	worst    int64
	worstP   int32
	worstFor int64 // how long that P had been idle
}

func (w *watcher) add(d *reference.Decision) {
	if dt := w.view.Now() - w.last; dt > 0 {
		w.cost += w.lost * dt
		w.last += dt
	}
	w.lost = w.view.UnservedByIdlePs()
	switch {
	case w.lost > 0 && w.start < 0:
		_, since := w.view.Stealable()
		w.start, w.cost = max(w.last, since), 0
	case w.lost == 0 && w.start >= 0:
		if w.last-w.start >= w.t.IntervalNs {
			w.over(d)
		}
		w.start = -1
	}
	for _, c := range w.view.Changed() {
		idle := findings.Entry(&w.idle, c.P, -1)
		if *idle = -1; c.Next == ledger.Idle {
			*idle = w.last
		}
	}
	if d.Kind == reference.KindSTWEnd {
		w.restarted = d.Time
	}
}

// over accounts for a long interval. d, which may be nil, ended it.
func (w *watcher) over(d *reference.Decision) {
	ns := w.last - w.start
	w.length += ns
	w.longest = max(w.longest, ns)
	if w.restarted >= 0 && w.start-w.restarted < w.t.AfterSTWNs {
		w.restarts++
	}
	c := findings.Cell{Ns: w.cost, From: w.start, To: w.last}
	if g := w.view.Goroutine(); d != nil && d.Kind == reference.KindStart && g != nil && !g.System {
		c.Class, c.G, c.P, c.Stack = g.Class, g.ID, d.P, g.Stack
	} else if g := w.oldest(); g != nil {
		c.Class, c.G, c.P, c.Stack = g.Class, g.ID, g.P, g.Stack
	} else {
		c.P = reference.NoP
	}
	w.victims.Add(&c)
	if w.cost <= w.worst {
		return
	}
	w.worst, w.worstP = w.cost, reference.NoP
	if d != nil && d.Kind == reference.KindPStart && d.P >= 0 && int(d.P) < len(w.idle) && w.idle[d.P] >= 0 {
		w.worstP, w.worstFor = d.P, w.last-w.idle[d.P]
		return
	}
	for p, at := range w.idle {
		if at >= 0 && at <= w.start {
			w.worstP, w.worstFor = int32(p), w.last-at
			return
		}
	}
}

// oldest is the goroutine that any P could take and that has been in its queue for longest; nil if there is none.
func (w *watcher) oldest() (oldest *findings.Goroutine) {
	for p := reference.NoP; p < w.view.KnownPs(); p++ {
		for g := range w.view.Waiting(p, math.MaxInt) {
			if g.Self || g.Locked {
				continue
			}
			if oldest == nil || w.view.QueuedAt(g) < w.view.QueuedAt(oldest) {
				oldest = g
			}
			break
		}
	}
	return oldest
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	if dt := f.EndNs - w.last; dt > 0 {
		w.cost += w.lost * dt
		w.last += dt
	}
	if w.start >= 0 && w.last-w.start >= w.t.IntervalNs {
		w.over(nil)
	}
	total := w.victims.Total
	pt := f.PT()
	if total.N < w.t.MinCount || pt == 0 {
		return nil
	}
	share, limit, meanNs := float64(total.Ns)/float64(pt), w.t.NoteShare, w.length/total.N
	var s findings.Severity
	switch {
	case share >= w.t.CriticalShare && total.Ns >= w.t.CriticalNs:
		s, limit = findings.Critical, w.t.CriticalShare
	case share >= w.t.WarningShare && total.Ns >= w.t.WarningNs:
		s, limit = findings.Warning, w.t.WarningShare
	case share >= w.t.NoteShare && total.Ns >= w.t.NoteNs:
		s = findings.Note
	default:
		return nil
	}
	late := meanNs >= w.t.LateNs        // threads were late to wake up
	restarted := 2*w.restarts > total.N // most of it is what stops of the world cost
	if (restarted || !late) && share < w.t.ManyShare || total.N < w.t.WarningCount && total.Ns < w.t.CriticalNs {
		s = findings.Note
	}
	x := total.Finding(s, findings.Inferred)
	x.Actors = w.victims.Actors(f, findings.Victim, 3)
	if w.worstP >= 0 {
		x.Actors = append(x.Actors, findings.Actor{Role: findings.Cause, P: findings.OnP(w.worstP)})
	}
	x.Headline = findings.Say("Ps stood idle beside work for %s of the P-time", quantity.Percent(share))
	x.Title = findings.Say("%s a P stood idle for %s or more beside a goroutine that it could have run: %s of the P-time went unused",
		quantity.Plural(total.N, "time", "times"), quantity.Duration(w.t.IntervalNs), quantity.Percent(share))
	x.Measured("P-time that was idle beside work", findings.Share(share).Of(total.Ns), findings.Share(limit))
	x.Measured("intervals", findings.Count(total.N), findings.Time(w.t.IntervalNs).With(" each"))
	x.Measured("the longest", findings.Time(w.longest))
	x.Measured("their mean", findings.Time(meanNs), findings.Time(w.t.LateNs).With(", or %s of the P-time, if more than a note", quantity.Percent(w.t.ManyShare)))
	x.Measured("their length, summed", findings.Time(w.length))
	switch m := f.Records(); {
	case m != nil && 2*m.Wakeups.LateNs >= w.length:
		x.Title = findings.Say("%s, since the kernel ran woken threads late, up to %s after it woke them", x.Title, quantity.Duration(m.Wakeups.LongestNs))
	case m != nil:
		x.Title = findings.Say("%s, though the kernel ran most woken threads at once: the runtime woke them late, or none", x.Title)
	case late:
		x.Title = findings.Say("%s, since the machine seems to have woken threads late", x.Title)
		x.Headline = findings.Say("The machine seems to wake threads late: %s of the P-time was idle beside work", quantity.Percent(share))
		x.Kind = findings.KindMachine
		if f.StoodStill() {
			x.Title = findings.Say("%s; threads with a P stood still %s", x.Title, quantity.Plural(f.Stalls.N, "time", "times"))
		}
	}
	if m := f.Records(); m != nil {
		x.Measured("wake-ups of threads that took 100 µs or more, by the kernel's records", findings.Count(m.Wakeups.Late).With(" of %s, %s", quantity.Count(m.Wakeups.Count), quantity.Duration(m.Wakeups.LateNs)).Of(m.Wakeups.LateNs))
	}
	if w.worstP >= 0 {
		x.Measured(fmt.Sprintf("in the worst, P%d was idle for", w.worstP), findings.Time(w.worstFor))
	}
	if w.restarts > 0 {
		x.Measured("of them right after a stop-the-world", findings.Count(w.restarts))
		if restarted {
			x.Advise("Most of it follows a stop-the-world: the Ps come back slowly. Fewer GC cycles (GOGC, GOMEMLIMIT) and fewer calls that stop the world help; newer Go versions restart faster.")
		}
	}
	x.Advise("Check what keeps this machine from waking threads in time: %s, power saving. The runtime asks for a thread as soon as there is work for an idle P, and threads wake up within some 100 µs.", f.TakesCPUs())
	x.Advise("Try the newest Go version: waking Ps has changed often.")
	x.Advise("If the work comes one small piece at a time, hand out larger ones: a wake-up then pays.")
	if x.Kind == findings.KindMachine {
		if !f.StoodStill() {
			x.Basis, x.Guessed = findings.Suspected, true
		}
	} else { // else a lack of CPUs is what it says
		x.Feigned = findings.ByStall
	}
	return []findings.Finding{x}
}

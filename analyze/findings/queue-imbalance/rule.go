// Package queueimbalance is the detector queue-imbalance: did one P's queue
// fill up while others had none? doc.md explains it.
package queueimbalance

import (
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "queue-imbalance"

// Thresholds decide when the detector reports Ps whose local run queue is long while those of
// others are empty. Fields whose names end in Ns are in nanoseconds; shares are fractions from
// 0 to 1.
type Thresholds struct {
	Over     int64 `json:"over"`      // by how many goroutines one local run queue must be longer than the mean of all Ps
	LengthNs int64 `json:"length_ns"` // for how long that must last
	// Gini is how unevenly the queued time of the whole recording must lie on the
	// Ps, from 0, even, to 1, all on one. For a warning MinCount intervals do too.
	Gini     float64 `json:"gini"`
	MinCount int64   `json:"min_count"`
	// Shares of the duration, and times, that such intervals fill.
	NoteShare    float64 `json:"note_share"`
	NoteNs       int64   `json:"note_ns"`
	WarningShare float64 `json:"warning_share"`
	WarningNs    int64   `json:"warning_ns"`
}

// Default returns the thresholds that apply unless a configuration sets others. All are
// guesses, checked on traces: thieves take half of a queue at once, so that with a thief at
// work a difference of eight is gone within microseconds.
func Default() Thresholds {
	return Thresholds{Over: 8, LengthNs: 1_000_000, Gini: 0.6, MinCount: 3, NoteShare: 0.01, NoteNs: 10_000_000, WarningShare: 0.05, WarningNs: 20_000_000}
}

// New returns the detector that reports Ps whose local run queue is long while those of others
// are empty, with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, NeedsQueues: true, Delays: true,
		Remedy: findings.Remedy{Policy: "fifo", Why: "one queue for all Ps: the most that more even queues can give"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, long: reference.NoP}
			view.LongQueues(t.Over, w.lengths)
			w.moves = view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindReady, reference.KindMove, reference.KindStart}}, w.queued)
			w.changes = view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindPStart, reference.KindPStop, reference.KindRetake, reference.KindLost}}, w.changed)
			w.listen()
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	// On while a queue is long enough, or an interval is open.
	moves, changes *findings.Switch
	anyLong        bool // a queue is long enough

	long   int32 // the P with the long queue; NoP: there is none
	last   int64
	over   int64 // of its length, beyond the mean; 0 while no P with an empty queue worked
	from   int64
	ns     int64 // of the interval, with over > 0
	cost   int64
	peak   int64
	hog    findings.Cell // who ran meanwhile beside an empty queue
	looked bool

	costs   findings.Cell    // of the intervals
	times   findings.Lengths // of these
	longest int64
	peakLen int64
	victims findings.Tally
	feeders findings.Tally
	hogs    findings.Tally
}

func (w *watcher) lengths(some *bool) {
	w.anyLong = *some
	w.listen()
}

func (w *watcher) listen() {
	w.moves.Set(w.anyLong || w.long >= 0)
	w.changes.Set(w.long >= 0)
}

func (w *watcher) queued(d *reference.Decision) {
	if w.long < 0 && (d.P < 0 || w.view.Queued(d.P) < w.t.Over) {
		return
	}
	w.pass(d.Time)
	w.update(d.P)
}

func (w *watcher) changed(d *reference.Decision) {
	if w.long >= 0 {
		w.pass(d.Time)
		w.update(d.P)
	}
}

// beyond is by how much P p's queue is longer than the mean, if that is enough
// and some queue is empty; 0 otherwise.
func (w *watcher) beyond(p int32) int64 {
	procs := w.view.Procs()
	total, filled := w.view.QueuedLocally()
	if n := w.view.Queued(p); filled < procs && n*procs-total >= w.t.Over*procs {
		return n - total/procs
	}
	return 0
}

// update begins or ends an interval; p is where something changed.
func (w *watcher) update(p int32) {
	if w.long < 0 {
		if w.beyond(p) == 0 {
			return
		}
		w.long, w.from, w.last, w.ns, w.cost, w.peak, w.looked = p, w.view.Now(), w.view.Now(), 0, 0, 0, false
		w.listen()
	}
	over := w.beyond(w.long)
	if over == 0 {
		w.end()
		return
	}
	w.peak = max(w.peak, w.view.Queued(w.long))
	w.over = over
	// A queue beside an idle P is the matter of work-conservation, and one that
	// has just got its thread will steal; a P that marks for the garbage collector,
	// or is stopped, cannot.
	_, filled := w.view.QueuedLocally()
	if w.view.CountPs(ledger.Idle) > 0 || w.view.Waking() > 0 || w.view.Procs()-filled <= w.view.CountPs(ledger.GC)+w.view.CountPs(ledger.Stopped) {
		w.over = 0
	}
}

// pass accounts for the time since the last change.
func (w *watcher) pass(now int64) {
	if w.long < 0 {
		return
	}
	if dt := now - w.last; w.over > 0 {
		w.ns += dt
		w.cost += w.over * dt
	}
	w.last = now
	if !w.looked && w.ns >= w.t.LengthNs/2 {
		w.looked = true
		w.findLongest()
	}
}

// findLongest finds who has run the longest on a P with an empty queue.
func (w *watcher) findLongest() {
	w.hog = findings.Cell{P: reference.NoP}
	for p := range int32(min(w.view.Procs(), int64(w.view.KnownPs()))) {
		if w.view.Queued(p) > 0 {
			continue
		}
		if g := w.view.Running(p); g != nil && !g.System && g.StartAt >= 0 && (w.hog.P < 0 || g.StartAt < w.hog.From) {
			w.hog = findings.Cell{Class: g.Class, From: g.StartAt, G: g.ID, P: p}
		}
	}
}

// end ends the interval.
func (w *watcher) end() {
	p := w.long
	w.long = reference.NoP
	w.listen()
	if w.ns < w.t.LengthNs {
		return
	}
	w.costs.Add(&findings.Cell{Ns: w.cost, From: w.from, To: w.last, P: p})
	w.times.Add(w.ns)
	w.longest = max(w.longest, w.ns)
	w.peakLen = max(w.peakLen, w.peak)
	if w.hog.P >= 0 && w.looked {
		w.hog.Ns, w.hog.To = w.ns, w.last
		w.hogs.Add(&w.hog)
	}
	// Those that are left stand for all that stood there.
	for g := range w.view.Waiting(p, sample) {
		c := findings.Cell{Class: g.Class, Ns: w.cost / sample, From: w.from, To: w.last, G: g.ID, P: p, Stack: g.Stack}
		w.victims.Add(&c)
		if by := w.view.ByID(g.Waker); by != nil {
			c.Class, c.G, c.Stack = by.Class, by.ID, g.WakeStack
			w.feeders.Add(&c)
		}
	}
}

const sample = 8

// gini is how unevenly the queued time lies on the Ps: 0 evenly, 1 all on one.
func (w *watcher) gini(n int) float64 {
	x := make([]float64, min(n, ledger.MaxPs))
	for i := range x {
		x[i] = float64(w.view.QueuedNs(int32(i)))
	}
	slices.Sort(x)
	var sum, ranked float64
	for i, v := range x {
		sum += v
		ranked += v * float64(2*i+1-len(x))
	}
	if sum <= 0 || len(x) < 2 {
		return 0
	}
	return ranked / sum / float64(len(x)-1)
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	if w.long >= 0 {
		w.pass(f.EndNs)
		w.end()
	}
	gini, share, limit := w.gini(f.GOMAXPROCS), f.Share(w.times.Ns), w.t.NoteShare
	var s findings.Severity
	switch {
	case gini < w.t.Gini && w.costs.N < w.t.MinCount:
		return nil
	case share >= w.t.WarningShare && w.times.Ns >= w.t.WarningNs:
		s, limit = findings.Warning, w.t.WarningShare
	case share >= w.t.NoteShare && w.times.Ns >= w.t.NoteNs && gini >= w.t.Gini:
		s = findings.Note
	default:
		return nil
	}
	x := w.costs.Finding(s, findings.Inferred)
	x.Feigned = findings.ByStall
	x.Actors = slices.Concat(w.victims.Actors(f, findings.Victim, 2), w.feeders.Actors(f, findings.Cause, 1), w.hogs.Actors(f, findings.Cause, 1))
	peak := quantity.Plural(w.peakLen, "goroutine", "goroutines")
	x.Headline = findings.Say("P%d has up to %s in its queue, another P none", w.costs.P, peak)
	if a := x.Cause(); a != nil {
		x.Headline = findings.Say("%s fills the queue of P%d: up to %s wait in it, in another P's none", a.Short(), w.costs.P, peak)
	}
	x.Title = findings.Say("P%d had up to %s in its queue while another P worked beside an empty one: %s of the time",
		w.costs.P, peak, quantity.Percent(share))
	x.Measured("time in such intervals", findings.Share(share).Of(w.times.Ns), findings.Share(limit))
	x.Measured("intervals", findings.Count(w.costs.N), findings.Time(w.t.LengthNs).With(" each"))
	x.Measured("the longest", findings.Time(w.longest))
	x.Measured("longest queue", findings.Count(w.peakLen), findings.Count(w.t.Over).With(" above the mean of the Ps"))
	x.Measured("unevenness of queued time over the Ps (Gini)", findings.Number(gini), findings.Number(w.t.Gini).With(", or %s intervals for a warning", quantity.Count(w.t.MinCount)))
	feeder := findings.Say("the producer")
	if top := w.feeders.Top(1); len(top) > 0 {
		feeder = findings.Say("%s", f.Name(top[0].Class))
	}
	x.Advise("Let more than one goroutine produce: what %s makes runnable goes into the queue of the P that it runs on, and stays there until a P without work steals it.", feeder)
	if top := w.hogs.Top(1); len(top) > 0 {
		hog := f.Name(top[0].Class)
		x.MeasuredOf(findings.Say("of it, beside %s that had a P to itself", hog), findings.Time(top[0].Ns))
		x.Advise("A P looks into the others' queues only when it runs out of work, and %s does not let that happen: have it block now and then, or split its work into goroutines, so that its P takes its share of the others.", hog)
	}
	return []findings.Finding{x}
}

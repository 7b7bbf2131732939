// Package thunderingherd is the detector thundering-herd: were many goroutines
// woken at once, only to wait again? doc.md explains it.
package thunderingherd

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	wakeupcost "github.com/gmpscope/gmpscope/analyze/findings/wakeup-cost"
	"github.com/gmpscope/gmpscope/analyze/ids"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "thundering-herd"

// Thresholds decide when the detector reports goroutines woken at once in great numbers, only
// to wait again. Fields whose names end in Ns are in nanoseconds; shares are fractions from 0
// to 1.
type Thresholds struct {
	Herd     int64 `json:"herd"`      // least number of goroutines woken within WindowNs
	PerP     int64 `json:"per_p"`     // least number of goroutines for each P, where that is more than Herd
	WindowNs int64 `json:"window_ns"` // time within which the goroutines of one herd are woken
	// ShortNs is how long one runs at most that finds nothing to do, before it
	// waits at the same place again; TickNs how long one that a timer woke does
	// when it has next to nothing to do.
	ShortNs int64 `json:"short_ns"`
	TickNs  int64 `json:"tick_ns"`
	// Vain is the share of a herd that must wait again so soon.
	Vain     float64 `json:"vain"`
	MinHerds int64   `json:"min_herds"` // number of herds from which on they are more than a note
	// Peak is how many times more timers than on average must fire in the window.
	Peak float64 `json:"peak"`
	// MinWaitNs is for how long those that timers wake must wait for one another on average:
	// else it is a note.
	MinWaitNs int64          `json:"min_wait_ns"`
	Grade     findings.Grade `json:"grade"` // severities, by the time that the herds cost
}

// Default returns the thresholds that apply unless a configuration sets others. Herds are many
// events, so fewer nanoseconds than elsewhere make a warning of them. WindowNs is the burst of
// the scheduling statistics tool schedstat (1 ms around an instant); the rest is our own: 20
// µs is some ten times what a look at a condition takes in a traced program.
func Default() Thresholds {
	g := findings.DefaultGrade()
	g.WarningNs = 2_000_000
	return Thresholds{
		Herd: 32, PerP: 2, WindowNs: 1_000_000, ShortNs: 20_000, TickNs: 100_000,
		Vain: 0.5, MinHerds: 10, Peak: 4, MinWaitNs: 500_000, Grade: g,
	}
}

// New returns the detector that reports goroutines woken at once in great numbers, only to
// wait again, with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, Counted: true, CostOf: findings.OfPTime,
		Delays: true, Explains: []string{wakeupcost.ID},
		Remedy: findings.Remedy{Why: "the work of those woken in vain is part of what the trace gives"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, cells: findings.NewTable(findings.MaxKept, func(at place) cell { return cell{place: at} })}
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindReady}, Whys: []reference.Why{reference.WhyTimer}}, w.timer)
			// A lock or a place in a buffer is left out: who is woken gets it.
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindReady}, Reasons: []reference.Reason{reference.ReasonCond, reference.ReasonChanReceive, reference.ReasonSelect}}, w.woken)
			w.mark = view.NewMark()
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindStart, reference.KindStop}, Mark: w.mark}, w.update)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	members ids.Parts[member] // by slot
	bursts  [maxBursts]burst
	herds   [maxHerds]herd
	next    int32         // herds so far
	mark    findings.Mark // of the members of herds
	ticks   int64         // goroutines woken by timers

	cells findings.Table[place, cell]
}

const (
	// maxBursts is how many wakers are followed at a time: by ID, one overwrites
	// another.
	maxBursts = 64
	// maxHerds is how many herds have members that have not been judged.
	maxHerds = 256
	// small is how many wake-ups begin a herd that is worth following.
	small = 8
	// maxTurn is the longest pause of a P between two goroutines that is the
	// scheduler's switch.
	maxTurn = 10_000
)

// burst is the wake-ups by one goroutine, or by timers, that may become a herd.
type burst struct {
	timer    bool
	by, from int64
	stack    int32 // of the waker
	reason   reference.Reason
	n        int32
	first    [small]int32 // slots
	herd     int32        // 0: not yet
}

// member is a goroutine that was woken in a herd and has not waited since.
type member struct {
	g     int64
	herd  int32
	stack int32 // where it waited
	run   int64 // how long it had run
	ready int64
	wait  int64
	sched int64 // the scheduler's time before it ran
}

// herd is one whose members are watched.
type herd struct {
	id       int32
	place    place
	by       int64
	from, to int64
	n        int64
	vain     int64 // waited again at once; known only of those that did
	ran      int64 // by those in vain, and the scheduler's time before each, ns
	vainWait int64
	wait     int64 // of the others, for a P
	class    int32 // of a member
	stack    int32 // where it waited
	sample   int64
}

// place is where herds come from.
type place struct {
	class  int32 // of the waker; of the members where timers woke them
	stack  int32 // of the waker; where the members waited
	reason reference.Reason
	timer  bool
}

// cell sums up the herds of one place.
type cell struct {
	place
	herds, n  int64
	vain      int64
	ran, wait int64
	waking    int64 // the waker's time for those in vain
	worst     herd
	victims   findings.Tally
}

func (w *watcher) timer(d *reference.Decision) {
	if g := w.view.Goroutine(); g != nil && !g.System {
		w.ticks++
		w.ready(d, g, true)
	}
}

func (w *watcher) woken(d *reference.Decision) {
	if d.By >= 0 && d.Why != reference.WhyTimer {
		w.ready(d, w.view.Goroutine(), false)
	}
}

func (w *watcher) ready(d *reference.Decision, g *findings.Goroutine, timer bool) {
	b := &w.bursts[0]
	if !timer {
		b = &w.bursts[1+uint64(d.By)%(maxBursts-1)]
	}
	i := w.view.Slot()
	m := w.members.Make(i)
	if b.n > 0 && m.g == g.ID && m.ready >= b.from {
		b.n = 0 // the second time already: these are two herds
	}
	if b.n == 0 || b.by != d.By || d.Time-b.from > w.t.WindowNs || b.stack != d.Stack || b.reason != g.Reason {
		*b = burst{timer: timer, by: d.By, from: d.Time, stack: d.Stack, reason: g.Reason}
	}
	*m = member{g: g.ID, stack: g.Stack, run: g.RunNs, ready: d.Time}
	if b.n < small {
		b.first[b.n] = i
	}
	b.n++
	switch {
	case b.n == small:
		w.follow(b, g, d)
	case b.n > small:
		if h := &w.herds[b.herd%maxHerds]; h.id == b.herd {
			h.n++
			h.to = d.Time
			m.herd = h.id
			w.view.Mark(i, w.mark)
		}
	}
}

// follow begins to watch what becomes of those whom b woke.
func (w *watcher) follow(b *burst, g *findings.Goroutine, d *reference.Decision) {
	w.next++
	h := &w.herds[w.next%maxHerds]
	w.settle(h)
	*h = herd{id: w.next, by: b.by, from: b.from, to: d.Time, n: small, class: g.Class, stack: g.Stack, sample: g.ID, place: place{class: g.Class, stack: g.Stack, reason: b.reason, timer: true}}
	if !b.timer {
		h.place = place{stack: b.stack, reason: b.reason}
		if k := w.view.ByID(b.by); k != nil {
			h.place.class = k.Class
		}
	}
	b.herd = h.id
	for _, i := range b.first {
		if m := w.members.At(i); m.ready >= b.from && m.ready <= d.Time {
			m.herd = h.id
			w.view.Mark(i, w.mark)
		}
	}
}

func (w *watcher) member() *member {
	if m := w.members.Find(w.view.Slot()); m != nil && m.herd != 0 {
		return m
	}
	return nil
}

// update processes the start or the stop of a member.
func (w *watcher) update(d *reference.Decision) {
	if d.Kind == reference.KindStart {
		w.start(d)
		return
	}
	w.stop(d)
	if w.member() == nil {
		w.view.Unmark(w.view.Slot(), w.mark)
	}
}

func (w *watcher) start(d *reference.Decision) {
	m := w.member()
	if m == nil || m.g != d.G || m.wait != 0 {
		return
	}
	m.wait = d.Time - m.ready
	if at := w.view.History(d.P).StopAt; at >= 0 && d.Time-at <= maxTurn {
		m.sched = min(d.Time-at, m.wait)
	}
}

func (w *watcher) stop(d *reference.Decision) {
	m := w.member()
	if m == nil || m.g != d.G {
		return
	}
	h := &w.herds[m.herd%maxHerds]
	if h.id != m.herd {
		m.herd = 0
		return
	}
	ran := w.view.Goroutine().RunNs - m.run
	limit := w.t.ShortNs
	if h.place.timer {
		limit = w.t.TickNs
	}
	switch {
	case ran > limit:
	case d.Why != reference.WhyBlock:
		return // stopped in between
	case d.Stack == m.stack:
		h.vain++
		h.ran += ran + m.sched
		h.vainWait += m.wait
		m.herd = 0
		return
	case d.Reason == reference.ReasonSync:
		return // for the lock under which it looks
	}
	h.wait += m.wait
	m.herd = 0
}

// settle puts a herd into the account of its place.
func (w *watcher) settle(h *herd) {
	if h.id == 0 || h.n < max(w.t.Herd, w.t.PerP*w.view.Procs()) {
		return
	}
	c := w.cells.At(h.place)
	if c == nil {
		return
	}
	c.herds++
	c.n += h.n
	c.vain += h.vain
	c.ran += h.ran
	if h.n > 1 {
		c.waking += int64(float64(h.to-h.from) * float64(h.vain) / float64(h.n-1))
	}
	c.wait += h.wait
	if h.place.timer {
		c.wait += h.vainWait
	}
	if h.n > c.worst.n {
		c.worst = *h
	}
	// By number, so that the class that was woken most comes first.
	c.victims.Add(&findings.Cell{Class: h.class, Ns: h.n, From: h.from, To: h.to, G: h.sample, P: reference.NoP})
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	for i := range w.herds {
		w.settle(&w.herds[i])
	}
	out := findings.Each(f, w.cells.List, w.finding)
	slices.SortStableFunc(out, func(x, y findings.Finding) int {
		return cmp.Or(cmp.Compare(y.CostNs, x.CostNs), cmp.Compare(x.Title.String(), y.Title.String()))
	})
	return out[:min(maxFindings, len(out))]
}

// maxFindings is how many places are reported, the costliest ones.
const maxFindings = 2

// how the members of a herd were woken.
type how uint8

const (
	other how = iota // each got something
	broadcast
	closing
	unknown
)

// call reports from the waker's stack how it woke those who waited for a Cond or for
// a channel. The leaf is the function of the runtime or of package sync that was
// called first (Go 1.22 to 1.27).
func call(frames []string) how {
	if len(frames) == 0 {
		return unknown
	}
	if findings.Through(frames, "sync.(*Cond).Broadcast") {
		return broadcast
	}
	// Sends show the runtime's function, and package sync its own; a close shows
	// none of them.
	shown := []string{"runtime.", "reflect.", "sync.", "internal/"}
	if slices.ContainsFunc(shown, func(p string) bool { return strings.HasPrefix(frames[0], p) }) {
		return other
	}
	return closing
}

func (w *watcher) finding(f *findings.Facts, c *cell) []findings.Finding {
	cost, short := c.wait+c.ran+c.waking, w.t.ShortNs
	if c.timer {
		cost, short = c.wait, w.t.TickNs
	}
	s, ok := w.t.Grade.Severity(cost, f.RecordedNs())
	if !ok || float64(c.vain) < w.t.Vain*float64(c.n) {
		return nil
	}
	if c.herds < w.t.MinHerds {
		s = findings.Note
	}
	mean, vain := float64(c.n)/float64(c.herds), float64(c.vain)/float64(c.n)
	x := findings.Finding{
		Severity: s, CostNs: cost, FromNs: c.worst.from, ToNs: c.worst.to, Basis: findings.Certain,
		Actors: c.victims.Actors(f, findings.Victim, 1),
	}
	x.Actors[0].Stack = f.Frames(c.worst.stack)
	x.Measured("goroutines woken at once, on average", findings.Number(mean), findings.Count(max(w.t.Herd, w.t.PerP*int64(f.GOMAXPROCS))).With(" within %s", quantity.Duration(w.t.WindowNs)))
	x.Measured("at most", findings.Count(c.worst.n))
	x.Measured("times", findings.Count(c.herds), findings.Count(w.t.MinHerds))
	x.Measured("of them, waited again at the same place after "+quantity.Duration(short)+" of running or less", findings.Share(vain), findings.Share(w.t.Vain))
	x.Measured("time for these: run intervals, and the scheduler's turn before each", findings.Time(c.ran))
	if c.timer {
		ok = w.byTimers(f, &x, c, mean)
	} else {
		x.Actors = append(x.Actors, f.Actor(findings.Cause, c.class, c.worst.by, c.stack))
		ok = byWaker(&x, c, vain)
	}
	if !ok {
		return nil
	}
	return []findings.Finding{x}
}

// byTimers writes what is wrong if timers woke the herds, and reports whether anything is.
func (w *watcher) byTimers(f *findings.Facts, x *findings.Finding, c *cell, mean float64) bool {
	usual := float64(w.ticks) * float64(w.t.WindowNs) / float64(max(1, f.RecordedNs()))
	if mean < w.t.Peak*usual {
		return false
	}
	if c.wait < w.t.MinWaitNs*c.n {
		x.Severity = findings.Note
	} else if x.Severity == findings.Critical {
		x.Severity = findings.Warning // each waits for a moment, and then they are through
	}
	name := x.Actors[0].Work()
	x.Headline = findings.Say("Timers wake up to %s goroutines of %s at once for next to nothing", quantity.Count(c.worst.n), x.Actors[0].Short())
	x.Title = findings.Say("Timers woke up to %s goroutines of %s at once, %s; each had next to nothing to do, and waited for the others",
		quantity.Count(c.worst.n), name, quantity.Plural(c.herds, "time", "times"))
	x.Measured("goroutines that timers wake in "+quantity.Duration(w.t.WindowNs)+" on average", findings.Number(usual), findings.Times(1/w.t.Peak).With(" of a herd"))
	x.Measured("they waited for a P, summed", findings.Time(c.wait))
	x.Advise("Spread the timers of %s: begin each at a random part of its period.", name)
	x.Advise("Or keep one ticker, and have one goroutine go through all of them at each tick: that costs one wake-up instead of %s.", quantity.Number(mean))
	return true
}

// byWaker writes what is wrong if a goroutine woke the herds, and reports whether anything is.
func byWaker(x *findings.Finding, c *cell, vain float64) bool {
	x.Measured("time that it took to wake these", findings.Time(c.waking))
	x.Measured("those that had something to do waited for a P behind them, summed", findings.Time(c.wait))
	means := ""
	switch how := call(x.Actors[1].Stack); {
	case how == other, how == closing && c.reason == reference.ReasonCond, how == unknown && c.reason != reference.ReasonCond:
		return false
	case how == broadcast:
		means = " with sync.Cond.Broadcast"
		x.Advise("Call Signal instead of Broadcast where one goroutine can take what there is. Where the waiters wait for different things, give each kind a Cond, or a channel, of its own.")
	case how == closing:
		means = " by closing a channel"
		x.Advise("Send to as many as have something to do, instead of closing a channel that all of them wait on; or let each waiter have a channel of its own.")
	case how == unknown:
		x.Basis = findings.Suspected
		x.Advise("If they were woken by sync.Cond.Broadcast, call Signal where one goroutine can take what there is.")
	}
	x.Advise("Fewer goroutines that wait for the same thing make each wake-up cheaper: about as many as GOMAXPROCS are enough for work that needs a P.")
	share := quantity.Percent(vain)
	x.Headline = findings.Say("%s wakes up to %s goroutines at once; %s find nothing to do", x.Actors[1].Short(), quantity.Count(c.worst.n), share)
	x.Title = findings.Say("%s woke up to %s goroutines at once%s, %s; %s of them found nothing to do and waited again",
		x.Actors[1].Doer(), quantity.Count(c.worst.n), means, quantity.Plural(c.herds, "time", "times"), share)
	return true
}

// Package pthrash is the detector p-thrash: did Ps get threads and lose them
// again over pieces of work too small for it? doc.md explains it.
package pthrash

import (
	"cmp"
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "p-thrash"

// Thresholds decide when the detector reports Ps that got a thread and lost it again for next
// to no work. Fields whose names end in Ns are in nanoseconds.
type Thresholds struct {
	// GapNs and BusyNs: a wake-up counts if the P had parked less than GapNs
	// before, and parks again after less than BusyNs of work.
	GapNs  int64 `json:"gap_ns"`
	BusyNs int64 `json:"busy_ns"`
	// Rate is how many such wake-ups of one P in a second are too many, judged in
	// windows of WindowNs.
	Rate     float64 `json:"rate"`
	WindowNs int64   `json:"window_ns"`
	// WarningRate is how many such wake-ups of all Ps in a second, over the whole
	// recording, are more than a note.
	WarningRate float64        `json:"warning_rate"`
	Grade       findings.Grade `json:"grade"` // severities, by the time that threads looked for work in vain, and that goroutines waited for such a P
}

// Default returns the thresholds that apply unless a configuration sets others. Waking a
// thread costs 5 to 50 µs (golang/go#54622, runtime's startm and stopm): less than that
// between two parks, or of work between them, does not pay. In recordings of healthy programs
// a P has fewer than 500 such wake-ups a second. 5,000 of 10 µs each are a twentieth of a CPU,
// what golang/go#13527 complains of.
func Default() Thresholds {
	return Thresholds{GapNs: 50_000, BusyNs: 50_000, Rate: 1000, WindowNs: 100_000_000, WarningRate: 5000, Grade: findings.DefaultGrade()}
}

// New returns the detector that reports Ps that got a thread and lost it again for next to no
// work, with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, CostOf: findings.OfIdle, Delays: true,
		Remedy: findings.Remedy{Why: "its cost is CPU time of the scheduler, not waiting"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view}
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindPStart}}, w.pstart)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindStart}, When: findings.FirstOnP}, w.start)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindPStop, reference.KindRetake}}, w.pstop)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindLost}}, w.lose)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	ps      []proc
	total   account
	windows int64
	worst   account // of one window
	worstAt int64
	worstP  int32
	victims findings.Tally
	wakers  findings.Tally
}

type proc struct {
	stopAt  int64 // parked for want of work; -1: it did not
	startAt int64 // got its thread; -1: it has none, or the wake-up does not count
	workAt  int64 // ran something first; -1: nothing yet
	before  int64 // starts on it until then
	cell    findings.Cell
	by      int64
	byStack int32
	window  int64
	account
}

// account is of wake-ups that count.
type account struct {
	wakes, empty, tasks int64
	waited              int64 // goroutine-ns that what they ran first waited for the P
	awake               int64 // ns for which the others had a thread, and found nothing
}

func (a *account) add(b account) {
	a.wakes += b.wakes
	a.empty += b.empty
	a.tasks += b.tasks
	a.waited += b.waited
	a.awake += b.awake
}

func (w *watcher) p(id int32) *proc {
	if id < 0 || id >= w.view.KnownPs() {
		return nil
	}
	return findings.Entry(&w.ps, id, proc{stopAt: -1, startAt: -1})
}

func (w *watcher) pstart(d *reference.Decision) {
	p := w.p(d.P)
	if p == nil {
		return
	}
	p.startAt = -1
	if p.stopAt >= 0 && d.Time-p.stopAt < w.t.GapNs {
		p.startAt, p.workAt, p.before = d.Time, -1, w.view.History(d.P).Starts
		p.by, p.byStack = w.view.WakerID()
	}
}

func (w *watcher) start(d *reference.Decision) {
	if uint32(d.P) >= uint32(len(w.ps)) {
		return
	}
	p := &w.ps[d.P]
	if p.startAt < 0 {
		return
	}
	g := w.view.Goroutine()
	if g == nil || g.System || g.Locked {
		p.startAt = -1 // woken for the runtime, or handed over
		return
	}
	p.workAt = d.Time
	p.cell = findings.Cell{Class: g.Class, From: p.stopAt, To: d.Time, G: g.ID, P: d.P, Stack: g.Stack}
	if g.Wait > 0 && !g.Self {
		p.cell.Ns = min(g.Wait, d.Time-p.stopAt)
	}
}

func (w *watcher) pstop(d *reference.Decision) {
	p := w.p(d.P)
	if p == nil {
		return
	}
	parked := d.Kind == reference.KindPStop && d.Why == reference.WhyIdle
	if parked && p.startAt >= 0 && (p.workAt < 0 || d.Time-p.workAt < w.t.BusyNs) {
		w.wake(p, d)
	}
	p.startAt, p.stopAt = -1, -1
	if parked {
		p.stopAt = d.Time
	}
}

// lose is for a gap in the trace: when the Ps park and wake is not known.
func (w *watcher) lose(*reference.Decision) {
	for i := range w.ps {
		w.ps[i].startAt, w.ps[i].stopAt = -1, -1
	}
}

// wake counts a wake-up that is over.
func (w *watcher) wake(p *proc, d *reference.Decision) {
	if n := d.Time / w.t.WindowNs; n != p.window {
		w.close(d.P)
		p.window = n
	}
	p.wakes++
	p.tasks += w.view.History(d.P).Starts - p.before
	if p.workAt < 0 {
		p.empty++
		p.awake += d.Time - p.startAt
	} else {
		p.waited += p.cell.Ns
		w.victims.Add(&p.cell)
	}
	c := findings.Cell{Ns: d.Time - p.startAt, From: p.stopAt, To: d.Time, P: d.P, Stack: p.byStack}
	if g := w.view.ByID(p.by); g != nil {
		c.Class, c.G, c.Stack = g.Class, g.ID, cmp.Or(c.Stack, g.Stack)
	}
	w.wakers.Add(&c)
}

// close judges the window of a P that is over.
func (w *watcher) close(id int32) {
	p := &w.ps[id]
	if float64(p.wakes) >= w.t.Rate*float64(w.t.WindowNs)/1e9 {
		w.total.add(p.account)
		w.windows++
		if p.wakes > w.worst.wakes {
			w.worst, w.worstAt, w.worstP = p.account, p.window*w.t.WindowNs, id
		}
	}
	p.account = account{}
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	for p := range w.ps {
		w.close(int32(p))
	}
	t := &w.total
	cost := t.waited + t.awake
	s, ok := w.t.Grade.Severity(cost, f.RecordedNs())
	// What the wake-ups cost the CPUs, most of it in the kernel, the trace does not
	// show: their number decides.
	switch perSecond := float64(t.wakes) / float64(max(1, f.RecordedNs())) * 1e9; {
	case perSecond >= w.t.WarningRate:
		s, ok = findings.Warning, true
	case ok, perSecond >= w.t.Rate:
		s, ok = findings.Note, true
	}
	if !ok {
		return nil
	}
	if c, _ := w.t.Grade.Severity(t.waited, f.RecordedNs()); c == findings.Critical {
		s = c
	}
	x := findings.Finding{
		Severity: s, CostNs: cost, FromNs: w.worstAt, ToNs: min(f.EndNs, w.worstAt+w.t.WindowNs), Basis: findings.Certain,
	}
	if 10*t.waited > cost {
		x.Actors = w.victims.Actors(f, findings.Victim, 2)
	}
	x.Actors = append(x.Actors, w.wakers.Actors(f, findings.Cause, 2)...)
	rate := int64(float64(w.worst.wakes) / float64(w.t.WindowNs) * 1e9)
	x.Headline = findings.Say("Ps wake up for next to no work: %s", quantity.Plural(t.wakes, "time", "times"))
	x.Title = findings.Say("Ps were woken %s within %s of parking, and parked again after less than %s of work; %s of these times there was none",
		quantity.Plural(t.wakes, "time", "times"), quantity.Duration(w.t.GapNs), quantity.Duration(w.t.BusyNs), quantity.Percent(float64(t.empty)/float64(t.wakes)))
	x.Measured(fmt.Sprintf("such wake-ups of P%d in the worst %s", w.worstP, quantity.Duration(w.t.WindowNs)), findings.Count(rate).With(" a second"), findings.Count(int64(w.t.Rate)).With(" a second"))
	x.Measured(fmt.Sprintf("windows of %s above the limit, over all Ps", quantity.Duration(w.t.WindowNs)), findings.Count(w.windows))
	x.Measured("goroutines run, for each wake-up", findings.Number(float64(t.tasks)/float64(t.wakes)))
	x.Measured("threads awake and looking in vain, summed", findings.Time(t.awake))
	x.Measured("waiting of goroutines for such a P, summed", findings.Time(t.waited))
	who := findings.Say("the goroutines")
	if top := w.wakers.Top(1); len(top) > 0 && top[0].Class != 0 {
		who = findings.Say("%s", f.Name(top[0].Class))
	}
	x.Advise("Give each wake-up more to do: let %s hand over several items at a time, or do small ones itself. Whatever it makes runnable wakes another P if one is idle, and waking a thread takes longer than this work.", who)
	x.Advise("Fewer Ps (GOMAXPROCS) leave no idle one to wake; that saves CPU, and costs latency when work comes in bursts.")
	if 2*t.empty > t.wakes {
		x.Advise("Most of these Ps found nothing: the work was done before they came, by the P that had it. Calls of runtime.Gosched in a loop, and goroutines that answer each other one message at a time, do this.")
	}
	if t.waited > t.awake {
		x.Feigned = findings.ByStall
	}
	return []findings.Finding{x}
}

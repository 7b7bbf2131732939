// Package starvation is the detector starvation: did goroutines wait far longer
// than sharing the Ps explains? doc.md explains it.
package starvation

import (
	"cmp"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "starvation"

// Thresholds decide when the detector reports goroutines that waited for a P far longer than
// equal sharing explains. Fields whose names end in Ns are in nanoseconds; shares are
// fractions from 0 to 1.
type Thresholds struct {
	LongNs   int64 `json:"long_ns"`   // shorter waits are not looked at
	SevereNs int64 `json:"severe_ns"` // a wait this long is severe
	// Stretch is how many times longer than under equal sharing a wait must be.
	Stretch float64 `json:"stretch"`
	// QueueShare and QueueNs: severe waits that sharing does explain are worth a
	// note from this share of all P-time, and this much of them, on.
	// QueueSome is the share of the duration in which somebody must have waited,
	// and QueueMinNs the least duration: a burst of work is no lack of Ps.
	QueueShare float64 `json:"queue_share"`
	QueueNs    int64   `json:"queue_ns"`
	QueueSome  float64 `json:"queue_some"`
	QueueMinNs int64   `json:"queue_min_ns"`
	// MinCount is the number of starved waits from which on it is more than a note.
	// One as long as AloneNs suffices.
	MinCount int64 `json:"min_count"`
	AloneNs  int64 `json:"alone_ns"`
	// ManyCount is the number of starved waits from which on they are more than
	// a note although none is of SevereNs.
	ManyCount int64 `json:"many_count"`
	// PlainShare is the share of the waiting of those that waited longest behind others of
	// their own class from which on it is no more than a note.
	PlainShare float64        `json:"plain_share"`
	Grade      findings.Grade `json:"grade"` // severities, by the waiting beyond equal sharing
}

// Default returns the thresholds that apply unless a configuration sets others.
func Default() Thresholds {
	g := findings.DefaultGrade()
	g.NoteNs = 10_000_000
	return Thresholds{LongNs: 1_000_000, SevereNs: 10_000_000, Stretch: 3, QueueShare: 0.1, QueueNs: 100_000_000, QueueSome: 0.5, QueueMinNs: 100_000_000, MinCount: 3, AloneNs: 100_000_000, ManyCount: 100, PlainShare: 0.8, Grade: g}
}

// New returns the detector that reports goroutines that waited for a P far longer than equal
// sharing explains, with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindSymptom,
		InLine: findings.Queued(),
		Remedy: findings.Remedy{ProcsTimes: 2, Why: "more Ps, or as much less to do for each; if the machine has the cores"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view}
			view.Runs(findings.RunFilter{MinWaitNs: t.LongNs}, w.run)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	starved findings.Tally // the excess of starved waits
	severe  int64          // of them, those of SevereNs or more
	waited  int64          // their whole length
	longest int64
	open    int64 // still waiting at the end
	queued  findings.Tally
	load    float64 // highest of the queued
}

// run judges the wait before a run interval: only its length tells how much
// the goroutine wanted.
func (w *watcher) run(r *findings.Run) {
	if !r.Counted || w.feeds(r) {
		return
	}
	w.compare(r.Wait, max(r.Ns(), w.view.ClassStat(r.Class).Mean()), r.Load,
		findings.Cell{Class: r.Class, From: r.From - r.Wait, To: r.From, G: r.G, P: r.P, Stack: r.Stack})
}

// feeds reports whether a goroutine that had waited for room in a channel was kept from
// running by nothing but the one that made room and that has not blocked since: there was
// no lack of what it sends.
func (w *watcher) feeds(r *findings.Run) bool {
	g := w.view.Goroutine()
	if g == nil || g.ID != r.G || g.Reason != reference.ReasonChanSend || g.Waker < 0 {
		return false
	}
	by := w.view.ByID(g.Waker)
	return by != nil && by.ID != g.ID && by.BlockedAt < r.From-r.Wait
}

// compare compares a wait with what equal sharing of the Ps among all that wanted
// them would have given: a goroutine that needs x is through after x times the
// load, so it waits that long less x.
func (w *watcher) compare(wait, need int64, load float64, c findings.Cell) {
	fair := int64(float64(max(1, need)) * (load - 1))
	if float64(wait) < w.t.Stretch*float64(max(1, need))*load {
		if wait >= w.t.SevereNs {
			c.Ns = wait
			w.queued.Add(&c)
			w.load = max(w.load, load)
		}
		return
	}
	c.Ns = wait - fair
	w.starved.Add(&c)
	w.waited += wait
	w.longest = max(w.longest, wait)
	if wait >= w.t.SevereNs {
		w.severe++
	}
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	w.view.Everyone(func(g *findings.Goroutine) {
		if wait := f.EndNs - g.ReadyAt; wait >= w.t.LongNs && !g.Self {
			need := cmp.Or(w.view.ClassStat(g.Class).Mean(), w.view.MeanRun())
			n := w.starved.Total.N
			w.compare(wait, need, w.view.LoadOf(g), findings.Cell{Class: g.Class, From: g.ReadyAt, To: f.EndNs, G: g.ID, P: g.P, Stack: g.Stack})
			w.open += w.starved.Total.N - n
		}
	})
	if list := w.findStarved(f); list != nil {
		return list
	}
	return w.findQueued(f)
}

// findStarved judges the waits that equal sharing does not explain.
func (w *watcher) findStarved(f *findings.Facts) []findings.Finding {
	total := w.starved.Total
	s, ok := w.t.Grade.Severity(total.Ns, f.RecordedNs())
	if !ok || w.severe == 0 && s == findings.Note {
		return nil
	}
	if w.severe == 0 {
		if s == findings.Critical {
			s = findings.Warning
		}
		if total.N < w.t.ManyCount {
			s = findings.Note
		}
	}
	if total.N < w.t.MinCount && w.longest < w.t.AloneNs || w.plain(f) || w.inside(total.Ns) {
		s = findings.Note
	}
	x := total.Finding(s, findings.Certain)
	x.Feigned = findings.ByStall
	x.Actors = w.starved.Actors(f, findings.Victim, 4)
	ahead := aheadOf(f, total)
	x.Actors = append(x.Actors, w.causes(f, ahead)...)
	x.Headline = findings.Say("%s %s their fair share; the longest: %s",
		quantity.Plural(total.N, "wait exceeded", "waits exceeded"), quantity.Times(w.t.Stretch), quantity.Duration(w.longest))
	x.Title = findings.Say("%s of over %s took more than %s what sharing the Ps fairly would have; the longest %s",
		quantity.Plural(total.N, "wait", "waits"), quantity.Duration(w.t.LongNs), quantity.Times(w.t.Stretch), quantity.Duration(w.longest))
	x.Measured("starved waits", findings.Count(total.N), findings.Time(w.t.LongNs).With(", and %s equal sharing", quantity.Times(w.t.Stretch)))
	x.Measured("longest of them", findings.Time(w.longest), findings.Time(w.t.SevereNs))
	x.Measured("of them severe", findings.Count(w.severe), findings.Time(w.t.SevereNs))
	x.Measured("their length, summed", findings.Time(w.waited))
	x.Measured("of it, more than equal sharing", findings.Time(total.Ns))
	if u := f.Waits.User; u.TotalNs > 0 {
		x.Measured("all waiting of the program", findings.Time(u.TotalNs))
		x.Measured("time-weighted median wait", findings.Time(u.TimeWeighted.P50))
		x.Measured("share of it in waits over 10 ms", findings.Share(u.TailMass["10ms"]))
	}
	if w.open > 0 {
		x.Measured("starved waits that the end of the trace cut off", findings.Count(w.open))
	}
	for _, a := range ahead {
		x.MeasuredOf(findings.Say("ran on that P during the longest wait: %s", findings.Name(f.Named(findings.Cause, a.Class, a.Name).Class)), findings.Said("%s in %s", quantity.Duration(a.Ns), quantity.Plural(a.Runs, "run", "runs")).Of(a.Ns))
	}
	x.Advise("%s", advice(f))
	return []findings.Finding{x}
}

// causes returns who is to blame, if what the class that waited longest mostly waited for
// was somebody's doing: those who ran ahead of it, or made the system calls
// that held Ps.
func (w *watcher) causes(f *findings.Facts, ahead []waits.RanAhead) (out []findings.Actor) {
	accounts := w.accounts(f)
	if len(accounts) == 0 {
		return nil
	}
	c := accounts[0]
	var queued, held int64
	for _, x := range c.Waits.Causes {
		switch x.Cause {
		case waits.CauseQueueing, waits.CauseOvertaken:
			queued += x.Ns
		case waits.CauseUnavailable:
			held += x.Ns
		}
	}
	switch {
	case 2*queued >= c.Waits.TotalNs:
		for _, a := range ahead {
			out = append(out, f.Named(findings.Cause, a.Class, a.Name))
		}
	case 2*held >= c.Waits.TotalNs:
		for _, h := range c.Held {
			if h.Cause == waits.CauseUnavailable && h.Name != "" && len(out) < maxHolders {
				a := f.Named(findings.Cause, h.Class, h.Name)
				a.Stack = h.Stack
				out = append(out, a)
			}
		}
	}
	return out
}

// maxHolders is of how many it is said that their system calls held Ps.
const maxHolders = 2

// accounts are those of the class that waited longest.
func (w *watcher) accounts(f *findings.Facts) (list []*waits.Class) {
	for _, top := range w.starved.Top(1) {
		name := string(f.Name(top.Class))
		for i := range f.Waits.Classes {
			if c := &f.Waits.Classes[i]; c.Name == name {
				list = append(list, c)
			}
		}
	}
	return list
}

// plain reports whether nearly all of those that waited longest stood in line behind others
// of their own class: then there was more work than Ps, and they are equals.
func (w *watcher) plain(f *findings.Facts) bool {
	var equals, behind, all int64
	for _, c := range w.accounts(f) {
		for _, x := range c.Waits.Causes {
			all += x.Ns
			if x.Cause == waits.CauseQueueing {
				behind += x.Ns
			}
		}
		for _, a := range c.Antagonists {
			if a.Name == c.Name {
				equals += a.Ns
			}
		}
	}
	return all > 0 && float64(min(equals, behind)) >= w.t.PlainShare*float64(all)
}

// inside reports whether nearly all that starved are stages of one piece of work, which wait
// behind those whose results they take, or whom they feed: these have the Ps, and nobody else
// waits for what comes out.
func (w *watcher) inside(ns int64) bool {
	var of int64
	for _, c := range w.starved.Cells {
		class := w.view.ClassStat(c.Class)
		if by := w.view.ClassStat(class.Waker.For); class.Serves(class.Waker.For) && by.Busy() && 2*by.RunNs >= w.view.AllRunNs() {
			of += c.Ns
		}
	}
	return float64(of) >= w.t.PlainShare*float64(ns)
}

// findQueued judges the long waits that equal sharing does explain.
func (w *watcher) findQueued(f *findings.Facts) []findings.Finding {
	q := w.queued.Total
	if f.RecordedNs() < w.t.QueueMinNs || f.Pressure.Some < w.t.QueueSome || q.Ns < w.t.QueueNs || float64(q.Ns) < w.t.QueueShare*float64(f.PT()) {
		return nil
	}
	x := q.Finding(findings.Note, findings.Certain)
	x.Actors = w.queued.Actors(f, findings.Victim, 3)
	x.Headline = findings.Say("More work than Ps: up to %s goroutines wanted each P", quantity.Number(w.load))
	x.Title = findings.Say("There was more work than Ps: %s of %s or more are plain queueing, up to %s goroutines for each P",
		quantity.Plural(q.N, "wait", "waits"), quantity.Duration(w.t.SevereNs), quantity.Number(w.load))
	x.Measured("waits that equal sharing explains", findings.Count(q.N), findings.Time(w.t.SevereNs))
	x.Measured("summed", findings.Time(q.Ns), findings.Share(w.t.QueueShare).With(" of the P-time"))
	x.Measured("goroutines that wanted each P, at most", findings.Number(w.load))
	x.Advise("Nobody is treated unfairly; the load is too high for this many Ps. Run fewer CPU-bound goroutines at once, do less work, %s", morePs(f))
	return []findings.Finding{x}
}

// aheadOf returns who ran most during the worst wait, if that is known.
func aheadOf(f *findings.Facts, worst findings.Cell) []waits.RanAhead {
	for i := range f.Waits.Worst {
		s := &f.Waits.Worst[i]
		if s.G == worst.G && s.FromNs == worst.From {
			return s.Ahead[:min(3, len(s.Ahead))]
		}
	}
	return nil
}

// morePs reports whether more Ps would help, by what is known of the CPUs.
func morePs(f *findings.Facts) string {
	switch {
	case f.CPUs == 0:
		return "or raise GOMAXPROCS if the machine has free cores."
	case f.CPUs >= float64(f.GOMAXPROCS+1):
		return "or raise GOMAXPROCS up to " + quantity.Count(int64(f.CPUs)) + ": the process had so many CPUs, as told."
	}
	return "or give the process more CPUs: it had none for more Ps."
}

// byCause reports which detector explains a cause of waiting further.
var byCause = map[waits.Cause]string{
	waits.CauseSTW:            "Most waiting is for a stopped world: look at what stops it, and how long the last P takes to stop.",
	waits.CauseUnavailable:    "Most waiting is for a P that a system call or a locked thread holds: move blocking calls and locked threads away from urgent work.",
	waits.CauseGC:             "Most waiting is behind mark workers of the garbage collector: allocate less, or raise GOGC or GOMEMLIMIT.",
	waits.CausePWakingUp:      "Most waiting is for a P that was waking up: threads start slowly on this machine.",
	waits.CauseIdlePAvailable: "Most waiting happened while a P was idle: check what keeps this machine from waking threads in time: other programs, a CPU quota, more Ps than CPUs, power saving.",
	waits.CauseQueueing:       "Most waiting is behind goroutines that were there earlier: make fewer runnable at once, split the long runs among them, or give them more Ps if the machine has the cores.",
	waits.CauseOvertaken:      "Most waiting is for goroutines that came later and ran first: look at pairs that wake one another without end, and at producers that fill the queue of their own P.",
	waits.CauseTracer:         "Most waiting is for the tracer itself: trace less.",
	waits.CauseOverhead:       "Most waiting happened while no goroutine ran on the P: the machine may have fewer free cores than Ps.",
}

func advice(f *findings.Facts) string {
	var best waits.CauseTime
	for _, c := range f.Waits.User.Causes {
		if c.Ns > best.Ns {
			best = c
		}
	}
	if a := byCause[best.Cause]; a != "" {
		return a
	}
	return "Look at who ran meanwhile."
}

// Package timerlateness is the detector timer-lateness: did timers come late,
// because no P looked at them, or too many were due at once? doc.md explains it.
package timerlateness

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "timer-lateness"

// Thresholds decide when the detector reports timers that fired late, or too many at once.
// Fields whose names end in Ns are in nanoseconds; shares are fractions from 0 to 1.
type Thresholds struct {
	LateNs   int64   `json:"late_ns"`   // how long a timer may have been due, or a goroutine of a storm have waited, to be late
	MinCount int64   `json:"min_count"` // least number of late timers of one class
	Often    float64 `json:"often"`     // least share of late ones in all timers of the class
	Ratio    float64 `json:"ratio"`     // lateness of the class to the time that it sleeps, from which on it may be more than a note
	Least    float64 `json:"least"`     // lateness of the class to the time that it sleeps, from which on it is worth a note
	// A storm is at least Storm timers, and StormPerP for each P, with no more than
	// ApartNs from one to the next.
	Storm     int64          `json:"storm"`
	StormPerP int64          `json:"storm_per_p"`
	ApartNs   int64          `json:"apart_ns"`
	Grade     findings.Grade `json:"grade"` // severities, by the estimated lateness of the timers; for more than a note only of classes that reach Ratio
}

// Default returns the thresholds that apply unless a configuration sets others. LateNs is the
// resolution of the network poller's time-out, within which timers are late without anyone's
// doing (golang/go#44343); with Ratio, a ticker of 100 ms may be late by half a time slice of
// 20 ms, as it is beside goroutines that compute on all Ps by design: of the labelled
// recordings in which nothing is wrong the highest ratio is 10 %, and of those in which late
// timers are what is wrong the lowest is 13.6 %. There, 9 % of the timers were late; what is
// rarer than half of that happens anyway. The storm's size is that of a herd in
// thundering-herd.
func Default() Thresholds {
	return Thresholds{LateNs: 1_000_000, MinCount: 10, Often: 0.05, Ratio: 0.125, Least: 0.02, Storm: 32, StormPerP: 2, ApartNs: 100_000, Grade: findings.DefaultGrade()}
}

// New returns the detector that reports timers that fired late, or too many at once, with
// thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindSymptom, CostOf: findings.OfBlocked,
		Remedy: findings.Remedy{Why: "the time before the wake-up is no waiting for a P"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{
				t: t, view: view, allocators: findings.NewAllocators(view), overdue: findings.NewOverdue(view),
				classes: findings.NewTable(findings.MaxKept, newClass),
			}
			w.view.Runs(findings.RunFilter{MinNs: t.LateNs}, w.run)
			w.view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindReady}, Whys: []reference.Why{reference.WhyTimer}}, w.ready)
			w.view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindStart}, ReadyWhys: []reference.Why{reference.WhyTimer}}, w.start)
			return w
		},
	}
}

type watcher struct {
	t          Thresholds
	view       *findings.View
	allocators *findings.Allocators

	overdue *findings.Overdue
	freaks  []freakAt // by P
	storms  [storms]storm
	storm   int // the present one in storms

	classes findings.Table[int32, class]
	causes  findings.Tally
	stormy  findings.Tally // waits in storms
	most    int64          // timers in one storm
	count   int64          // storms that someone waited in
}

// freakAt is the last run interval that was far longer than those of its class: its
// thread may have had no CPU.
type freakAt struct{ from, to int64 }

// storm is a row of timers that fired one right after another.
type storm struct {
	from, to, n int64
	waited      bool // someone counts as having waited
}

// A run interval is a freak if it is freak times the median of its class, of which
// usual are known, and no more than one in rare is of LateNs and more; as in
// findings.View.Strained.
const (
	usual = 10
	freak = 20
	rare  = 50
)

const storms = 16 // that goroutines may still wait from

// class is the timers that its goroutines waited for.
type class struct {
	n     int64 // all
	slept int64 // ns in them
	// late are those that fired after a P had run something for LateNs or more, and how long they may have been due.
	late   findings.Cell
	waits  int64 // of goroutines that fired in storms, LateNs or longer
	waitNs int64
}

func newClass(id int32) class { return class{late: findings.Cell{Class: id, P: reference.NoP}} }

// latenessNs is the estimate of the class's lateness: a timer that fired when a run
// interval was over was due at some time in it, half of it ago on average.
func (c *class) latenessNs() int64 { return c.late.Ns/2 + c.waitNs }

// ratio is that to the time slept.
func (c *class) ratio() float64 { return float64(c.latenessNs()) / float64(max(1, c.slept)) }

func (w *watcher) run(r *findings.Run) {
	if r.Why == reference.WhySlice {
		return
	}
	c := w.view.ClassStat(r.Class)
	if c.Runs < usual || r.Ns() < freak*c.Median() || rare*c.Over(w.t.LateNs) > c.Runs {
		return
	}
	*findings.Entry(&w.freaks, r.P, freakAt{}) = freakAt{r.From, r.To}
}

func (w *watcher) ready(d *reference.Decision) {
	g := w.view.Goroutine()
	if g == nil || g.System || g.BlockedNs < 0 {
		return
	}
	w.blow(d.Time)
	c := w.classes.At(g.Class)
	if c == nil {
		return
	}
	c.n++
	c.slept += g.BlockedNs
	held, l := w.overdue.TimerDelay(g, d)
	if l == nil || held < w.t.LateNs || int(d.P) < len(w.freaks) && w.freaks[d.P] == (freakAt{l.From, l.To}) {
		return
	}
	c.late.Add(&findings.Cell{Ns: held, From: d.Time - held, To: d.Time, G: g.ID, P: d.P, Stack: g.Stack})
	w.causes.Add(&findings.Cell{Class: l.Class, Ns: held, From: l.From, To: l.To, G: l.G, P: d.P, Stack: l.Stack})
}

// blow adds a timer to the storm that it belongs to.
func (w *watcher) blow(now int64) {
	s := &w.storms[w.storm]
	if now-s.to > w.t.ApartNs {
		w.storm = (w.storm + 1) % storms
		s = &w.storms[w.storm]
		*s = storm{from: now}
	}
	s.to = now
	s.n++
}

func (w *watcher) start(d *reference.Decision) {
	g := w.view.Goroutine()
	if g == nil || g.Wait < w.t.LateNs || g.System {
		return
	}
	c := w.classes.Find(g.Class)
	if c == nil {
		return
	}
	at := d.Time - g.Wait
	for k := range w.storms {
		s := &w.storms[k]
		if at < s.from || at > s.to || s.n < max(w.t.Storm, w.t.StormPerP*w.view.Procs()) {
			continue
		}
		c.waits++
		c.waitNs += g.Wait
		w.most = max(w.most, s.n)
		if !s.waited {
			w.count++
			s.waited = true
		}
		w.stormy.Add(&findings.Cell{Class: g.Class, Ns: g.Wait, From: at, To: d.Time, G: g.ID, P: d.P, Stack: g.Stack})
		return
	}
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	classes, sum, bad := w.sums()
	cost := sum.latenessNs()
	s, ok := w.t.Grade.Severity(bad, f.RecordedNs())
	if !ok {
		if _, ok = w.t.Grade.Severity(cost, f.RecordedNs()); !ok {
			return nil
		}
		s = findings.Note
	}
	x := findings.Finding{Severity: s, CostNs: cost, FromNs: sum.late.From, ToNs: sum.late.To, Basis: findings.Inferred, Feigned: findings.ByStall}
	// Storms cost more than timers that fired at the end of a long run.
	storm := sum.waits > 0 && (sum.late.N == 0 || sum.waitNs > sum.late.Ns/2)
	if storm {
		x.FromNs, x.ToNs = w.stormy.Total.From, w.stormy.Total.To
	}
	for _, c := range classes {
		x.Actors = append(x.Actors, c.late.Actor(f, findings.Victim))
	}
	if sum.late.N > 0 {
		causes := w.causes.Actors(f, findings.Cause, 2)
		if doing := w.view.Doing(f, w.causes.Top(1)[0].Class); doing != nil {
			causes[0].Stack = doing
		}
		x.Actors = append(x.Actors, causes...)
	}
	for _, c := range classes {
		x.MeasuredOf(findings.Say("lateness of %s to its sleeps", f.Name(c.late.Class)), findings.Share(c.ratio()).With(" (%s for each of %s, blocked for %s on average)", quantity.Duration(c.latenessNs()/max(1, c.n)), quantity.Count(c.n), quantity.Duration(c.slept/max(1, c.n))).Of(c.latenessNs()), findings.Share(w.t.Ratio))
	}
	late := &sum.late
	if late.N > 0 {
		x.Measured("timers that fired at the end of a long run", findings.Count(late.N).With(" of %s", quantity.Count(sum.n)), findings.Count(w.t.MinCount).With(" of %s", quantity.Duration(w.t.LateNs)))
		x.Measured("how long they may have been due, summed; the cost is half of it", findings.Time(late.Ns))
		x.Measured("the longest", findings.Time(late.Worst), findings.Time(w.t.LateNs))
		class := f.Name(w.causes.Top(1)[0].Class)
		name, short := findings.Say("%s", class), findings.Say("%s", findings.Short(class))
		if a := x.Cause(); a != nil {
			name, short = a.Work(), findings.Say("%s", a.Brief())
		}
		x.Advise("Split the long runs of %s, or let others in between with runtime.Gosched: a P looks at its timers only when a goroutine leaves it, unless another P is idle.", name)
		x.Advise("Keep a P free: run fewer such goroutines at once than GOMAXPROCS.")
		if class == markWorker {
			x.Advice[0] = w.allocators.Advice(f)
			name, short = findings.Say("a mark worker of the garbage collector"), findings.Say("mark workers of the garbage collector")
		}
		x.Headline = findings.Say("%s late, after runs of %s", quantity.Plural(late.N, "timer fired", "timers fired"), short)
		x.Title = findings.Say("%s fired only when %s left its P, after %s on average, with no P idle: they were due at some time before", quantity.Plural(late.N, "timer", "timers"), name, quantity.Duration(late.Ns/late.N))
	}
	if sum.waits > 0 {
		x.Measured("most timers that fired in a row", findings.Count(w.most), findings.Count(max(w.t.Storm, w.t.StormPerP*int64(max(1, f.GOMAXPROCS)))))
		x.Measured("goroutines of such storms that waited for a P", findings.Count(sum.waits), findings.Time(w.t.LateNs).With(" each"))
		x.Measured("their waits, summed", findings.Time(sum.waitNs))
		if storm {
			x.Headline = findings.Say("Up to %s timers fire at once", quantity.Count(w.most))
			x.Title = findings.Say("%s in which up to %s timers fired at once made goroutines wait, up to %s", quantity.Plural(w.count, "storm", "storms"), quantity.Count(w.most), quantity.Duration(w.stormy.Total.Worst))
		}
		x.Advise("Spread the timers: start the tickers at different times, or add a random part to the sleeps.")
		x.Advise("Have one goroutine with one ticker do the round of what is due, in place of a timer for each.")
	}
	return []findings.Finding{x}
}

// maxVictims is how many classes are named.
const maxVictims = 3

// sums returns the classes with late timers, the worst ones, worst first, the sum of all such, and what
// is lost where it matters.
func (w *watcher) sums() (classes []*class, sum class, lost int64) {
	for _, c := range w.classes.List {
		if bad := c.late.N + c.waits; bad < w.t.MinCount || float64(bad) < w.t.Often*float64(c.n) || c.ratio() < w.t.Least {
			continue
		}
		classes = append(classes, c)
		if c.ratio() >= w.t.Ratio {
			lost += c.latenessNs()
		}
		sum.n += c.n
		sum.slept += c.slept
		sum.late.Merge(&c.late)
		sum.waits += c.waits
		sum.waitNs += c.waitNs
	}
	slices.SortFunc(classes, func(x, y *class) int {
		return cmp.Or(cmp.Compare(y.latenessNs(), x.latenessNs()), cmp.Compare(x.late.Class, y.late.Class))
	})
	return classes[:min(maxVictims, len(classes))], sum, lost
}

// markWorker is the start function of the collector's mark workers.
const markWorker = "runtime.gcBgMarkWorker"

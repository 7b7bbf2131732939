// Package wakeupcost is the detector wakeup-cost: do goroutines wake each other, or have
// timers wake them, for less work than the wake-up takes? doc.md explains it.
package wakeupcost

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	globalqueueneglect "github.com/gmpscope/gmpscope/analyze/findings/global-queue-neglect"
	localityloss "github.com/gmpscope/gmpscope/analyze/findings/locality-loss"
	pthrash "github.com/gmpscope/gmpscope/analyze/findings/p-thrash"
	runnextmonopoly "github.com/gmpscope/gmpscope/analyze/findings/runnext-monopoly"
	"github.com/gmpscope/gmpscope/analyze/findings/serialization"
	"github.com/gmpscope/gmpscope/analyze/findings/starvation"
	stealstorm "github.com/gmpscope/gmpscope/analyze/findings/steal-storm"
	timerlateness "github.com/gmpscope/gmpscope/analyze/findings/timer-lateness"
	workconservation "github.com/gmpscope/gmpscope/analyze/findings/work-conservation"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "wakeup-cost"

// Thresholds decide when the detector reports wake-ups for less work than the wake-up itself
// takes. Fields whose names end in Ns are in nanoseconds; shares are fractions from 0 to 1.
type Thresholds struct {
	// A run interval of at most ShortNs, after which the goroutine waits again, is not
	// worth the wake-up.
	ShortNs int64 `json:"short_ns"`
	// PerSecond is how many of them there must be in a second of the recording.
	PerSecond float64 `json:"per_second"`
	// ShortShare is the share of the run intervals after wake-ups at one place that must
	// be so short.
	ShortShare float64 `json:"short_share"`
	// MinNs is the least P-time that they take, and the Ps' way to them.
	MinNs int64 `json:"min_ns"`
	// Shares of the P-time that was not idle that such run intervals, and the Ps' way to them, take.
	NoteShare     float64 `json:"note_share"`
	WarningShare  float64 `json:"warning_share"`
	CriticalShare float64 `json:"critical_share"`
}

// Default returns the thresholds that apply unless a configuration sets others. A P takes a
// quarter of a microsecond from one goroutine to the next, and several microseconds where a
// thread has to wake up for it; the thresholds are ours.
func Default() Thresholds {
	return Thresholds{ShortNs: 2_000, PerSecond: 10_000, ShortShare: 0.75, MinNs: 5_000_000, NoteShare: 0.03, WarningShare: 0.1, CriticalShare: 0.4}
}

// New returns the detector that reports wake-ups for less work than the wake-up itself takes,
// with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, Counted: true, CostOf: findings.OfPTime,
		Explains: []string{
			starvation.ID, timerlateness.ID, runnextmonopoly.ID, stealstorm.ID, pthrash.ID, workconservation.ID,
			globalqueueneglect.ID, localityloss.ID, serialization.ID,
		},
		Remedy: findings.Remedy{Why: "the model keeps the order of wake-ups that the recording has"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view}
			w.sites.Table = findings.NewTable(maxSites, func(at place) site { return site{place: at} })
			view.Runs(findings.RunFilter{Whys: []reference.Why{reference.WhyBlock}}, w.run)
			return w
		},
	}
}

type watcher struct {
	t     Thresholds
	view  *findings.View
	sites findings.CachedTable[place, site]
}

// place is where goroutines wake others: the stack of the waker. Where a timer does, it is
// the stack at which the goroutine goes to sleep again.
type place struct {
	stack int32
	timer bool
}

// maxSites bounds memory; what comes later is not shown.
const maxSites = 4096

// site is what happened at a place.
type site struct {
	place
	class    int32 // of the waker, or of who sleeps
	g        int64
	n        int64 // run intervals of those who were woken
	short    int64 // of them
	shortNs  int64
	switchNs int64 // of Ps, before the short ones
	woken    findings.Tally
	from, to int64
}

func (w *watcher) run(r *findings.Run) {
	g := w.view.Goroutine()
	if g == nil || g.ID != r.G || r.System {
		return
	}
	var s *site
	switch {
	case g.ReadyWhy == reference.WhyUnblock && g.Waker >= 0 && g.WakeStack != 0:
		s = w.site(place{stack: g.WakeStack}, g.Waker)
	case g.ReadyWhy == reference.WhyTimer && g.Reason == reference.ReasonSleep && g.Stack == r.Stack && r.Stack != 0:
		s = w.site(place{r.Stack, true}, g.ID)
	}
	if s == nil {
		return
	}
	ns := r.Ns()
	s.n++
	if r.SyscallNs > 0 || ns > w.t.ShortNs {
		return
	}
	s.short++
	s.shortNs += ns
	s.switchNs += r.IdleWait
	s.to = r.To
	if s.short&sampled == 1 {
		s.woken.Add(&findings.Cell{Class: r.Class, Ns: ns + r.IdleWait, From: r.From, To: r.To, G: r.G, P: r.P, Stack: r.Stack})
	}
}

// sampled: of the goroutines that are woken, one in so many plus one is looked at.
const sampled = 15

func (w *watcher) site(at place, by int64) *site {
	s := w.sites.AtHash(at, uint32(at.stack))
	if s != nil && s.n == 0 { // it is new
		s.g, s.from = by, w.view.Now()
		if g := w.view.ByID(by); g != nil {
			s.class = g.Class
		}
	}
	return s
}

// group is the sites whose wakers and woken are of the same classes: a pair that
// answers one another is one.
type group struct {
	sites          []*site
	n              int64
	short, shortNs int64
	switchNs       int64
}

// classes are those of wakers and woken, whichever way round.
type classes struct {
	a, b  int32
	timer bool
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	byClasses := findings.NewTable(maxSites, func(classes) group { return group{} })
	for _, s := range w.sites.List {
		if float64(s.short) < w.t.ShortShare*float64(s.n) || s.short == 0 {
			continue
		}
		woken := s.woken.Top(1)[0].Class
		byClasses.At(classes{min(s.class, woken), max(s.class, woken), s.timer}).add(s)
	}
	groups := byClasses.List
	slices.SortStableFunc(groups, func(x, y *group) int { return cmp.Compare(y.cost(), x.cost()) })
	return findings.Each(f, groups[:min(maxGroups, len(groups))], w.finding)
}

// maxGroups is how many are reported, the costliest ones.
const maxGroups = 2

func (x *group) add(s *site) {
	x.sites = append(x.sites, s)
	x.short += s.short
	x.shortNs += s.shortNs
	x.switchNs += s.switchNs
	x.n += s.n
}

// cost is the time of Ps that the wake-ups took, and what little came after them.
func (x *group) cost() int64 { return x.shortNs + x.switchNs }

func (w *watcher) finding(f *findings.Facts, x *group) []findings.Finding {
	share := float64(x.cost()) / float64(max(1, f.BusyNs())) // of the P-time that was not idle
	perSecond := float64(x.short) / (float64(max(1, f.RecordedNs())) / 1e9)
	s, ok := findings.ByShare(share, w.t.NoteShare, w.t.WarningShare, w.t.CriticalShare)
	if !ok || perSecond < w.t.PerSecond || x.cost() < w.t.MinNs {
		return nil
	}
	slices.SortStableFunc(x.sites, func(a, b *site) int {
		return cmp.Or(cmp.Compare(b.short, a.short), cmp.Compare(a.stack, b.stack))
	})
	top := x.sites[0]
	y := findings.Finding{Severity: s, CostNs: x.cost(), FromNs: top.from, ToNs: top.to, Basis: findings.Certain}
	for _, s := range x.sites[:min(2, len(x.sites))] {
		y.Actors = append(y.Actors, f.Actor(findings.Cause, s.class, s.g, s.stack))
	}
	cause := &y.Actors[0]
	sleeper, place := findings.InnermostFunction(cause.Stack, f.Tested)
	y.MeasuredOf(findings.Say("wake-ups%s, after which the one woken ran for at most %s and waited again", findings.At(" at %s", place), quantity.Duration(w.t.ShortNs)), findings.Count(x.short))
	y.Measured("a second", findings.Rate(perSecond), findings.Rate(w.t.PerSecond))
	y.Measured("of all wake-ups at these places", findings.Share(float64(x.short)/float64(max(1, x.n))), findings.Share(w.t.ShortShare))
	y.Measured("they ran", findings.Time(x.shortNs))
	y.Measured("Ps took from one goroutine to the next", findings.Time(x.switchNs))
	y.Measured("both, of the P-time that was not idle", findings.Share(share).Of(x.cost()), findings.Share(w.t.WarningShare))
	often, mean, of := quantity.Plural(int64(perSecond), "time", "times"), quantity.Duration(x.shortNs/max(1, x.short)), quantity.Percent(share)
	if top.timer {
		sleeper = cmp.Or(sleeper, f.Name(top.class))
		y.Headline = findings.Say("%s sleeps and wakes up for next to nothing, %s a second", sleeper, often)
		y.Title = findings.Say("%s sleeps, and wakes up for next to nothing: %s a second, each for %s of work (mean); with the way there they take %s of the P-time that was not idle",
			sleeper, often, mean, of)
		y.Advise("Let %s block until there is something to do, in a channel or a sync.Cond, instead of looking again and again after a sleep.", sleeper)
		y.Advise("Where it must look, let one goroutine look for all, and less often: as many goroutines as sleep there all wake up.")
		return []findings.Finding{y}
	}
	waker := cause.AtInnermost()
	y.Headline = findings.Say("%s wakes others for next to nothing, %s a second", waker.Short(), often)
	y.Title = findings.Say("%s wakes %s for next to nothing: %s a second, each for %s of work (mean); with the way there they take %s of the P-time that was not idle",
		waker.Work(), f.Name(top.woken.Top(1)[0].Class), often, mean, of)
	y.Advise("Hand over more at a time: let %s collect what it has and send it in batches, or give the channel a buffer, so that both sides go on working instead of waking one another for each item.", waker.Work())
	y.Advise("Or let one goroutine do both parts: where the other only takes the item and waits again, it gains nothing.")
	y.Actors = append(y.Actors, top.woken.Actors(f, findings.Victim, 2)...)
	return []findings.Finding{y}
}

// Package wakeupcost is the detector wakeup-cost: do goroutines wake each other, or have
// timers wake them, for less work than the wake-up takes? doc.md explains it.
package wakeupcost

import (
	_ "embed"

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
	"github.com/gmpscope/gmpscope/reference"
)

//go:embed doc.md
var doc string

// ID of the detector.
const ID = "wakeup-cost"

// Thresholds of the detector.
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

// Default returns the default thresholds. A P takes a quarter of a microsecond from one
// goroutine to the next, and several microseconds where a thread has to wake up for it;
// the thresholds are ours.
func Default() Thresholds {
	return Thresholds{ShortNs: 2_000, PerSecond: 10_000, ShortShare: 0.75, MinNs: 5_000_000, NoteShare: 0.03, WarningShare: 0.1, CriticalShare: 0.4}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Title: "wake-ups for next to no work", Doc: doc,
		Kind: findings.KindCause, Counted: true, CostOf: findings.OfPTime,
		Explains: []string{
			starvation.ID, timerlateness.ID, runnextmonopoly.ID, stealstorm.ID, pthrash.ID, workconservation.ID,
			globalqueueneglect.ID, localityloss.ID, serialization.ID,
		},
		Remedy: findings.Remedy{Why: "the model keeps the order of wake-ups that the recording has"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, at: map[place]int32{}}
			view.Runs(findings.RunFilter{Whys: []reference.Why{reference.WhyBlock}}, w.run)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	sites  []site
	at     map[place]int32
	recent [64]struct { // of those that were looked up
		place
		i int32
	}
}

// place is where goroutines wake others: the stack of the waker. Where a timer does, it is
// the stack at which the goroutine goes to sleep again.
type place struct {
	stack int32
	timer bool
}

// maxSites bounds memory; what comes later is not told.
const maxSites = 4096

// site is what happened at a place.
type site struct {
	place
	class    int32 // of the waker, or of who sleeps
	g        int64
	n, ns    int64 // run intervals of those who were woken
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
	s.ns += ns
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
	c := &w.recent[uint32(at.stack)%uint32(len(w.recent))]
	if c.place == at {
		return &w.sites[c.i]
	}
	i, ok := w.at[at]
	if !ok {
		if len(w.sites) == maxSites {
			return nil
		}
		i = int32(len(w.sites))
		w.at[at] = i
		s := site{place: at, g: by, from: w.view.Now()}
		if g := w.view.ByID(by); g != nil {
			s.class = g.Class
		}
		w.sites = append(w.sites, s)
	}
	c.place, c.i = at, i
	return &w.sites[i]
}

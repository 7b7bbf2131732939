// Package slowstage is the detector slow-stage: do many goroutines wait for one that
// is always busy? doc.md explains it.
package slowstage

import (
	"github.com/gmpscope/gmpscope/analyze/findings"
	busywaiting "github.com/gmpscope/gmpscope/analyze/findings/busy-waiting"
	"github.com/gmpscope/gmpscope/analyze/findings/convoy"
	localityloss "github.com/gmpscope/gmpscope/analyze/findings/locality-loss"
	"github.com/gmpscope/gmpscope/analyze/findings/serialization"
	"github.com/gmpscope/gmpscope/analyze/findings/starvation"
	stealstorm "github.com/gmpscope/gmpscope/analyze/findings/steal-storm"
	workconservation "github.com/gmpscope/gmpscope/analyze/findings/work-conservation"
	"github.com/gmpscope/gmpscope/analyze/ids"
	"github.com/gmpscope/gmpscope/reference"
)

// ID of the detector.
const ID = "slow-stage"

// Thresholds of the detector.
type Thresholds struct {
	// BusyShare is the share of its time in which the goroutine that others wait for must
	// not itself be blocked.
	BusyShare float64 `json:"busy_share"`
	// LifeShare is the share of the recording for which it must be known.
	LifeShare float64 `json:"life_share"`
	// MinWakes is how often it must have woken others, and MaxWaitNs what of one wait
	// counts at most: what is woken once, at the end, did not wait for a stage.
	MinWakes  int64 `json:"min_wakes"`
	MaxWaitNs int64 `json:"max_wait_ns"`
	// How many goroutines must wait for it on average.
	NoteLine     float64 `json:"note_line"`
	WarningLine  float64 `json:"warning_line"`
	CriticalLine float64 `json:"critical_line"`
	// IdleShare is the share of P-time that must be idle: else the Ps are what is short.
	IdleShare float64 `json:"idle_share"`
}

// Default returns the default thresholds. All are our own: one reader and one worker
// that wait for each other are no line.
func Default() Thresholds {
	return Thresholds{
		BusyShare: 0.8, LifeShare: 0.5, MinWakes: 20, MaxWaitNs: 50_000_000,
		NoteLine: 1.25, WarningLine: 1.5, CriticalLine: 4, IdleShare: 0.05,
	}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, CostOf: findings.OfBlocked, MaybeMeant: true,
		Explains: []string{serialization.ID, stealstorm.ID, starvation.ID, convoy.ID, workconservation.ID, localityloss.ID, busywaiting.ID},
		Remedy:   findings.Remedy{Speed: 2, Makespan: true, Why: "the stage in half of the time"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view}
			w.mark = view.NewMark()
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindReady}, Reasons: []reference.Reason{
				reference.ReasonChanSend, reference.ReasonChanReceive, reference.ReasonSelect, reference.ReasonCond,
			}}, w.woken)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindStart}, When: findings.StolenNext}, w.started)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindReady, reference.KindStop}, Mark: w.mark}, w.blocked)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindLost}}, w.lose)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View
	mark findings.Mark // of stages

	of     ids.Parts[int32] // by slot: index in stages, plus one
	stages []stage
	lost   int64 // ns that are not recorded
}

const (
	// maxStages bounds memory; what comes later is not told.
	maxStages = 4096
	// maxVictims is how many classes that wait for a stage are told apart.
	maxVictims = 3
)

// stage is a goroutine that wakes others.
type stage struct {
	g         int64
	class     int32
	since     int64 // it is known
	lost      int64 // watcher.lostP then
	own       int64 // ns that it waited for others since then
	away      int64 // ns that it was blocked for anything else: the network, a timer
	awayAt    int32 // the stack of the longest of these
	awayNs    int64 // which took so long
	blockedAt int64 // since when it is; -1: it is not
	n         int64 // goroutines that it woke
	sends     int64 // ns that they waited to send
	others    int64 // ns that they waited for anything else
	stack     int32 // where it woke the one that had waited longest
	worst     int64 // ns
	// Whom it waited for itself: the one that it waited for most, as far as one can
	// tell by a vote.
	by   int64
	byNs int64 // votes, ns

	victims  [maxVictims]victim
	from, to int64 // first and last wake-up
}

// victim is a class of goroutines that waited for a stage.
type victim struct {
	class int32
	g     int64 // one of them
	stack int32 // where it waited
	ns    int64
}

// add adds a wait to a stage's victims. Where there are too many classes the one with the
// least waiting makes room (Metwally and others, Efficient Computation of Frequent and
// Top-k Elements, 2005).
func (s *stage) add(g *findings.Goroutine, ns int64) {
	least := 0
	for i := range s.victims {
		v := &s.victims[i]
		if v.class == g.Class && v.ns > 0 {
			v.ns += ns
			return
		}
		if v.ns < s.victims[least].ns {
			least = i
		}
	}
	s.victims[least] = victim{g.Class, g.ID, g.Stack, s.victims[least].ns + ns}
}

func (w *watcher) woken(d *reference.Decision) {
	g, by := w.view.Goroutine(), w.view.Waker()
	if g == nil || by == nil || by == g || g.System || by.System || g.BlockedNs <= 0 {
		return
	}
	if by.Creator == g.ID && g.Reason != reference.ReasonChanSend {
		return // what it waits for is its own child: a call
	}
	s := w.stage(by)
	if s == nil {
		return
	}
	ns := min(g.BlockedNs, w.t.MaxWaitNs)
	s.n++
	s.waited(g, ns)
	if ns > s.worst {
		s.worst, s.stack = ns, d.Stack
	}
	s.to = d.Time
	s.add(g, ns)
	if v := w.known(g); v != nil {
		v.vote(by.ID, ns)
	}
}

// waited adds a wait of g that s ended.
func (s *stage) waited(g *findings.Goroutine, ns int64) {
	if g.Reason == reference.ReasonChanSend {
		s.sends += ns
	} else {
		s.others += ns
	}
}

// started adds to a stage's wait for the one that woke it how long it then lay in the
// runnext slot of that one's P, until another P stole it: the waker had the next thing to do
// all the while.
func (w *watcher) started(d *reference.Decision) {
	g := w.view.Goroutine()
	if g == nil || g.Wait <= 0 || g.BlockedNs <= 0 || !forOthers(g.Reason) {
		return
	}
	by := w.view.ByID(g.Waker)
	if by == nil || by == g {
		return
	}
	v, s := w.known(g), w.known(by)
	if v == nil || s == nil || s.blockedAt >= 0 {
		return
	}
	ns := min(g.Wait, w.t.MaxWaitNs)
	v.own += ns
	v.vote(by.ID, ns)
	s.waited(g, ns)
	s.add(g, ns)
}

// known returns the stage that g is, nil if it is none.
func (w *watcher) known(g *findings.Goroutine) *stage {
	if i := *w.of.Make(g.Slot()); i > 0 && w.stages[i-1].g == g.ID {
		return &w.stages[i-1]
	}
	return nil
}

func (w *watcher) stage(g *findings.Goroutine) *stage {
	if s := w.known(g); s != nil {
		return s
	}
	i := w.of.Make(g.Slot())
	// The place of one that has ended, and for which little waited, is free.
	if *i == 0 || w.stages[*i-1].n >= w.t.MinWakes {
		if len(w.stages) == maxStages {
			return nil
		}
		w.stages = append(w.stages, stage{})
		*i = int32(len(w.stages))
	}
	s := &w.stages[*i-1]
	*s = stage{}
	s.g, s.class, s.blockedAt, s.by = g.ID, g.Class, -1, reference.NoG
	s.since, s.from, s.lost = w.view.Now(), w.view.Now(), w.lost
	w.view.Mark(g.Slot(), w.mark)
	return s
}

// vote is for the one that ended a wait of s (Boyer and Moore's majority vote).
func (s *stage) vote(by, ns int64) {
	switch {
	case s.by == by:
		s.byNs += ns
	case s.byNs >= ns:
		s.byNs -= ns
	default:
		s.by, s.byNs = by, ns-s.byNs
	}
}

// blocked follows for how long a stage is blocked itself.
func (w *watcher) blocked(d *reference.Decision) {
	g := w.view.Goroutine()
	if g == nil {
		return
	}
	s := w.known(g)
	switch {
	case s == nil:
	case d.Kind == reference.KindStop && d.Why == reference.WhyBlock:
		s.blockedAt = d.Time
	case s.blockedAt >= 0:
		ns := d.Time - max(s.since, s.blockedAt)
		if forOthers(g.Reason) {
			s.own += ns
		} else {
			s.away += ns
			if ns > s.awayNs {
				s.awayNs, s.awayAt = ns, g.Stack
			}
		}
		s.blockedAt = -1
	}
}

// forOthers reports whether one who blocks for a reason waits for other goroutines.
func forOthers(r reference.Reason) bool {
	switch r {
	case reference.ReasonNetwork, reference.ReasonSleep:
		return false
	}
	return true
}

func (w *watcher) lose(d *reference.Decision) { w.lost += d.Wait }

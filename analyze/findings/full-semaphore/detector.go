// Package fullsemaphore is the detector full-semaphore: do goroutines stand in line
// because a function lets only a few through at a time? doc.md explains it.
package fullsemaphore

import (
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/reference"
)

// ID of the detector.
const ID = "full-semaphore"

// Thresholds of the detector.
type Thresholds struct {
	// Count is how many goroutines at least must have waited for a place.
	Count int64 `json:"count"`
	// MeanNs is for how long they must have waited on average.
	MeanNs int64 `json:"mean_ns"`
	// Line is how many must have waited at a time, on average while one did.
	Line float64 `json:"line"`
	// Share is the share of the duration in which one must have waited.
	Share float64 `json:"share"`
	// Blocked is the share of the time for which places were held in which those who had
	// them must have been blocked: a limit for work that computes is as it should be.
	Blocked float64 `json:"blocked"`
	// Passed is the share of the waits that must have been ended by one who had got a
	// place there before, and gave it up.
	Passed float64 `json:"passed"`
	// Grade of the waiting. It is at most a warning: the limit may be meant.
	Grade findings.Grade `json:"grade"`
}

// Default returns the default thresholds; the numbers are our own.
func Default() Thresholds {
	return Thresholds{Count: 20, MeanNs: 1_000_000, Line: 2, Share: 0.3, Blocked: 0.5, Passed: 0.6, Grade: findings.DefaultGrade()}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, AnyLength: true, Kind: findings.KindCause, CostOf: findings.OfBlocked, MaybeMeant: true,
		Remedy: findings.Remedy{Why: "what a semaphore guards is not in the trace: nobody can say that more at a time go as fast"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, at: map[stacks]*site{}, lines: map[int32]*line{}}
			view.Decisions(findings.DecisionFilter{
				Kinds: []reference.Kind{reference.KindReady}, Whys: []reference.Why{reference.WhyUnblock, reference.WhyTimer, reference.WhyNetwork},
			}, w.goesOn)
			view.Decisions(findings.DecisionFilter{
				Kinds:   []reference.Kind{reference.KindReady},
				Reasons: []reference.Reason{reference.ReasonChanSend, reference.ReasonChanReceive, reference.ReasonSelect, reference.ReasonCond},
			}, w.ready)
			return w
		},
	}
}

type watcher struct {
	t     Thresholds
	view  *findings.View
	at    map[stacks]*site
	sites []*site
	lines map[int32]*line // by the stack of the waits
	// Sites that were looked up, by their stacks.
	recent [64]*site
	// Who was let through last and still has a place, by ID; one overwrites another.
	through [tableSize]entry
}

const (
	maxSites   = 1024 // bounds memory; what comes later is not told
	tableSize  = 1024
	maxReasons = 32 // more than there are
	maxStacks  = 16 // of a site that are told apart
)

// stacks are where a goroutine waited for a place, where another gave up its own, and
// where that one had waited for it; 0 if it is not known to have had one.
type stacks struct{ wait, leave, got int32 }

// entry is a goroutine whose waits others ended: each of them may have been for a place.
type entry struct {
	g    int64
	gots [4]got // the last ones; the newest first
}

// drop forgets a wait.
func (e *entry) drop(i int) {
	for ; i+1 < len(e.gots); i++ {
		e.gots[i].set(&e.gots[i+1])
	}
	e.gots[i].set(&got{})
}

// got is the end of a wait: where it was, and when it ended; and where the goroutine was
// blocked longest since, and for how long there.
type got struct {
	at   int64
	wait int32

	blocked int64 // ns
	in      int32 // stack
	class   int32 // of the goroutine
	reason  reference.Reason
}

// set makes x equal to y. OPT: word by word, as a part of y may just have been written.
func (x *got) set(y *got) {
	x.at, x.wait, x.blocked, x.in, x.class, x.reason = y.at, y.wait, y.blocked, y.in, y.class, y.reason
}

// line is those who waited at one stack.
type line struct {
	lined int64 // ns in which somebody waited
	last  int64 // when the last one got a place
}

// site is what happened between some stacks.
type site struct {
	stacks
	line   *line
	reason reference.Reason // of the waits
	waits  findings.Tally
	// If those that ended the waits had waited for the place which they gave up:
	passed  int64 // so many waits
	held    int64 // for how long they had it, ns
	blocked [maxReasons]int64
	in      []held // of that, by the stack where they were
}

// held is for how long those of a class that had a place were blocked at a stack, ns.
type held struct {
	stack, class int32
	ns           int64
}

// add adds what one did that had a place until now, since it had got it.
func (s *site) add(x *got, now int64) {
	s.passed++
	s.held += now - x.at
	if x.blocked == 0 {
		return
	}
	s.blocked[min(x.reason, maxReasons-1)] += x.blocked
	for i := range s.in {
		if s.in[i].stack == x.in && s.in[i].class == x.class {
			s.in[i].ns += x.blocked
			return
		}
	}
	if len(s.in) < maxStacks {
		s.in = append(s.in, held{x.in, x.class, x.blocked})
	}
}

// goesOn is for one that was blocked, perhaps with a place.
func (w *watcher) goesOn(d *reference.Decision) {
	e := &w.through[uint64(d.G)%tableSize]
	if e.g != d.G {
		return
	}
	g := w.view.Goroutine()
	for i := range e.gots {
		x := &e.gots[i]
		switch {
		case x.at == 0 || g.BlockedAt < x.at:
		case x.in == g.Stack && x.blocked > 0: // again and again, as for each of several things
			x.blocked += g.BlockedNs
		case g.BlockedNs > x.blocked:
			x.blocked, x.in, x.class, x.reason = g.BlockedNs, g.Stack, g.Class, g.Reason
		}
	}
}

// ready is for one that waited and goes on: another has made room.
func (w *watcher) ready(d *reference.Decision) {
	g := w.view.Goroutine()
	if d.By < 0 || d.By == d.G || g.BlockedNs < 0 || g.Stack == 0 || d.Stack == 0 {
		return
	}
	e := &w.through[uint64(d.By)%tableSize]
	// Which of its waits was for what it gives up now, if any was, their functions tell in
	// the end.
	at := stacks{wait: g.Stack, leave: d.Stack}
	var s *site
	if e.g == d.By {
		at.got = e.gots[0].wait
		for i := range e.gots {
			x := &e.gots[i]
			if x.at == 0 {
				break
			}
			by := w.site(stacks{at.wait, at.leave, x.wait}, g.Reason)
			if i == 0 {
				s = by
			}
			if by == nil {
				continue
			}
			by.add(x, d.Time)
			if x.wait == g.Stack {
				e.drop(i) // it has given up its place
				break
			}
		}
	}
	if s == nil {
		s = w.site(at, g.Reason)
	}
	if s != nil {
		s.waits.Add(&findings.Cell{Class: g.Class, Ns: g.BlockedNs, From: g.BlockedAt, To: d.Time, G: g.ID, P: reference.NoP, Stack: g.Stack})
		s.line.lined += d.Time - max(s.line.last, g.BlockedAt)
		s.line.last = d.Time
	}
	mine := &w.through[uint64(d.G)%tableSize]
	if mine.g != d.G {
		*mine = entry{g: d.G}
	}
	// A wait there before is over: it waited again, and so had no place any more.
	last := len(mine.gots) - 1
	for i := range mine.gots[:last] {
		if mine.gots[i].wait == g.Stack {
			last = i
			break
		}
	}
	for i := last; i > 0; i-- {
		mine.gots[i].set(&mine.gots[i-1])
	}
	mine.gots[0].set(&got{at: d.Time, wait: g.Stack})
}

func (w *watcher) site(at stacks, reason reference.Reason) *site {
	recent := &w.recent[uint32(at.wait+7*at.leave+31*at.got)%uint32(len(w.recent))]
	if s := *recent; s != nil && s.stacks == at {
		return s
	}
	s := w.at[at]
	if s == nil {
		if len(w.sites) == maxSites {
			return nil
		}
		l := w.lines[at.wait]
		if l == nil {
			l = &line{}
			w.lines[at.wait] = l
		}
		s = &site{stacks: at, line: l, reason: reason}
		w.at[at] = s
		w.sites = append(w.sites, s)
	}
	*recent = s
	return s
}

// Package serialization is the detector serialization: does one chain of work
// hold up a program that could use more Ps? doc.md explains it.
package serialization

import (
	_ "embed"
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/reference"
)

//go:embed doc.md
var doc string

// ID of the detector.
const ID = "serialization"

// Thresholds of the detector.
type Thresholds struct {
	// Parallelism is T1/Tinf below which the program is serial; with more than
	// twice as many Ps, half of the Ps.
	Parallelism float64 `json:"parallelism"`
	// SlackShare is the share of the busy time in which half of the Ps had
	// nothing to do, although somebody ran and nobody was ready to.
	SlackShare float64 `json:"slack_share"`
	// BusyShare is the share of the duration in which the program must be busy.
	BusyShare float64 `json:"busy_share"`
	// There must be somebody who could have worked meanwhile: goroutines that
	// waited for others, not for their own children, at least WaitShare of that time on average, and were woken
	// MinWakes times; or a share ParallelShare of the busy time in which at least
	// half of the Ps, and two, did run the program.
	WaitShare     float64        `json:"wait_share"`
	MinWakes      int64          `json:"min_wakes"`
	ParallelShare float64        `json:"parallel_share"`
	Grade         findings.Grade `json:"grade"`
}

// Default returns the default thresholds. Work shorter than twice its span gains
// nothing from a third P (Brent 1974: at least max(T1/P, Tinf)); the other
// numbers are our own.
func Default() Thresholds {
	return Thresholds{
		Parallelism: 2, SlackShare: 0.4, BusyShare: 0.5,
		WaitShare: 0.5, MinWakes: 20, ParallelShare: 0.1, Grade: findings.DefaultGrade(),
	}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Title: "one chain of work while Ps are idle", Doc: doc,
		Kind: findings.KindCause, CostOf: findings.OfIdle,
		Remedy: findings.Remedy{Speed: 2, Makespan: true, Why: "the largest part of the critical path in half of the time"},
		New: func(env findings.Env) findings.Watcher {
			w := &watcher{t: t, world: env.World}
			env.World.Uses(w.see)
			env.World.HeldUps(w.wake)
			return w
		},
	}
}

type watcher struct {
	findings.Quiet
	t     Thresholds
	world *findings.World

	at  int64
	use findings.Use // since then

	slack int64   // ns
	lost  float64 // of it, what work spread over all Ps would not have taken, ns
	// The longest stretch of slack, interruptions below a millisecond included.
	from, to           int64
	longFrom, longTo   int64
	starved            findings.Tally
	starvedBySemaphore int64 // ns of it
}

// stretchGap is the longest interruption of one stretch of slack.
const stretchGap = 1_000_000

func (w *watcher) see(u *findings.Use) {
	w.advance(w.world.Now())
	w.use = *u
}

func (w *watcher) advance(now int64) {
	dt := now - w.at
	if dt <= 0 {
		return
	}
	if w.use.Slack {
		w.slack += dt
		w.lost += float64(dt) * (1 - float64(w.use.Run)/float64(w.use.Procs))
		if w.at-w.to > stretchGap || w.to == 0 {
			w.from = w.at
		}
		w.to = now
		if w.to-w.from > w.longTo-w.longFrom {
			w.longFrom, w.longTo = w.from, w.to
		}
	}
	w.at = now
}

func (w *watcher) wake(h *findings.HeldUp) {
	g := h.G
	// Who waits for a goroutine that it created itself has called it, as it were.
	if h.By.Creator == g.ID {
		return
	}
	if g.Reason == reference.ReasonSync {
		w.starvedBySemaphore += h.Ns
	}
	w.starved.Add(findings.Cell{Class: g.Class, Ns: h.Ns, From: g.BlockedAt, To: h.To, G: g.ID, P: reference.NoP, Stack: g.Stack})
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	w.advance(f.EndNs)
	r := &f.Span
	limit := max(w.t.Parallelism, float64(f.GOMAXPROCS)/2)
	busy := float64(r.BusyNs)
	if busy == 0 || r.Parallelism() >= limit || float64(w.slack) < w.t.SlackShare*busy || busy < w.t.BusyShare*float64(f.RecordedNs()) {
		return nil
	}
	wait := w.starved.Total
	waiting := wait.N >= w.t.MinWakes && float64(wait.Ns) >= w.t.WaitShare*float64(w.slack)
	phases := float64(w.world.ParallelNs()) >= w.t.ParallelShare*busy
	s, ok := w.t.Grade.Severity(int64(w.lost), f.RecordedNs())
	if !ok || len(r.Path) == 0 || !waiting && !phases {
		return nil
	}
	// The scheduler does all that can be done here.
	if s == findings.Critical {
		s = findings.Warning
	}
	top := r.Path[0]
	name := f.Name(top.Class)
	share := float64(top.Ns) / float64(r.SpanNs)
	x := findings.Finding{
		ID: ID, Severity: s, CostNs: int64(w.lost), FromNs: w.longFrom, ToNs: w.longTo, Basis: findings.Inferred,
		Title: fmt.Sprintf("At least half of the Ps had nothing to do for %s of the busy time, waiting for one chain of work, %s of it in %s",
			findings.Percent(float64(w.slack)/busy), findings.Percent(share), name),
		Evidence: []findings.Evidence{
			{What: "work / span: the speed-up that any number of Ps could give", Value: findings.Times(r.Parallelism()), Limit: findings.Times(limit)},
			{What: "work (T1)", Value: findings.Dur(r.WorkNs), Ns: r.WorkNs},
			{What: "span (Tinf): the critical path through wake-ups", Value: findings.Dur(r.SpanNs) + " in " + findings.Plural(r.Hops+1, "part", "parts"), Ns: r.SpanNs},
			{What: "busy time with at least half of the Ps idle and nobody ready to run", Value: findings.Percent(float64(w.slack) / busy), Limit: findings.Percent(w.t.SlackShare), Ns: w.slack},
			{What: "busy time", Value: findings.Dur(r.BusyNs) + " (" + findings.Percent(f.Share(r.BusyNs)) + " of the duration)", Limit: findings.Percent(w.t.BusyShare), Ns: r.BusyNs},
			{What: "bound of the busy time, max(T1/P, Tinf)", Value: findings.Dur(r.BoundNs()), Ns: r.BoundNs()},
			{What: "busy time beyond it, which scheduling could gain", Value: findings.Dur(r.RecoverableNs()), Ns: r.RecoverableNs()},
			{What: "with the Ps that were usable: T1/Pa + Tinf·P/Pa", Value: findings.Dur(r.ABPNs()) + " (Pa " + findings.Number(r.Usable) + ")", Ns: r.ABPNs()},
		},
	}
	if waiting {
		x.Actors = w.starved.Actors(f, findings.Victim, 3)
		x.Evidence = append(x.Evidence, findings.Evidence{
			What: "goroutines that waited for others meanwhile, on average", Value: findings.Number(float64(wait.Ns) / float64(w.slack)), Limit: findings.Number(w.t.WaitShare), Ns: wait.Ns})
	}
	for i, seg := range r.Path[:min(3, len(r.Path))] {
		if i > 0 && seg.Ns < r.SpanNs/10 {
			break
		}
		a := f.Class(findings.Cause, seg.Class)
		a.Stack = f.Frames(seg.Stack)
		x.Actors = append(x.Actors, a)
		x.Evidence = append(x.Evidence, findings.Evidence{What: "of the critical path: " + a.Class, Value: findings.Percent(float64(seg.Ns) / float64(r.SpanNs)), Ns: seg.Ns})
	}
	if share >= 0.5 {
		x.Advice = append(x.Advice, "Split what "+name+" does: more than one goroutine for that stage, or some of its work moved into the stages that wait for it. Making anything else faster gains nothing.")
	} else {
		x.Advice = append(x.Advice, "The work passes from goroutine to goroutine, one at a time: let several items be under way at once, or do the steps of one item in one goroutine, which saves the hand-overs.")
	}
	x.Advice = append(x.Advice, "More Ps, or another order of scheduling, would not help: the limit is the order that the program itself imposes.")
	if share < 0.5 && float64(wait.Ns) < 1.5*float64(w.slack) {
		// A question and its answer: nobody is kept from anything.
		x.Severity = findings.Note
	}
	if waiting && 2*w.starvedBySemaphore > wait.Ns {
		// Most wait for a lock, or for a WaitGroup.
		for _, fr := range f.Frames(w.starved.Top(1)[0].Stack) {
			if findings.IsLock(fr) {
				x.Severity = findings.Note
				x.Advice = append(x.Advice, "Most of the waiting is for a lock: lock-convoy says more.")
				break
			}
		}
	}
	if !waiting && int64(r.Hops)+w.world.ClassStat(top.Class).Creates < manyHops {
		// One goroutine that computes alone for long is a fact, but keeps nobody.
		x.Severity = findings.Note
	}
	f.Doubt(&x)
	return []findings.Finding{x}
}

// manyHops is from how many wake-ups on the critical path and creations by
// its largest part on work changes between serial and parallel phases.
const manyHops = 10

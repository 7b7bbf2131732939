// Package serialization is the detector serialization: does one chain of work
// hold up a program that could use more Ps? doc.md explains it.
package serialization

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	lockconvoy "github.com/gmpscope/gmpscope/analyze/findings/lock-convoy"
	"github.com/gmpscope/gmpscope/analyze/span"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "serialization"

// Thresholds decide when the detector reports chains of dependent work that leave Ps idle.
// Times in Grade are in nanoseconds; shares are fractions from 0 to 1.
type Thresholds struct {
	// Parallelism is T1/Tinf below which the program is serial; with more than
	// twice as many Ps, half of the Ps.
	Parallelism float64 `json:"parallelism"`
	// SlackShare is the share of the busy time in which half of the Ps had
	// nothing to do, although a goroutine ran and none was ready to.
	SlackShare float64 `json:"slack_share"`
	// BusyShare is the share of the duration in which the program must be busy.
	BusyShare float64 `json:"busy_share"`
	// There must be a goroutine that could have worked meanwhile: goroutines that
	// waited for others, not for their own children, at least WaitShare of that time on average, and were woken
	// MinWakes times; or a share ParallelShare of the busy time in which at least
	// half of the Ps, and two, did run the program.
	WaitShare     float64        `json:"wait_share"`
	MinWakes      int64          `json:"min_wakes"`
	ParallelShare float64        `json:"parallel_share"`
	Grade         findings.Grade `json:"grade"` // severities, by the time with too few goroutines to run, less what the work would have taken on all Ps
}

// Default returns the thresholds that apply unless a configuration sets others. Work shorter
// than twice its span gains nothing from a third P (Brent 1974: at least max(T1/P, Tinf)); the
// other numbers are our own.
func Default() Thresholds {
	return Thresholds{
		Parallelism: 2, SlackShare: 0.4, BusyShare: 0.5,
		WaitShare: 0.5, MinWakes: 20, ParallelShare: 0.1, Grade: findings.DefaultGrade(),
	}
}

// New returns the detector that reports chains of dependent work that leave Ps idle, with
// thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, CostOf: findings.OfIdle,
		Remedy: findings.Remedy{Speed: 2, Makespan: true, Why: "the largest part of the critical path in half of the time"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, sliced: map[sliceEnd]int64{}}
			view.Runs(findings.RunFilter{Whys: []reference.Why{reference.WhySlice}}, w.preempted)
			view.Uses(w.see)
			view.HeldUps(w.wake)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	at  int64
	use findings.Use // since then

	slack int64   // ns
	lost  float64 // of it, what work spread over all Ps would not have taken, ns
	// The longest stretch of slack, interruptions below a millisecond included.
	from, to           int64
	longFrom, longTo   int64
	starved            findings.Tally
	starvedBySemaphore int64 // ns of it
	pieces             int64 // ns of it, for one of several goroutines that the one who waited had created
	// What ran when a time slice was over, by class and stack: only that tells what is
	// computed, for who wakes a goroutine or blocks has done it before.
	sliced map[sliceEnd]int64
}

// sliceEnd is the class and the stack of a goroutine whose time slice was over.
type sliceEnd struct{ class, stack int32 }

// maxSliceEnds bounds memory.
const maxSliceEnds = 4096

func (w *watcher) preempted(r *findings.Run) {
	if !r.System && r.Stack != 0 {
		findings.CountIn(w.sliced, sliceEnd{r.Class, r.Stack}, maxSliceEnds)
	}
}

// stretchGap is the longest interruption of one stretch of slack.
const stretchGap = 1_000_000

func (w *watcher) see(u *findings.Use) {
	w.advance(w.view.Now())
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

// idled reports whether for most of the wait the one who ended it slept, or waited for
// the network: then it was no work that took so long.
func idled(h *findings.HeldUp) bool {
	by := h.By
	if by.BlockedNs <= 0 || by.Reason != reference.ReasonSleep && by.Reason != reference.ReasonNetwork {
		return false
	}
	both := min(h.To, by.BlockedAt+by.BlockedNs) - max(h.G.BlockedAt, by.BlockedAt)
	return 2*both > h.To-h.G.BlockedAt
}

// several goroutines that one creates could share the work evenly.
const several = 3

func (w *watcher) wake(h *findings.HeldUp) {
	g := h.G
	// Who waits for the one goroutine that it created has called it, as it were; who
	// created several waits for the slowest.
	if h.By.Creator == g.ID && g.Created < several || idled(h) {
		return
	}
	if h.By.Creator == g.ID {
		w.pieces += h.Ns
	}
	if g.Reason == reference.ReasonSync {
		w.starvedBySemaphore += h.Ns
	}
	w.starved.Add(&findings.Cell{Class: g.Class, Ns: h.Ns, From: g.BlockedAt, To: h.To, G: g.ID, P: reference.NoP, Stack: g.Stack})
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
	phases := float64(w.view.ParallelNs()) >= w.t.ParallelShare*busy
	s, ok := w.t.Grade.Severity(int64(w.lost), f.RecordedNs())
	if !ok || len(r.Path) == 0 || !waiting && !phases {
		return nil
	}
	top := r.Path[0]
	if f.RunsTests(top.Class) {
		return nil // one test after the other is no chain
	}
	share := float64(top.Ns) / float64(r.SpanNs)
	lock := waiting && 2*w.starvedBySemaphore > wait.Ns && findings.IsLock(f.Frames(w.starved.Top(1)[0].Stack))
	var even int64 // how many goroutines ran side by side and were done together; 0: they did not
	// Hardly less than a whole number: then the work is divided evenly among so many.
	if p := r.Parallelism(); p > 1.5 && p >= 0.9*math.Ceil(p) && (!phases || float64(w.view.ParallelNs()) >= sideBySide*busy) {
		even = int64(math.Ceil(p))
	}
	switch {
	case share < 0.5 && float64(wait.Ns) < 1.5*float64(w.slack):
		s = findings.Note // a question and its answer: nobody is kept from anything
	case lock:
		s = findings.Note
	case even > 0:
		s = findings.Note // as many goroutines as there are run side by side, and are done together
	case !waiting && int64(r.Hops)+w.view.ClassStat(top.Class).Creates < manyHops:
		s = findings.Note // one goroutine that computes alone for long is a fact, but keeps no goroutine waiting
	case s == findings.Critical:
		s = findings.Warning // the scheduler does all that can be done here
	}
	x := findings.Finding{
		Severity: s, CostNs: int64(w.lost), FromNs: w.longFrom, ToNs: w.longTo, Basis: findings.Inferred, Feigned: findings.ByStrain,
	}
	if waiting {
		x.Actors = w.starved.Actors(f, findings.Victim, 3)
	}
	for _, part := range parts(r) {
		a := f.Class(findings.Cause, part.Class)
		a.Stack = f.Frames(cmp.Or(w.computes(f, part.Class), part.Stack))
		x.Actors = append(x.Actors, a)
	}
	chain := x.Cause()
	name, short := chain.Work(), chain.Brief()
	x.Headline = findings.Say("One chain of work, mostly %s, leaves half of the Ps idle for %s of the time", short, quantity.Percent(float64(w.slack)/busy))
	x.Title = findings.Say("At least half of the Ps had nothing to do for %s of the busy time, waiting for one chain of work, %s of it in %s",
		quantity.Percent(float64(w.slack)/busy), quantity.Percent(share), name)
	if even > 0 {
		x.Headline = findings.Say("Only %s goroutines compute at a time, in %s: half of the Ps are idle", quantity.Count(even), short)
		x.Title = findings.Say("At least half of the Ps had nothing to do for %s of the busy time: about %s goroutines work at a time, and are done together; %s of the longest chain of work is in %s",
			quantity.Percent(float64(w.slack)/busy), quantity.Count(even), quantity.Percent(share), name)
	}
	x.Measured("work / span: the speed-up that any number of Ps could give", findings.Times(r.Parallelism()), findings.Times(limit))
	x.Measured("work (T1)", findings.Time(r.WorkNs))
	x.Measured("span (Tinf): the critical path through wake-ups", findings.Time(r.SpanNs).With(" in %s", quantity.Plural(r.Hops+1, "part", "parts")))
	x.Measured("busy time with at least half of the Ps idle and nobody ready to run", findings.Share(float64(w.slack)/busy).Of(w.slack), findings.Share(w.t.SlackShare))
	x.Measured("busy time", findings.Time(r.BusyNs).With(" (%s of the duration)", quantity.Percent(f.Share(r.BusyNs))), findings.Share(w.t.BusyShare))
	x.Measured("bound of the busy time, max(T1/P, Tinf)", findings.Time(r.BoundNs()))
	x.Measured("busy time beyond it, which scheduling could gain", findings.Time(r.RecoverableNs()))
	x.Measured("with the Ps that were usable: T1/Pa + Tinf·P/Pa", findings.Time(r.ABPNs()).With(" (Pa %s)", quantity.Number(r.Usable)))
	if waiting {
		x.Measured("goroutines that waited for others meanwhile, on average", findings.Number(float64(wait.Ns)/float64(w.slack)).Of(wait.Ns), findings.Number(w.t.WaitShare))
	}
	for _, part := range parts(r) {
		x.MeasuredOf(findings.Say("of the critical path: %s", f.Name(part.Class)), findings.Share(float64(part.Ns)/float64(r.SpanNs)).Of(part.Ns))
	}
	switch {
	case even > 0:
		x.Advise("If %s is to use more than %s of the %s, divide its work among more goroutines: the pieces are even already.", name, quantity.Count(even), quantity.Plural(int64(f.GOMAXPROCS), "P", "Ps"))
	case 2*w.pieces > wait.Ns:
		x.Advise("Cut the work more evenly: several goroutines are created at a time and waited for together, and the slowest, in %s, decides. With more and smaller pieces, whoever is done first takes the next.", name)
	case share >= 0.5:
		x.Advise("Split what %s does: more than one goroutine for that stage, or some of its work moved into the stages that wait for it. Making anything else faster gains nothing.", name)
	default:
		x.Advise("The work passes from goroutine to goroutine, one at a time: let several items be under way at once, or do the steps of one item in one goroutine, which saves the hand-overs.")
	}
	x.Advise("More Ps, or another order of scheduling, would not help: the limit is the order that the program itself imposes.")
	if lock {
		x.Advise("Most of the waiting is for a lock: %s says more.", findings.ID(lockconvoy.ID))
	}
	return []findings.Finding{x}
}

// sideBySide is the share of the busy time in which half of the Ps, and two, must run the
// program if they are said to work side by side and not in phases: half of it on three Ps and
// half on one comes to a speed-up of two, as well. Of the labelled recordings with an even
// speed-up it is 81 % where two goroutines work side by side, and 20 % where there are phases.
const sideBySide = 2.0 / 3

// minSlices is how many time slices must have ended in one function of the program.
const minSlices = 3

// computes is a stack in the function of the program in which most time slices of a class
// ended, 0 if these are few.
func (w *watcher) computes(f *findings.Facts, class int32) (stack int32) {
	type in struct {
		n, most int64
		stack   int32
	}
	functions := findings.NewTable(maxSliceEnds, func(findings.Name) in { return in{} })
	var best int64
	keys := slices.SortedFunc(maps.Keys(w.sliced), func(x, y sliceEnd) int { return cmp.Compare(x.stack, y.stack) })
	for _, k := range keys {
		if k.class != class {
			continue
		}
		function, _ := f.ProgramsFunction(k.stack)
		x, n := functions.At(function), w.sliced[k]
		if n > x.most {
			x.most, x.stack = n, k.stack
		}
		if x.n += n; function != "" && x.n >= minSlices && x.n > best {
			best, stack = x.n, x.stack
		}
	}
	return stack
}

// parts are the largest of the critical path.
func parts(r *span.Result) []span.Segment {
	for i, part := range r.Path {
		if i == 3 || i > 0 && part.Ns < r.SpanNs/10 {
			return r.Path[:i]
		}
	}
	return r.Path
}

// manyHops is from how many wake-ups on the critical path and creations by
// its largest part on work changes between serial and parallel phases.
const manyHops = 10

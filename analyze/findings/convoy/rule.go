// Package convoy is the detector convoy: did long runs hold up short ones?
// doc.md explains it.
package convoy

import (
	"cmp"
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "convoy"

// Thresholds decide when the detector reports long run intervals that held up goroutines with
// short ones. Fields whose names end in Ns are in nanoseconds; shares are fractions from 0 to
// 1.
type Thresholds struct {
	LongNs int64   `json:"long_ns"` // least length of a run interval that may hold up others
	Ratio  float64 `json:"ratio"`   // how many times longer it must be than the median run interval of those that waited
	// With fewer than MinCount such run intervals the severity is one step lower, and with
	// fewer than CriticalCount it is at most a warning.
	MinCount      int64 `json:"min_count"`
	CriticalCount int64 `json:"critical_count"`
	// Rare and Minor: if the long runs are a smaller share than Rare of the runs
	// of their class, and than Minor of its running time, then they may as well
	// be a thread that had no CPU.
	Rare  float64 `json:"rare"`
	Minor float64 `json:"minor"`
	// Common: where the long runs are at least such a share of the runs of their class,
	// goroutines of that class that wait behind them are no victims: they do the same.
	Common float64        `json:"common"`
	Grade  findings.Grade `json:"grade"` // severities, by the time that goroutines waited behind the long runs
}

// Default returns the thresholds that apply unless a configuration sets others.
func Default() Thresholds {
	return Thresholds{LongNs: 1_000_000, Ratio: 10, MinCount: 3, CriticalCount: 10, Rare: 0.01, Minor: 0.5, Common: 0.1, Grade: findings.DefaultGrade()}
}

// New returns the detector that reports long run intervals that held up goroutines with short
// ones, with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, LongRuns: true, NeedsQueues: true, InLine: findings.Queued(),
		Delays: true,
		Remedy: findings.Remedy{YieldNs: 100_000, Why: "the long work in pieces, with a point between them at which others get in"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view}
			w.cells = findings.NewTable(maxPairs, func(of pair) cell {
				return cell{pair: of, victims: findings.Cell{Class: of.victim}, last: -1}
			})
			view.Runs(findings.RunFilter{MinNs: t.LongNs}, w.run)
			return w
		},
	}
}

type watcher struct {
	t     Thresholds
	view  *findings.View
	cells findings.Table[pair, cell]
}

// pair is who held up whom.
type pair struct{ cause, victim int32 }

// cell sums up long runs of one class in front of goroutines of another.
type cell struct {
	pair
	victims findings.Cell
	runs    int64
	runNs   int64
	last    int64 // start of the last run counted
	lastP   int32
	long    findings.Cell // the longest
	after   int32         // where its goroutine was blocked last before, if its stack is none
	// Of victims of the same class as the cause: how many waited behind one run, at most, by where
	// they had stopped.
	alike findings.Few[int32, alike]
}

type alike struct {
	n, most int64
	from    int64 // start of the run that n is of
}

// maxAlike is how many stacks are told apart in a cell.
const maxAlike = 8

// count counts one that had stopped at a stack, and waits behind a run of its class.
func (c *cell) count(stack int32, from int64) {
	i := c.alike.Find(stack, maxAlike)
	if i < 0 {
		return
	}
	a := &c.alike.Values[i]
	if a.from != from {
		a.from, a.n = from, 0
	}
	a.n++
	a.most = max(a.most, a.n)
}

// maxPairs is how many pairs are told apart; what comes later is not shown.
const maxPairs = 8192

// maxGlobal is how many goroutines of the global queue are looked at after one
// run, the earliest ones.
const maxGlobal = 256

func (w *watcher) run(r *findings.Run) {
	if r.System || r.Ns() < w.t.LongNs {
		return
	}
	for g := range w.view.Waiting(r.P, math.MaxInt) {
		w.behind(r, g, 1)
	}
	for g := range w.view.Waiting(reference.NoP, maxGlobal) {
		w.behind(r, g, w.view.Procs())
	}
}

// behind adds the time that g stood behind the run s. Of the global queue each P
// takes its part: by.
func (w *watcher) behind(s *findings.Run, g *findings.Goroutine, by int64) {
	ns := (s.To - max(w.view.QueuedAt(g), s.From) - s.SyscallNs) / by
	if g.Self || ns <= 0 || w.feeds(s, g) {
		return
	}
	c := w.cells.At(pair{s.Class, g.Class})
	if c == nil {
		return
	}
	if c.last != s.From || c.lastP != s.P {
		c.runs++
		c.runNs += s.Ns()
		c.last, c.lastP = s.From, s.P
		if s.Ns() > c.long.Ns {
			c.long = findings.Cell{Class: s.Class, Ns: s.Ns(), From: s.From, To: s.To, G: s.G, P: s.P, Stack: s.Stack}
			if c.after = 0; s.Stack == 0 {
				if long := w.view.ByID(s.G); long != nil {
					c.after = long.Stack
				}
			}
		}
	}
	if s.Class == g.Class {
		c.count(g.Stack, s.From)
	}
	c.victims.N++
	c.victims.Ns += ns
	if ns > c.victims.Worst {
		c.victims.Worst, c.victims.G, c.victims.P = ns, g.ID, g.P
	}
}

// feeds reports whether g feeds s, or one like it: it was blocked in a send, and the
// receiver that took its value is of the class that runs now. What it sends next
// would have to wait for that class anyway.
func (w *watcher) feeds(s *findings.Run, g *findings.Goroutine) bool {
	if g.Reason != reference.ReasonChanSend {
		return false
	}
	by := w.view.ByID(g.Waker)
	return by != nil && by.Class == s.Class
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	// Only now are the usual runs of the victims known.
	causes := findings.NewTable(maxPairs, func(int32) (cells []*cell) { return nil })
	for _, c := range w.cells.List {
		victims := w.view.ClassStat(c.victim)
		median := victims.Median()
		if c.victim == c.cause && float64(c.runs) >= w.t.Common*float64(victims.Runs) {
			continue
		}
		if victims.Serves(c.cause) && w.view.ClassStat(c.cause).Busy() {
			continue
		}
		if c.runs == 0 || median == 0 || float64(c.runNs)/float64(c.runs) < w.t.Ratio*float64(median) {
			continue
		}
		cells := causes.At(c.cause)
		*cells = append(*cells, c)
	}
	return findings.Each(f, causes.List, w.finding)
}

// finding is about the runs of one class; list is not empty.
func (w *watcher) finding(f *findings.Facts, list *[]*cell) []findings.Finding {
	cells := *list
	slices.SortFunc(cells, func(x, y *cell) int {
		return cmp.Or(cmp.Compare(y.victims.Ns, x.victims.Ns), cmp.Compare(x.victim, y.victim))
	})
	top, longest := cells[0], cells[0]
	var cost, held, runs int64
	for _, c := range cells {
		cost += c.victims.Ns
		held += c.victims.N
		runs = max(runs, c.runs)
		if c.long.Ns > longest.long.Ns {
			longest = c
		}
	}
	s, ok := w.t.Grade.Severity(cost, f.RecordedNs())
	if !ok {
		return nil
	}
	if runs < w.t.MinCount || s == findings.Critical && runs < w.t.CriticalCount {
		s = s.Lower()
	}
	minor := float64(cost) < minorShare*float64(waited(f, cells))
	if minor {
		s = findings.Note
	}
	x := findings.Finding{Severity: s, CostNs: cost, FromNs: longest.long.From, ToNs: longest.long.To, Basis: findings.Inferred}
	for _, c := range cells[:min(maxVictims, len(cells))] {
		x.Actors = append(x.Actors, c.victims.Actor(f, findings.Victim))
	}
	x.Actors = append(x.Actors, longest.long.Actor(f, findings.Cause))
	cause := x.Cause()
	after := &findings.Actor{Class: cause.Class, Stack: f.Frames(longest.after)} // where it was blocked before
	if doing := w.view.Doing(f, top.cause); doing != nil {
		cause.Stack, after.Stack = doing, nil
	}
	var afterWait findings.Text
	if after.Short() != findings.Short(findings.Name(cause.Class)) {
		afterWait = findings.Say(" after its wait in %s", findings.Called(after.Short(), after.Caller()))
	}
	long, medianNs := quantity.Duration(longest.long.Ns), w.view.ClassStat(top.victim).Median()
	x.Headline = findings.Say("Runs of %s of up to %s hold up short ones", cause.Brief(), long)
	x.Title = findings.Say("Runs of %s lasting up to %s held up, %s, goroutines that need %s at a time",
		cause.Work(), long, quantity.Plural(held, "time", "times"), quantity.Duration(medianNs))
	x.Measured("long runs with others behind them", findings.Count(runs), findings.Time(w.t.LongNs).With(" each"))
	x.Measured("the longest", findings.Time(longest.long.Ns), findings.Time(w.t.LongNs))
	x.Measured("their mean", findings.Time(top.runNs/top.runs))
	x.Measured("median run of those behind", findings.Time(medianNs), findings.Times(w.t.Ratio).With(" shorter"))
	x.Measured("goroutines that they found waiting behind them", findings.Count(held))
	x.Measured("longest that one of these stood behind one run", findings.Time(top.victims.Worst))
	x.Advise("Split the long work of %s%s into pieces of some 100 µs and let others in between them (runtime.Gosched, or a channel operation that blocks).", cause.Work(), afterWait)
	x.Advise("Or bound how many such goroutines run at once, below GOMAXPROCS, so that a P stays free for short work; or move the heavy part into another process.")
	x.Advise("If the long runs are not stopped after some 20 ms, look for loops that the runtime cannot preempt, and for a machine that lacks CPUs.")
	if together, in, by := gather(f, cells, cause, after); !minor && together > 0 {
		are := "are in"
		if in != cause.Short() {
			are = "come from"
		}
		x.MeasuredOf(findings.Say("goroutines that were in %s at once, or had just been", in), findings.Count(together+1), findings.Count(crowd(f)+1))
		x.Advice = slices.Insert(x.Advice, 0, findings.Say("See whether the up to %s goroutines that %s %s at once do the same, as when a cache has expired: then let one do it, and the others wait for it (golang.org/x/sync/singleflight) or go on with what was there before. If not, let only a few in at a time.", quantity.Count(together+1), are, findings.Called(in, by)))
	}
	for _, c := range cells[1:min(maxVictims, len(cells))] {
		x.MeasuredOf(findings.Say("of the cost, to %s", f.Name(c.victim)), findings.Time(c.victims.Ns))
	}
	class := w.view.ClassStat(top.cause)
	if class.Runs > 0 && float64(runs) < w.t.Rare*float64(class.Runs) && float64(longest.runNs) < w.t.Minor*float64(class.RunNs) {
		x.Severity, x.Basis = findings.Note, findings.Suspected
		x.Measured("all runs of that class", findings.Count(class.Runs).With(", median %s", quantity.Duration(class.Median())))
		x.Advise("Runs this long are rare in this class: their threads may just have had no CPU for a while. CPU samples in the trace would tell.")
	} else if 10*runs < class.Runs {
		x.Feigned = findings.ByStall
	}
	return []findings.Finding{x}
}

// minorShare is the share of the waiting of those who were held up below which the long runs
// are not what they waited for. Of the labelled recordings in which the long runs are the
// trouble the lowest share is 49 %; where long runs come of another one, as the garbage
// collector or a crowd, the highest is 32 %.
const minorShare = 0.4

// waited is how long those who were held up waited in all.
func waited(f *findings.Facts, cells []*cell) (ns int64) {
	for i := range f.Waits.Classes {
		class := &f.Waits.Classes[i]
		if slices.ContainsFunc(cells, func(c *cell) bool { return c.victim == class.ID }) {
			ns += class.Waits.TotalNs
		}
	}
	return ns
}

// crowd is how many goroutines that have begun the same are more than happens to be.
func crowd(f *findings.Facts) int64 { return 2 * int64(max(2, f.GOMAXPROCS)) }

// gather returns how many goroutines waited behind one of their own class, at most, that had
// stopped in the function which it runs, or where it had waited last if it is not known what it
// runs: they had begun the same. It returns that function, and its caller in the second case; 0 if they
// are no crowd, or begin with that function.
func gather(f *findings.Facts, cells []*cell, cause, after *findings.Actor) (most int64, in, by findings.Name) {
	start := findings.Short(findings.Name(cause.Class))
	if in = cause.Short(); in == start {
		in, by = after.Short(), after.Caller()
	}
	for _, c := range cells {
		for i, a := range c.alike.Values {
			if a.most > most && findings.Through(f.Frames(c.alike.Keys[i]), string(in)) {
				most = a.most
			}
		}
	}
	if in == start || most < crowd(f) {
		most = 0
	}
	return most, in, by
}

// maxVictims is how many classes of those held up are named.
const maxVictims = 3

// Package convoy is the detector convoy: did long runs hold up short ones?
// doc.md explains it.
package convoy

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID of the detector.
const ID = "convoy"

// Thresholds of the detector.
type Thresholds struct {
	LongNs int64   `json:"long_ns"` // a run this long may hold up others
	Ratio  float64 `json:"ratio"`   // if it is this many times their median run
	// With fewer than MinCount such runs it is one step milder; it is critical
	// from CriticalCount on.
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
	Grade  findings.Grade `json:"grade"`
}

// Default returns the default thresholds.
func Default() Thresholds {
	return Thresholds{LongNs: 1_000_000, Ratio: 10, MinCount: 3, CriticalCount: 10, Rare: 0.01, Minor: 0.5, Common: 0.1, Grade: findings.DefaultGrade()}
}

// New returns the detector with thresholds t.
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
	alike []alike
}

type alike struct {
	stack   int32
	n, most int64
	from    int64 // start of the run that n is of
}

// maxAlike is how many stacks are told apart in a cell.
const maxAlike = 8

// count counts one that had stopped at a stack, and waits behind a run of its class.
func (c *cell) count(stack int32, from int64) {
	i := slices.IndexFunc(c.alike, func(a alike) bool { return a.stack == stack })
	if i < 0 {
		if len(c.alike) == maxAlike {
			return
		}
		i, c.alike = len(c.alike), append(c.alike, alike{stack: stack})
	}
	a := &c.alike[i]
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
	w.view.Waiting(r.P, func(g *findings.Goroutine) bool { return w.behind(r, g, 1) })
	n := 0
	w.view.Waiting(reference.NoP, func(g *findings.Goroutine) bool {
		n++
		return w.behind(r, g, w.view.Procs()) && n < maxGlobal
	})
}

// behind adds the time that g stood behind the run s. Of the global queue each P
// takes its part: by.
func (w *watcher) behind(s *findings.Run, g *findings.Goroutine, by int64) bool {
	ns := (s.To - max(w.view.QueuedAt(g), s.From) - s.SyscallNs) / by
	if g.Self || ns <= 0 || w.feeds(s, g) {
		return true
	}
	c := w.cells.At(pair{s.Class, g.Class})
	if c == nil {
		return true
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
	return true
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
	var out []findings.Finding
	for _, cells := range causes.List {
		slices.SortFunc(*cells, func(x, y *cell) int {
			return cmp.Or(cmp.Compare(y.victims.Ns, x.victims.Ns), cmp.Compare(x.victim, y.victim))
		})
		if x, ok := w.finding(f, *cells); ok {
			out = append(out, x)
		}
	}
	return out
}

// evidence is what a finding about the runs of one class says.
type evidence struct {
	cause    int32
	cells    []*cell // costliest first
	cost     int64
	held     int64 // times that one was held up
	runs     int64
	longest  *cell
	medianNs int64           // run of those held up most
	class    *findings.Class // of the cause
	rare     bool            // the runs are, in their class
	together int64           // goroutines of it that waited behind one that ran, having stopped in the same function, at most; 0: no crowd
	in       findings.Name   // that function
	inBy     findings.Name   // its caller, if it is known and that is where the one that ran had waited
}

// finding is about the runs of one class; cells is not empty, costliest first.
func (w *watcher) finding(f *findings.Facts, cells []*cell) (findings.Finding, bool) {
	top := cells[0]
	n := evidence{
		cause: top.cause, cells: cells, longest: top,
		medianNs: w.view.ClassStat(top.victim).Median(), class: w.view.ClassStat(top.cause),
	}
	for _, c := range cells {
		n.cost += c.victims.Ns
		n.held += c.victims.N
		n.runs = max(n.runs, c.runs)
		if c.long.Ns > n.longest.long.Ns {
			n.longest = c
		}
	}
	s, ok := w.t.Grade.Severity(n.cost, f.RecordedNs())
	if !ok {
		return findings.Finding{}, false
	}
	if n.runs < w.t.MinCount || s == findings.Critical && n.runs < w.t.CriticalCount {
		s = s.Lower()
	}
	minor := n.minor(f)
	if minor {
		s = findings.Note
	}
	x := findings.Finding{
		Severity: s, CostNs: n.cost, FromNs: n.longest.long.From, ToNs: n.longest.long.To, Basis: findings.Inferred,
		Actors: w.actors(f, &n),
	}
	if !minor {
		n.gather(f, x.Cause())
	}
	n.rare = n.class.Runs > 0 && float64(n.runs) < w.t.Rare*float64(n.class.Runs) && float64(n.longest.runNs) < w.t.Minor*float64(n.class.RunNs)
	cause := x.Cause()
	long := quantity.Duration(n.longest.long.Ns)
	var after findings.Text
	if a := (findings.Actor{Class: string(f.Name(n.cause)), Stack: f.Frames(n.longest.after)}); a.Short() != findings.Short(f.Name(n.cause)) {
		after = findings.Say(" after its wait in %s", findings.Called(a.Short(), a.Caller()))
	}
	x.Headline = findings.Say("Runs of %s of up to %s hold up short ones", cause.Brief(), long)
	x.Title = findings.Say("Runs of %s lasting up to %s held up, %s, goroutines that need %s at a time",
		cause.Work(), long, quantity.Plural(n.held, "time", "times"), quantity.Duration(n.medianNs))
	x.Measured("long runs with others behind them", findings.Count(n.runs), findings.Time(w.t.LongNs).With(" each"))
	x.Measured("the longest", findings.Time(n.longest.long.Ns), findings.Time(w.t.LongNs))
	x.Measured("their mean", findings.Time(top.runNs/top.runs))
	x.Measured("median run of those behind", findings.Time(n.medianNs), findings.Times(w.t.Ratio).With(" shorter"))
	x.Measured("goroutines that they found waiting behind them", findings.Count(n.held))
	x.Measured("longest that one of these stood behind one run", findings.Time(top.victims.Worst))
	x.Advise("Split the long work of %s%s into pieces of some 100 µs and let others in between them (runtime.Gosched, or a channel operation that blocks).", cause.Work(), after)
	x.Advise("Or bound how many such goroutines run at once, below GOMAXPROCS, so that a P stays free for short work; or move the heavy part into another process.")
	x.Advise("If the long runs are not stopped after some 20 ms, look for loops that the runtime cannot preempt, and for a machine that lacks CPUs.")
	if n.together > 0 {
		are, in := "are in", findings.Called(n.in, n.inBy)
		if n.in != cause.Short() {
			are = "come from"
		}
		x.MeasuredOf(findings.Say("goroutines that were in %s at once, or had just been", n.in), findings.Count(n.together+1), findings.Count(crowd(f)+1))
		x.Advice = slices.Insert(x.Advice, 0, findings.Say("See whether the up to %s goroutines that %s %s at once do the same, as when a cache has expired: then let one do it, and the others wait for it (golang.org/x/sync/singleflight) or go on with what was there before. If not, let only a few in at a time.", quantity.Count(n.together+1), are, in))
	}
	for _, c := range n.cells[1:min(maxVictims, len(n.cells))] {
		x.MeasuredOf(findings.Say("of the cost, to %s", f.Name(c.victim)), findings.Time(c.victims.Ns))
	}
	if n.rare {
		x.Measured("all runs of that class", findings.Count(n.class.Runs).With(", median %s", quantity.Duration(n.class.Median())))
		x.Advise("Runs this long are rare in this class: their threads may just have had no CPU for a while. CPU samples in the trace would tell.")
	}
	switch {
	case n.rare:
		x.Severity, x.Basis = findings.Note, findings.Suspected
	case 10*n.runs < n.class.Runs:
		x.Feigned = findings.ByStall
	}
	return x, true
}

// minorShare is the share of the waiting of those who were held up below which the long runs
// are not what they waited for. Of the labelled recordings in which the long runs are the
// trouble the lowest share is 49 %; where long runs come of another one, as the garbage
// collector or a crowd, the highest is 32 %.
const minorShare = 0.4

// minor reports whether those who were held up waited mostly for something else.
func (n *evidence) minor(f *findings.Facts) bool {
	victims := map[int32]bool{}
	for _, c := range n.cells {
		victims[c.victim] = true
	}
	var waited int64
	for i := range f.Waits.Classes {
		c := &f.Waits.Classes[i]
		if victims[c.ID] {
			waited += c.Waits.TotalNs
		}
	}
	return float64(n.cost) < minorShare*float64(waited)
}

// crowd is how many goroutines that have begun the same are more than happens to be.
func crowd(f *findings.Facts) int64 { return 2 * int64(max(2, f.GOMAXPROCS)) }

// gather notes how many goroutines waited behind one of their own class, at most, that had
// stopped in the function which it runs, or where it had waited last if it is not known what it
// runs: they had begun the same. A function that they begin with does not count.
func (n *evidence) gather(f *findings.Facts, cause *findings.Actor) {
	start := findings.Short(findings.Name(cause.Class))
	in, by := cause.Short(), findings.Name("")
	if in == start {
		after := findings.Actor{Class: cause.Class, Stack: f.Frames(n.longest.after)}
		in, by = after.Short(), after.Caller()
	}
	if in == start {
		return
	}
	var most int64
	for _, c := range n.cells {
		for _, a := range c.alike {
			if a.most > most && findings.Through(f.Frames(a.stack), string(in)) {
				most = a.most
			}
		}
	}
	if most >= crowd(f) {
		n.together, n.in, n.inBy = most, in, by
	}
}

func (w *watcher) actors(f *findings.Facts, n *evidence) (actors []findings.Actor) {
	for _, c := range n.cells[:min(maxVictims, len(n.cells))] {
		actors = append(actors, c.victims.Actor(f, findings.Victim))
	}
	a := n.longest.long.Actor(f, findings.Cause)
	if doing := w.view.Doing(f, n.cause); doing != nil {
		a.Stack, n.longest.after = doing, 0
	}
	return append(actors, a)
}

// maxVictims is how many classes of those held up are named.
const maxVictims = 3

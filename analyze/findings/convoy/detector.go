// Package convoy is the detector convoy: did long runs hold up short ones?
// doc.md explains it.
package convoy

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/reference"
)

//go:embed doc.md
var doc string

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
	Rare  float64        `json:"rare"`
	Minor float64        `json:"minor"`
	Grade findings.Grade `json:"grade"`
}

// Default returns the default thresholds.
func Default() Thresholds {
	return Thresholds{LongNs: 1_000_000, Ratio: 10, MinCount: 3, CriticalCount: 10, Rare: 0.01, Minor: 0.5, Grade: findings.DefaultGrade()}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Title: "long runs in front of short ones", Doc: doc,
		Kind: findings.KindCause, NeedsQueues: true,
		Remedy: findings.Remedy{YieldNs: 100_000, Why: "the long work in pieces, with a point between them at which others get in"},
		New: func(env findings.Env) findings.Watcher {
			w := &watcher{t: t, world: env.World, at: map[pair]int{}}
			env.World.Runs(findings.RunFilter{MinNs: t.LongNs}, w.run)
			return w
		},
	}
}

type watcher struct {
	findings.Quiet
	t     Thresholds
	world *findings.World
	cells []cell
	at    map[pair]int
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
	longest int64
	g       int64 // that had the run of the worst case
	p       int32
	stack   int32
}

// maxPairs bounds memory; what comes later is not told.
const maxPairs = 8192

// maxGlobal is how many goroutines of the global queue are looked at after one
// run, the earliest ones.
const maxGlobal = 256

func (w *watcher) run(r *findings.Run) {
	if r.System || r.Ns() < w.t.LongNs {
		return
	}
	w.world.Waiting(r.P, func(g *findings.Goroutine) bool { return w.behind(r, g, 1) })
	n := 0
	w.world.Waiting(reference.NoP, func(g *findings.Goroutine) bool {
		n++
		return w.behind(r, g, w.world.Procs()) && n < maxGlobal
	})
}

// behind adds the time that g stood behind the run s. Of the global queue each P
// takes its part: by.
func (w *watcher) behind(s *findings.Run, g *findings.Goroutine, by int64) bool {
	ns := (s.To - max(g.QueuedAt, s.From) - s.SyscallNs) / by
	if g.Self || ns <= 0 || w.feeds(s, g) {
		return true
	}
	k := pair{s.Class, g.Class}
	i, ok := w.at[k]
	if !ok {
		if len(w.cells) >= maxPairs {
			return true
		}
		i = len(w.cells)
		w.cells = append(w.cells, cell{pair: k, last: -1})
		w.at[k] = i
	}
	c := &w.cells[i]
	if c.last != s.From || c.lastP != s.P {
		c.runs++
		c.runNs += s.Ns()
		c.last, c.lastP = s.From, s.P
		if s.Ns() > c.longest {
			c.longest, c.g, c.p, c.stack = s.Ns(), s.G, s.P, s.Stack
			c.victims.From, c.victims.To = s.From, s.To
		}
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
	by := w.world.ByID(g.Waker)
	return by != nil && by.Class == s.Class
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	// Only now are the usual runs of the victims known.
	byCause := map[int32][]cell{}
	var causes []int32
	for _, c := range w.cells {
		median := w.world.ClassStat(c.victim).Median()
		if c.runs == 0 || median == 0 || float64(c.runNs)/float64(c.runs) < w.t.Ratio*float64(median) {
			continue
		}
		if byCause[c.cause] == nil {
			causes = append(causes, c.cause)
		}
		byCause[c.cause] = append(byCause[c.cause], c)
	}
	var out []findings.Finding
	for _, cause := range causes {
		cells := byCause[cause]
		slices.SortFunc(cells, func(x, y cell) int {
			return cmp.Or(cmp.Compare(y.victims.Ns, x.victims.Ns), cmp.Compare(x.victim, y.victim))
		})
		if x, ok := w.finding(f, cause, cells); ok {
			out = append(out, x)
		}
	}
	return out
}

// finding is about the runs of one class; cells is not empty, worst first.
func (w *watcher) finding(f *findings.Facts, cause int32, cells []cell) (findings.Finding, bool) {
	var cost, held int64
	top := cells[0]
	runs, longest := top.runs, top
	for _, c := range cells {
		cost += c.victims.Ns
		held += c.victims.N
		runs = max(runs, c.runs)
		if c.longest > longest.longest {
			longest = c
		}
	}
	s, ok := w.t.Grade.Severity(cost, f.RecordedNs())
	if !ok {
		return findings.Finding{}, false
	}
	name := f.Name(cause)
	median := w.world.ClassStat(top.victim).Median()
	x := findings.Finding{
		ID: ID, Severity: s, CostNs: cost, FromNs: longest.victims.From, ToNs: longest.victims.To, Basis: findings.Inferred,
		Title: fmt.Sprintf("Runs of %s lasting up to %s held up, %s, goroutines that need %s at a time",
			name, findings.Dur(longest.longest), findings.Plural(held, "time", "times"), findings.Dur(median)),
		Evidence: []findings.Evidence{
			{What: "long runs with others behind them", Value: findings.Count(runs), Limit: findings.Dur(w.t.LongNs) + " each"},
			{What: "the longest", Value: findings.Dur(longest.longest), Limit: findings.Dur(w.t.LongNs), Ns: longest.longest},
			{What: "their mean", Value: findings.Dur(top.runNs / top.runs), Ns: top.runNs / top.runs},
			{What: "median run of those behind", Value: findings.Dur(median), Limit: findings.Times(w.t.Ratio) + " shorter", Ns: median},
			{What: "goroutines that they found waiting behind them", Value: findings.Count(held)},
			{What: "longest that one of these stood behind one run", Value: findings.Dur(top.victims.Worst), Ns: top.victims.Worst},
		},
		Advice: []string{
			"Split the long work of " + name + " into pieces of some 100 µs and let others in between them (runtime.Gosched, or a channel operation that blocks).",
			"Or bound how many such goroutines run at once, below GOMAXPROCS, so that a P stays free for short work; or move the heavy part into another process.",
			"If the long runs are not stopped after some 20 ms, see late-preemption.",
		},
	}
	for i, c := range cells {
		if i == 3 {
			break
		}
		a := f.Class(findings.Victim, c.victim)
		a.G, a.P = c.victims.G, findings.OnP(c.victims.P)
		x.Actors = append(x.Actors, a)
		if i > 0 {
			x.Evidence = append(x.Evidence, findings.Evidence{What: "of the cost, to " + a.Class, Value: findings.Dur(c.victims.Ns), Ns: c.victims.Ns})
		}
	}
	a := f.Class(findings.Cause, cause)
	a.G, a.P, a.Stack = longest.g, findings.OnP(longest.p), f.Frames(longest.stack)
	x.Actors = append(x.Actors, a)
	if runs < w.t.MinCount || s == findings.Critical && runs < w.t.CriticalCount {
		x.Severity = s.Lower()
	}
	c := w.world.ClassStat(cause)
	if c.Runs > 0 && float64(runs) < w.t.Rare*float64(c.Runs) && float64(longest.runNs) < w.t.Minor*float64(c.RunNs) {
		x.Severity, x.Basis = findings.Note, findings.Suspected
		x.Evidence = append(x.Evidence, findings.Evidence{What: "all runs of that class", Value: findings.Count(c.Runs) + ", median " + findings.Dur(c.Median())})
		x.Advice = append(x.Advice, "Runs this long are rare in this class: their threads may just have had no CPU for a while. CPU samples in the trace would tell.")
	} else if 10*runs < c.Runs {
		f.Doubt(&x)
	} else {
		f.Short(&x)
	}
	return x, true
}

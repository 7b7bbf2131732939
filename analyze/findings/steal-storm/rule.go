// Package stealstorm is the detector steal-storm: did the Ps live on stealing
// tiny pieces of work from one another? doc.md explains it.
package stealstorm

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "steal-storm"

// Thresholds decide when the detector reports steals of tiny pieces of work at a high rate.
// Fields whose names end in Ns are in nanoseconds; shares are fractions from 0 to 1.
type Thresholds struct {
	Share    float64        `json:"share"`     // a larger share of the starts than this must be of goroutines stolen from another P
	RunNs    int64          `json:"run_ns"`    // the median run interval of stolen goroutines must be shorter
	Rate     float64        `json:"rate"`      // least number of stolen starts in a second
	WindowNs int64          `json:"window_ns"` // length of the windows in which all this is judged
	Grade    findings.Grade `json:"grade"`     // severities, by the time that stolen goroutines waited while their thief looked for work
}

// Default returns the thresholds that apply unless a configuration sets others. A steal out of
// runnext backs off for a nominal 3 µs first, some 55 µs in fact (runtime's runqgrab), so that
// a stolen run interval of under 10 µs does not pay. The share is a guess that healthy
// programs with many small run intervals, up to 20 %, do not reach.
func Default() Thresholds {
	return Thresholds{Share: 0.25, RunNs: 10_000, Rate: 2000, WindowNs: 100_000_000, Grade: findings.DefaultGrade()}
}

// New returns the detector that reports steals of tiny pieces of work at a high rate, with
// thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, NeedsQueues: true, Delays: true,
		Remedy: findings.Remedy{Why: "its cost is CPU time of the scheduler, not waiting"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view}
			w.windows = findings.NewWindows(t.WindowNs, w.weigh, sum)
			view.Windows(t.WindowNs, w.roll)
			view.Runs(findings.RunFilter{Stolen: true}, w.run)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindSteal}}, w.steal)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	runs    int64 // run intervals up to the end of the window
	before  int64 // and up to its beginning
	windows findings.Windows[account]
	taken   findings.Tally
	wakers  findings.Tally
	from    [ledger.MaxPs]int64 // steals, by victim
}

// account is what happened in a window.
type account struct {
	starts, stolen int64
	idle           int64 // ns in which a stolen one waited while its thief looked for work
	steals, moved  int64
	lengths        findings.Lengths
}

// weigh reports whether a window counts, and by how much.
func (w *watcher) weigh(a *account) (stolen int64, counts bool) {
	a.starts = w.runs - w.before
	w.before = w.runs
	return a.stolen, float64(a.stolen) > w.t.Share*float64(a.starts) && float64(a.stolen) >= w.t.Rate*float64(w.t.WindowNs)/1e9 &&
		a.lengths.Median() < w.t.RunNs
}

func sum(t, a *account) {
	t.starts += a.starts
	t.stolen += a.stolen
	t.idle += a.idle
	t.steals += a.steals
	t.moved += a.moved
	t.lengths.Merge(&a.lengths)
}

// roll begins the window that r is the first run interval of.
func (w *watcher) roll(r *findings.Run) {
	w.runs = w.view.Totals().Runs - 1
	w.windows.Close(r.To)
}

func (w *watcher) run(r *findings.Run) {
	a := w.windows.Now()
	a.stolen++
	a.idle += r.IdleWait
	a.lengths.Add(r.Ns())
	w.taken.Add(&findings.Cell{Class: r.Class, Ns: r.IdleWait, From: r.From - r.IdleWait, To: r.From, G: r.G, P: r.P, Stack: r.Stack})
	// Who feeds the queues is asked of some only: it costs a look-up.
	if a.stolen%sample != 0 {
		return
	}
	if g := w.view.ByID(r.G); g != nil {
		if by := w.view.ByID(g.Waker); by != nil {
			w.wakers.Add(&findings.Cell{Class: by.Class, Ns: 1, G: by.ID, P: by.RanOn, Stack: g.WakeStack})
		}
	}
}

const sample = 16

func (w *watcher) steal(d *reference.Decision) {
	a := w.windows.Now()
	a.steals++
	a.moved += int64(d.Batch)
	if d.Victim >= 0 && d.Victim < ledger.MaxPs {
		w.from[d.Victim]++
	}
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	w.runs = w.view.Totals().Runs
	w.windows.Close(f.EndNs)
	t, worstAt := &w.windows.Total, w.windows.WorstAt
	s, ok := w.t.Grade.Severity(t.idle, f.RecordedNs())
	if !ok {
		return nil
	}
	x := findings.Finding{
		Severity: s, CostNs: t.idle, FromNs: worstAt, ToNs: min(f.EndNs, worstAt+w.t.WindowNs), Basis: findings.Inferred, Feigned: findings.ByStall,
		Actors: append(w.taken.Actors(f, findings.Victim, 2), w.wakers.Actors(f, findings.Cause, 2)...),
	}
	share, median := quantity.Ratio(t.stolen, t.starts), t.lengths.Median()
	x.Headline = findings.Say("%s of the starts are steals, of work for %s", quantity.Percent(share), quantity.Duration(median))
	x.Title = findings.Say("%s of the starts were of goroutines stolen from another P, which then ran for %s (median)", quantity.Percent(share), quantity.Duration(median))
	x.Measured("starts that were stolen", findings.Share(share), findings.Share(w.t.Share))
	x.Measured("median run interval of these", findings.Time(median), findings.Time(w.t.RunNs))
	x.Measured("stolen starts in the worst "+quantity.Duration(w.t.WindowNs), findings.Count(w.windows.Worst), findings.Count(int64(w.t.Rate*float64(w.t.WindowNs)/1e9)))
	x.Measured("goroutines taken by one steal, on average", findings.Number(quantity.Ratio(t.moved, max(1, t.steals))))
	x.Measured("waiting of stolen goroutines while the thief looked for work, on average", findings.Time(t.idle/t.stolen))
	who := findings.Say("the producer")
	if top := w.wakers.Top(1); len(top) > 0 {
		who = findings.Say("%s", f.Name(top[0].Class))
	}
	var all, most int64
	from := reference.NoP
	for p, steals := range w.from {
		if all += steals; steals > most {
			most, from = steals, int32(p)
		}
	}
	if all > 0 {
		x.Measured(fmt.Sprintf("of all steals, from P%d", from), findings.PartOf(most, all))
		if len(w.wakers.Cells) == 0 {
			x.Actors = append(x.Actors, findings.Actor{Role: findings.Cause, P: findings.OnP(from)})
		}
	}
	x.Advise("Make the pieces larger: let %s hand out batches, so that a stolen goroutine runs for 100 µs and more before it needs the next.", who)
	x.Advise("Let each P's goroutines produce their own work (shard the producer): what is made runnable on a P needs no steal there.")
	x.Advise("Fewer Ps (GOMAXPROCS) mean fewer thieves; look whether throughput falls at all.")
	return []findings.Finding{x}
}

// Package goroutinechurn is the detector goroutine-churn: were goroutines
// created for next to no work each? doc.md explains it.
package goroutinechurn

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "goroutine-churn"

// Thresholds decide when the detector reports goroutines created at a high rate for next to no
// work each. Fields whose names end in Ns are in nanoseconds.
type Thresholds struct {
	Rate     float64        `json:"rate"`      // more goroutines created in a second than this are too many
	LifeNs   int64          `json:"life_ns"`   // if the median running time in the whole life of one is less than this
	WindowNs int64          `json:"window_ns"` // length of the windows in which both are judged
	Grade    findings.Grade `json:"grade"`     // severities, by the time that short-lived goroutines waited for a P that had a thread and ran nothing
}

// Default returns the thresholds that apply unless a configuration sets others. They are
// guesses, checked on traces: creating, starting and ending a goroutine takes about a
// microsecond, so that 10,000 a second cost a hundredth of a CPU, and one that runs for 20 µs
// pays a twentieth of its work.
func Default() Thresholds {
	return Thresholds{Rate: 10_000, LifeNs: 20_000, WindowNs: 100_000_000, Grade: findings.DefaultGrade()}
}

// New returns the detector that reports goroutines created at a high rate for next to no work
// each, with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, Counted: true, Delays: true,
		Remedy: findings.Remedy{Why: "what creation costs is part of the goroutines' work"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, creators: findings.NewTable(findings.MaxKept, func(by creator) findings.Cell { return findings.Cell{Class: by.class} })}
			w.windows = findings.NewWindows(t.WindowNs, w.weigh, sum)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindReady}, Whys: []reference.Why{reference.WhyCreate}}, w.ready)
			view.Runs(findings.RunFilter{Whys: []reference.Why{reference.WhyExit}}, w.run)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	before   int64 // run intervals before the window
	windows  findings.Windows[account]
	short    findings.Tally // those that ended early
	creators findings.Table[creator, findings.Cell]
}

// creator is who creates goroutines, and where.
type creator struct{ class, stack int32 }

type account struct {
	created, starts int64
	ended           findings.Lengths // running time of those that ended
	idle            int64            // ns in which an early-ended one waited while its P ran nothing
}

// weigh reports whether a window counts, and by how much.
func (w *watcher) weigh(a *account) (created int64, counts bool) {
	runs := w.view.Totals().Runs
	a.starts = runs - w.before
	w.before = runs
	return a.created, float64(a.created) > w.t.Rate*float64(w.t.WindowNs)/1e9 && a.ended.N > 0 && a.ended.Median() < w.t.LifeNs
}

func sum(t, a *account) {
	t.created += a.created
	t.starts += a.starts
	t.idle += a.idle
	t.ended.Merge(&a.ended)
}

func (w *watcher) ready(d *reference.Decision) {
	g := w.view.Goroutine()
	if g == nil || g.System {
		return
	}
	a := w.windows.At(d.Time)
	a.created++
	if a.created%sample == 0 {
		c := findings.Cell{Ns: 1, G: d.By, P: reference.NoP, Stack: d.Stack}
		if by := w.view.ByID(d.By); by != nil {
			c.Class, c.P = by.Class, by.RanOn
		}
		if at := w.creators.At(creator{c.Class, c.Stack}); at != nil {
			at.Add(&c)
		}
	}
}

// sample: only every sample-th creation and exit is attributed to a class, since that costs a
// lookup.
const sample = 16

func (w *watcher) run(r *findings.Run) {
	if r.System {
		return
	}
	g := w.view.Goroutine()
	if g == nil || g.ID != r.G {
		return
	}
	a := w.windows.At(r.To)
	a.ended.Add(g.RunNs)
	if g.RunNs >= w.t.LifeNs {
		return
	}
	a.idle += r.IdleWait
	if a.ended.N%sample == 0 {
		w.short.Add(&findings.Cell{Class: r.Class, Ns: 1, From: r.From, To: r.To, G: r.G, P: r.P})
	}
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	w.windows.Close(f.EndNs)
	t, worst, worstAt := &w.windows.Total, w.windows.Worst, w.windows.WorstAt
	s, ok := w.t.Grade.Severity(t.idle, f.RecordedNs())
	// What creating and ending them cost the trace does not show: their number
	// decides. It is a waste, and nobody's delay, so that it is never critical.
	if t.created > 0 && float64(t.created) >= w.t.Rate*float64(f.RecordedNs())/1e9 || s == findings.Critical {
		s, ok = findings.Warning, true
	}
	if !ok {
		return nil
	}
	end, median := min(f.EndNs, worstAt+w.t.WindowNs), t.ended.Median()
	rate := quantity.Count(int64(float64(worst) / float64(max(1, end-worstAt)) * 1e9))
	x := findings.Finding{
		Severity: s, CostNs: t.idle, FromNs: worstAt, ToNs: end, Basis: findings.Inferred,
		Actors: w.short.Actors(f, findings.Victim, 2),
	}
	by := slices.SortedStableFunc(slices.Values(w.creators.List), func(a, b *findings.Cell) int { return cmp.Compare(b.N, a.N) })
	for _, c := range by[:min(2, len(by))] {
		x.Actors = append(x.Actors, c.Actor(f, findings.Cause))
	}
	if len(x.Actors) > 0 && x.Actors[0].Internal() { // nobody of the program can change that
		x.Severity = findings.Note
	}
	x.Headline = findings.Say("Goroutines are created for next to no work: up to %s a second", rate)
	x.Title = findings.Say("%s were created that ran for %s (median) in their whole life, up to %s a second",
		quantity.Plural(t.created, "goroutine", "goroutines"), quantity.Duration(median), rate)
	if a := x.Cause(); a != nil {
		if f.Part(by[0].Stack) == findings.TestCode { // that calls who does
			a = a.AtInnermost()
		}
		x.Headline = findings.Say("%s creates goroutines for next to no work: up to %s a second", a.Short(), rate)
		x.Title = findings.Say("%s created goroutines for next to no work: %s of %s ran for %s (median) in their whole life, up to %s a second",
			a.Doer(), quantity.Count(t.created), findings.Name(x.Actors[0].Class), quantity.Duration(median), rate)
	}
	x.Measured("creations in the worst "+quantity.Duration(w.t.WindowNs), findings.Count(worst), findings.Count(int64(w.t.Rate*float64(w.t.WindowNs)/1e9)))
	x.Measured("running time in the life of one, median", findings.Time(median), findings.Time(w.t.LifeNs))
	x.Measured("windows above the limits", findings.Count(w.windows.N))
	x.Measured("starts that were first ones", findings.Share(min(1, quantity.Ratio(t.created, max(1, t.starts)))))
	x.Measured("time that Ps took to get from one to the next, summed", findings.Time(t.idle))
	x.Advise("Do so little work in the caller, or give several items to one goroutine: creating, starting and ending one takes about a microsecond, and a stack.")
	x.Advise("Or keep a few workers, about GOMAXPROCS of them, that take items from a channel, several at a time.")
	return []findings.Finding{x}
}

// Package globalqueueneglect is the detector global-queue-neglect: did the Ps
// serve their own queues and forget the global one? doc.md explains it.
package globalqueueneglect

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "global-queue-neglect"

// Thresholds decide when the detector reports goroutines that stood in the global queue while
// Ps served their local run queues. Fields whose names end in Ns are in nanoseconds; shares
// are fractions from 0 to 1.
type Thresholds struct {
	WaitNs int64 `json:"wait_ns"` // a goroutine that stood in the global queue for longer may be neglected
	// Poll is the number of starts after which a P looks at the global queue before its local one, 61 in the
	// scheduler: it tells when a goroutine was due, and is not itself a threshold.
	Poll int64 `json:"poll"`
	// Ratio is how many times longer a neglected goroutine must have stood there than, on average, those
	// that were started from local queues meanwhile.
	Ratio    float64        `json:"ratio"`
	MinCount int64          `json:"min_count"` // number of such stays in the global queue from which on it is more than a note
	Share    float64        `json:"share"`     // share of the waiting of the program's goroutines from which on it may be critical
	Grade    findings.Grade `json:"grade"`     // severities, by the waiting of neglected goroutines, less what Poll accounts for
}

// Default returns the thresholds that apply unless a configuration sets others. Poll is the
// runtime's (findRunnable, Go 1.22 to 1.27): it does not follow the newest release, which says
// nothing about older traces.
func Default() Thresholds {
	return Thresholds{WaitNs: 1_000_000, Poll: 61, Ratio: 4, MinCount: 3, Share: 0.01, Grade: findings.DefaultGrade()}
}

// New returns the detector that reports goroutines that stood in the global queue while Ps
// served their local run queues, with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, NeedsQueues: true, Delays: true,
		Remedy: findings.Remedy{Policy: "fifo", Why: "one queue, served in order: the most that a way around the global queue can give"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view}
			view.Residencies(findings.ResidencyFilter{Global: true}, w.leave)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	victims findings.Tally
	waited  int64 // their whole residencies
	later   int64 // most starts that came before one of them
	polls   int64 // starts of others that waited in the global queue, at the tick
	batches int64 // other leavings
	maxLen  int32
}

func (w *watcher) leave(s *findings.Residency) {
	if !s.Open {
		if s.Src == reference.SrcGlobalTick {
			w.polls++
		} else {
			w.batches++
		}
	}
	ns := s.To - s.From
	due := w.t.Poll * w.view.Procs()
	if ns <= w.t.WaitNs || s.Later <= due || float64(ns) < w.t.Ratio*float64(s.LaterWait) {
		return
	}
	w.waited += ns
	w.later = max(w.later, s.Later)
	w.maxLen = max(w.maxLen, w.view.GlobalLen())
	// What a wait of just the polls that were due would have been is not lost.
	lost := int64(float64(ns) * (1 - float64(due)/float64(s.Later)))
	w.victims.Add(&findings.Cell{Class: s.G.Class, Ns: lost, From: s.From, To: s.To, G: s.G.ID, P: s.G.P, Stack: s.G.Stack})
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	total, totals := w.victims.Total, w.view.Totals()
	s, ok := w.t.Grade.Severity(total.Ns, f.RecordedNs())
	if !ok {
		return nil
	}
	if total.N < w.t.MinCount {
		s = s.Lower()
	}
	if s == findings.Critical && float64(total.Ns) < w.t.Share*float64(f.Waits.User.TotalNs) {
		s = findings.Warning
	}
	var fed []*findings.Class // started most out of local queues
	w.view.Classes(func(c *findings.Class) {
		if c.Local > 0 {
			fed = append(fed, c)
		}
	})
	slices.SortFunc(fed, func(x, y *findings.Class) int { return cmp.Or(cmp.Compare(y.Local, x.Local), cmp.Compare(x.ID, y.ID)) })
	fed = fed[:min(2, len(fed))]
	x := total.Finding(s, findings.Inferred)
	x.Actors = w.victims.Actors(f, findings.Victim, 3)
	x.Headline = findings.Say("Goroutines wait in the global queue while up to %s later ones are started", quantity.Count(w.later))
	x.Title = findings.Say("%s in the global queue while the Ps started later ones from their own queues, up to %s meanwhile",
		quantity.Plural(total.N, "time a goroutine stood", "times a goroutine stood"), quantity.Count(w.later))
	x.Measured("stays in the global queue that were too long", findings.Count(total.N), findings.Time(w.t.WaitNs))
	x.Measured("most local starts during one of them", findings.Count(w.later), findings.Count(w.t.Poll*w.view.Procs()).With(" (%s for each P)", quantity.Count(w.t.Poll)))
	x.Measured("the stays, summed", findings.Time(w.waited))
	x.Measured("longest excess of one", findings.Time(total.Worst))
	x.Measured("taken from the global queue, at the tick and otherwise", findings.Count(w.polls).With(" and %s", quantity.Count(w.batches)))
	x.Measured("length of the global queue when such a stay ended, at most", findings.Count(int64(w.maxLen)))
	for i, c := range fed {
		a := f.Class(findings.Cause, c.ID)
		if i == 0 {
			x.Headline = findings.Say("%s keeps the Ps' own queues full: the global one waits for up to %s starts", a.Short(), quantity.Count(w.later))
			x.Advise("Have fewer goroutines of %s runnable at once, or let them do more for each wake-up: most of what came first was theirs.", a.Short())
		}
		x.MeasuredOf(findings.Say("starts from local queues: %s", findings.Name(a.Class)), findings.Count(c.Local))
		x.Actors = append(x.Actors, a)
	}
	x.Advise("Find out what brings goroutines into the global queue: preemption of long runs, runtime.Gosched, system calls that lose their P, bursts of more than 256 new goroutines on one P; and have less of it.")
	x.Advise("Spread those who create or wake many goroutines over more than one goroutine, so that no P has a long queue of its own to serve first.")
	if 2*totals.Inherited > totals.LocalStarts {
		x.Measured("local starts that inherited the time slice, and so did not count for the tick", findings.PartOf(totals.Inherited, totals.LocalStarts))
		x.Advise("Most local starts inherit the time slice, which holds back the 61st tick: look for goroutines that wake one another in turn.")
	}
	return []findings.Finding{x}
}

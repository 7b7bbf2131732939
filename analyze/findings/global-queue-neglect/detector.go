// Package globalqueueneglect is the detector global-queue-neglect: did the Ps
// serve their own queues and forget the global one? doc.md explains it.
package globalqueueneglect

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
const ID = "global-queue-neglect"

// Thresholds of the detector.
type Thresholds struct {
	WaitNs int64 `json:"wait_ns"` // in the global queue
	// Poll is after how many starts a P looks at the global queue first.
	Poll int64 `json:"poll"`
	// Ratio is how many times longer it must have stood there than those waited,
	// on average, that were started from local queues meanwhile.
	Ratio    float64        `json:"ratio"`
	MinCount int64          `json:"min_count"` // of residencies, from which on it is more than a note
	Share    float64        `json:"share"`     // of the program's waiting, from which on it is critical
	Grade    findings.Grade `json:"grade"`
}

// Default returns the default thresholds. Poll is the runtime's (findRunnable).
func Default() Thresholds {
	return Thresholds{WaitNs: 1_000_000, Poll: int64(reference.Latest().GlobalPoll), Ratio: 4, MinCount: 3, Share: 0.01, Grade: findings.DefaultGrade()}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Title: "global queue left waiting behind local ones", Doc: doc,
		Kind: findings.KindCause, NeedsQueues: true,
		Remedy: findings.Remedy{Policy: "fifo", Why: "one queue, served in order: the most that a way around the global queue can give"},
		New: func(env findings.Env) findings.Watcher {
			w := &watcher{t: t, world: env.World}
			env.World.Residencies(findings.ResidencyFilter{Global: true}, w.leave)
			return w
		},
	}
}

type watcher struct {
	findings.Quiet
	t     Thresholds
	world *findings.World

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
	due := w.t.Poll * w.world.Procs()
	if ns <= w.t.WaitNs || s.Later <= due || s.G.Self || float64(ns) < w.t.Ratio*float64(s.LaterWait) {
		return
	}
	w.waited += ns
	w.later = max(w.later, s.Later)
	w.maxLen = max(w.maxLen, w.world.GlobalLen())
	// What a wait of just the polls that were due would have been is not lost.
	lost := int64(float64(ns) * (1 - float64(due)/float64(s.Later)))
	w.victims.Add(findings.Cell{Class: s.G.Class, Ns: lost, From: s.From, To: s.To, G: s.G.ID, P: s.G.P, Stack: s.G.Stack})
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	total := w.victims.Total
	s, ok := w.t.Grade.Severity(total.Ns, f.RecordedNs())
	if !ok {
		return nil
	}
	if total.N < w.t.MinCount && s != findings.Note {
		s = s.Lower()
	}
	if s == findings.Critical && float64(total.Ns) < w.t.Share*float64(f.Waits.User.TotalNs) {
		s = findings.Warning
	}
	local, hops := w.world.Starts()
	x := findings.Finding{
		ID: ID, Severity: s, CostNs: total.Ns, FromNs: total.From, ToNs: total.To, Basis: findings.Inferred,
		Title: fmt.Sprintf("%s in the global queue while the Ps started later ones from their own queues, up to %s meanwhile",
			findings.Plural(total.N, "time a goroutine stood", "times a goroutine stood"), findings.Count(w.later)),
		Actors: w.victims.Actors(f, findings.Victim, 3),
		Evidence: []findings.Evidence{
			{What: "stays in the global queue that were too long", Value: findings.Count(total.N), Limit: findings.Dur(w.t.WaitNs)},
			{What: "most local starts during one of them", Value: findings.Count(w.later), Limit: findings.Count(w.t.Poll*w.world.Procs()) + " (" + findings.Count(w.t.Poll) + " for each P)"},
			{What: "the stays, summed", Value: findings.Dur(w.waited), Ns: w.waited},
			{What: "longest excess of one", Value: findings.Dur(total.Worst), Ns: total.Worst},
			{What: "taken from the global queue, at the tick and otherwise", Value: findings.Count(w.polls) + " and " + findings.Count(w.batches)},
			{What: "length of the global queue when such a stay ended, at most", Value: findings.Count(int64(w.maxLen))},
		},
		Advice: []string{
			"Find out what brings goroutines into the global queue: preemption of long runs, runtime.Gosched, system calls that lose their P, bursts of more than 256 new goroutines on one P; and have less of it.",
			"Spread those who create or wake many goroutines over more than one goroutine, so that no P has a long queue of its own to serve first.",
		},
	}
	if local > 0 && 2*hops > local {
		x.Evidence = append(x.Evidence, findings.Evidence{What: "local starts that inherited the time slice, and so did not count for the tick", Value: findings.Percent(float64(hops) / float64(local))})
		x.Advice = append(x.Advice, "Most local starts inherit the time slice, which holds back the 61st tick: see runnext-monopoly.")
	}
	type feeder struct {
		class int32
		n     int64
	}
	var fed []feeder
	w.world.Classes(func(c *findings.Class) {
		if c.Local > 0 {
			fed = append(fed, feeder{c.ID, c.Local})
		}
	})
	slices.SortFunc(fed, func(x, y feeder) int {
		return cmp.Or(cmp.Compare(y.n, x.n), cmp.Compare(x.class, y.class))
	})
	for _, c := range fed[:min(2, len(fed))] {
		a := f.Class(findings.Cause, c.class)
		x.Actors = append(x.Actors, a)
		x.Evidence = append(x.Evidence, findings.Evidence{What: "starts from local queues: " + a.Class, Value: findings.Count(c.n)})
	}
	f.Short(&x)
	return []findings.Finding{x}
}

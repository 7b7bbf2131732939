// Package starvation is the detector starvation: did goroutines wait far longer
// than sharing the Ps explains? doc.md explains it.
package starvation

import (
	_ "embed"
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/waits"
)

//go:embed doc.md
var doc string

// ID of the detector.
const ID = "starvation"

// Thresholds of the detector.
type Thresholds struct {
	LongNs   int64 `json:"long_ns"`   // shorter waits are not looked at
	SevereNs int64 `json:"severe_ns"` // one this long makes it severe
	// Stretch is how many times longer than under equal sharing a wait must be.
	Stretch float64 `json:"stretch"`
	// QueueShare and QueueNs: severe waits that sharing does explain are worth a
	// note from this share of all P-time, and this much of them, on.
	// QueueSome is the share of the duration in which somebody must have waited,
	// and QueueMinNs the least duration: a burst of work is no lack of Ps.
	QueueShare float64 `json:"queue_share"`
	QueueNs    int64   `json:"queue_ns"`
	QueueSome  float64 `json:"queue_some"`
	QueueMinNs int64   `json:"queue_min_ns"`
	// MinCount is the number of starved waits from which on it is more than a note.
	// One as long as AloneNs suffices.
	MinCount int64 `json:"min_count"`
	AloneNs  int64 `json:"alone_ns"`
	// ManyCount is the number of starved waits from which on they are more than
	// a note although none is of SevereNs.
	ManyCount int64 `json:"many_count"`
	// Grade of the excess waiting.
	Grade findings.Grade `json:"grade"`
}

// Default returns the default thresholds.
func Default() Thresholds {
	g := findings.DefaultGrade()
	g.NoteNs = 10_000_000
	return Thresholds{LongNs: 1_000_000, SevereNs: 10_000_000, Stretch: 3, QueueShare: 0.1, QueueNs: 100_000_000, QueueSome: 0.5, QueueMinNs: 100_000_000, MinCount: 3, AloneNs: 100_000_000, ManyCount: 100, Grade: g}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Title: "runnable goroutines kept from running", Doc: doc,
		Kind:   findings.KindSymptom,
		Remedy: findings.Remedy{ProcsTimes: 2, Why: "more Ps, or as much less to do for each; if the machine has the cores"},
		New: func(env findings.Env) findings.Watcher {
			w := &watcher{t: t, world: env.World}
			env.World.Runs(findings.RunFilter{MinWaitNs: t.LongNs}, w.run)
			return w
		},
	}
}

type watcher struct {
	findings.Quiet
	t     Thresholds
	world *findings.World

	starved findings.Tally // the excess of starved waits
	severe  int64          // of them, those of SevereNs or more
	waited  int64          // their whole length
	longest int64
	open    int64 // still waiting at the end
	queued  findings.Tally
	load    float64 // highest of the queued
}

// run judges the wait before a run interval: only its length tells how much
// the goroutine wanted.
func (w *watcher) run(r *findings.Run) {
	if !r.Counted {
		return
	}
	w.judge(r.Wait, max(r.Ns(), w.world.ClassStat(r.Class).Mean()), r.Load,
		findings.Cell{Class: r.Class, From: r.From - r.Wait, To: r.From, G: r.G, P: r.P, Stack: r.Stack})
}

// judge compares a wait with what equal sharing of the Ps among all that wanted
// them would have given: a goroutine that needs x is through after x times the
// load, so it waits that long less x.
func (w *watcher) judge(wait, need int64, load float64, c findings.Cell) {
	fair := int64(float64(max(1, need)) * (load - 1))
	if float64(wait) < w.t.Stretch*float64(max(1, need))*load {
		if wait >= w.t.SevereNs {
			c.Ns = wait
			w.queued.Add(c)
			w.load = max(w.load, load)
		}
		return
	}
	c.Ns = wait - fair
	w.starved.Add(c)
	w.waited += wait
	w.longest = max(w.longest, wait)
	if wait >= w.t.SevereNs {
		w.severe++
	}
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	w.world.Everyone(func(g *findings.Goroutine) {
		if wait := f.EndNs - g.ReadyAt; wait >= w.t.LongNs && !g.Self {
			need := w.world.ClassStat(g.Class).Mean()
			if need == 0 {
				need = w.world.MeanRun()
			}
			n := w.starved.Total.N
			w.judge(wait, need, w.world.LoadOf(g), findings.Cell{Class: g.Class, From: g.ReadyAt, To: f.EndNs, G: g.ID, P: g.P, Stack: g.Stack})
			w.open += w.starved.Total.N - n
		}
	})
	var out []findings.Finding
	total := w.starved.Total
	s, ok := w.t.Grade.Severity(total.Ns, f.RecordedNs())
	if ok && (w.severe > 0 || s != findings.Note) {
		if w.severe == 0 {
			if s == findings.Critical {
				s = findings.Warning
			}
			if total.N < w.t.ManyCount {
				s = findings.Note
			}
		}
		if total.N < w.t.MinCount && w.longest < w.t.AloneNs {
			s = findings.Note
		}
		x := findings.Finding{
			ID: ID, Severity: s, CostNs: total.Ns, FromNs: total.From, ToNs: total.To, Basis: findings.Certain,
			Title: fmt.Sprintf("%s of over %s took more than %s what sharing the Ps fairly would have; the longest %s",
				findings.Plural(total.N, "wait", "waits"), findings.Dur(w.t.LongNs), findings.Times(w.t.Stretch), findings.Dur(w.longest)),
			Actors: w.starved.Actors(f, findings.Victim, 4),
			Evidence: []findings.Evidence{
				{What: "starved waits", Value: findings.Count(total.N), Limit: findings.Dur(w.t.LongNs) + ", and " + findings.Times(w.t.Stretch) + " equal sharing"},
				{What: "longest of them", Value: findings.Dur(w.longest), Limit: findings.Dur(w.t.SevereNs), Ns: w.longest},
				{What: "of them severe", Value: findings.Count(w.severe), Limit: findings.Dur(w.t.SevereNs)},
				{What: "their length, summed", Value: findings.Dur(w.waited), Ns: w.waited},
				{What: "of it, more than equal sharing", Value: findings.Dur(total.Ns), Ns: total.Ns},
			},
		}
		if u := f.Waits.User; u.TotalNs > 0 {
			x.Evidence = append(x.Evidence,
				findings.Evidence{What: "all waiting of the program", Value: findings.Dur(u.TotalNs), Ns: u.TotalNs},
				findings.Evidence{What: "time-weighted median wait", Value: findings.Dur(u.TimeWeighted.P50), Ns: u.TimeWeighted.P50},
				findings.Evidence{What: "share of it in waits over 10 ms", Value: findings.Percent(u.TailMass["10ms"])})
		}
		if w.open > 0 {
			x.Evidence = append(x.Evidence, findings.Evidence{What: "starved waits that the end of the trace cut off", Value: findings.Count(w.open)})
		}
		story(f, total, &x)
		x.Advice = append(x.Advice, advice(f)...)
		f.Doubt(&x)
		out = append(out, x)
	}
	q := w.queued.Total
	if len(out) == 0 && f.RecordedNs() >= w.t.QueueMinNs && f.Pressure.Some >= w.t.QueueSome && q.Ns >= w.t.QueueNs && float64(q.Ns) >= w.t.QueueShare*float64(f.PT()) {
		out = append(out, findings.Finding{
			ID: ID, Severity: findings.Note, CostNs: q.Ns, FromNs: q.From, ToNs: q.To, Basis: findings.Certain,
			Title: fmt.Sprintf("There was more work than Ps: %s of %s or more are plain queueing, up to %s goroutines for each P",
				findings.Plural(q.N, "wait", "waits"), findings.Dur(w.t.SevereNs), findings.Number(w.load)),
			Actors: w.queued.Actors(f, findings.Victim, 3),
			Evidence: []findings.Evidence{
				{What: "waits that equal sharing explains", Value: findings.Count(q.N), Limit: findings.Dur(w.t.SevereNs)},
				{What: "summed", Value: findings.Dur(q.Ns), Limit: findings.Percent(w.t.QueueShare) + " of the P-time", Ns: q.Ns},
				{What: "goroutines that wanted each P, at most", Value: findings.Number(w.load)},
			},
			Advice: []string{"Nobody is treated unfairly; the load is too high for this many Ps. Run fewer CPU-bound goroutines at once, do less work, or raise GOMAXPROCS if the machine has free cores."},
		})
	}
	return out
}

// story adds what is known of the worst wait.
func story(f *findings.Facts, worst findings.Cell, x *findings.Finding) {
	for i := range f.Waits.Worst {
		s := &f.Waits.Worst[i]
		if s.G != worst.G || s.FromNs != worst.From {
			continue
		}
		for _, a := range s.Ahead[:min(3, len(s.Ahead))] {
			b := f.Class(findings.Cause, a.Class)
			if a.Name != "" {
				b.Class = a.Name
			}
			x.Actors = append(x.Actors, b)
			x.Evidence = append(x.Evidence, findings.Evidence{
				What: "ran on that P during the longest wait: " + b.Class, Value: fmt.Sprintf("%s in %s", findings.Dur(a.Ns), findings.Plural(a.Runs, "run", "runs")), Ns: a.Ns})
		}
		return
	}
}

// byCause says which detector explains a cause of waiting further.
var byCause = map[waits.Cause]string{
	waits.CauseSTW:         "Most waiting is for a stopped world: look at what stops it, and how long the last P takes to stop.",
	waits.CauseUnavailable: "Most waiting is for a P that a system call or a locked thread holds: move blocking calls and locked threads away from urgent work.",
	waits.CauseGC:          "Most waiting is behind mark workers of the garbage collector: allocate less, or raise GOGC or GOMEMLIMIT.",
	waits.CauseIdlePWaking: "Most waiting is for a P that was waking up: threads start slowly on this machine.",
	waits.CauseIdlePMissed: "Most waiting happened while a P was idle: see work-conservation.",
	waits.CauseBehind:      "Most waiting is behind goroutines that were there earlier: see convoy and late-preemption for long runs among them. If all Ps are busy and no run is long, the load is too high for this many Ps.",
	waits.CauseOvertaken:   "Most waiting is for goroutines that came later and ran first: see runnext-monopoly and global-queue-neglect.",
	waits.CauseTracer:      "Most waiting is for the tracer itself: trace less.",
	waits.CauseResidue:     "Most waiting happened while no goroutine ran on the P: the machine may have fewer free cores than Ps.",
}

func advice(f *findings.Facts) []string {
	var best waits.CauseTime
	for _, c := range f.Waits.User.Causes {
		if c.Ns > best.Ns {
			best = c
		}
	}
	if a := byCause[best.Cause]; a != "" {
		return []string{a}
	}
	return []string{"Look at who ran meanwhile: see convoy, runnext-monopoly, global-queue-neglect and work-conservation."}
}

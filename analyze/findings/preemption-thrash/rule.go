// Package preemptionthrash is the detector preemption-thrash: were more
// CPU-bound goroutines under way at once than there are Ps? doc.md explains it.
package preemptionthrash

import (
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "preemption-thrash"

// Thresholds decide when the detector reports preemptions where more CPU-bound goroutines are
// under way than there are Ps. Fields whose names end in Ns are in nanoseconds.
type Thresholds struct {
	// RunNs is the run before a preemption from which on the goroutine counts as
	// CPU-bound: half of the runtime's slice. Shorter ones were charged with the
	// slice of another.
	RunNs int64 `json:"run_ns"`
	// WaitNs is the wait after it from which on another had the P meanwhile; a
	// goroutine that nobody competes with goes on within microseconds.
	WaitNs int64 `json:"wait_ns"`
	// Rate is how many such preemptions a second there must be for each P. A P
	// that only CPU-bound goroutines use has 40 to 100 of them (runtime/proc.go:
	// retake; measured: one every 20 ms).
	Rate float64 `json:"rate"`
	// BucketNs is over how long the rate is taken, and SustainedNs for how long
	// in all it must be so high.
	BucketNs    int64 `json:"bucket_ns"`
	SustainedNs int64 `json:"sustained_ns"`
	// Waiting is how many preempted goroutines must wait for each P, on average
	// while that lasts, and MinCount of the preemptions there must be, for more
	// than a note: with 1 waiting, twice as many are under way as the Ps can run.
	Waiting  float64        `json:"waiting"`
	MinCount int64          `json:"min_count"`
	Grade    findings.Grade `json:"grade"` // severities, by the waiting of goroutines that were preempted
}

// Default returns the thresholds that apply unless a configuration sets others.
func Default() Thresholds {
	return Thresholds{RunNs: 5_000_000, WaitNs: 1_000_000, Rate: 20, BucketNs: 200_000_000, SustainedNs: 200_000_000, Waiting: 0.75, MinCount: 20, Grade: findings.DefaultGrade()}
}

// New returns the detector that reports preemptions where more CPU-bound goroutines are under
// way than there are Ps, with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, NeedsQueues: true, InLine: findings.Queued(), Delays: true,
		Remedy: findings.Remedy{Why: "its advice changes who is admitted, not how long all wait"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, bound: map[int64]int64{}, inBucket: map[int64]struct{}{}}
			view.Runs(findings.RunFilter{Whys: []reference.Why{reference.WhySlice}}, w.run)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindPreempt}}, w.preempt)
			view.Residencies(findings.ResidencyFilter{Whys: []reference.Why{reference.WhySlice}}, w.leave)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindLost}}, w.lose)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	bound   map[int64]int64 // goroutines preempted after a long run: how long, ns
	victims findings.Tally
	all     int64 // preemptions at the end of a slice
	others  int64 // preemptions for the runtime
	runs    int64 // ns that the victims had run before

	bucket    bucket
	inBucket  map[int64]struct{} // its goroutines
	sustained int64
	waited    int64 // ns of waiting in the buckets that count
	best      bucket
	gs        int64 // most goroutines in one
}

// bucket is a stretch of time of BucketNs, or what of it is recorded.
type bucket struct {
	at     int64 // its number
	from   int64
	to     int64 // once it has ended
	n      int64 // preemptions after which a goroutine had to wait
	gs     int64 // how many goroutines had
	waited int64
}

func (w *watcher) preempt(d *reference.Decision) {
	switch d.Why {
	case reference.WhySlice:
		w.all++
	case reference.WhySTW, reference.WhyGC, reference.WhyGeneration:
		w.others++
	}
}

func (w *watcher) run(r *findings.Run) {
	if r.Ns() >= w.t.RunNs && !r.System && len(w.bound) < maxBound {
		w.bound[r.G] = r.Ns()
	}
}

// maxBound bounds the preempted goroutines that are followed at once.
const maxBound = 1 << 16

func (w *watcher) leave(s *findings.Residency) {
	g := s.G
	if !s.Start && !s.Open {
		return
	}
	run, ok := w.bound[g.ID]
	delete(w.bound, g.ID)
	wait := s.To - g.ReadyAt
	if !ok || wait < w.t.WaitNs {
		return
	}
	w.runs += run
	w.victims.Add(&findings.Cell{Class: g.Class, Ns: wait, From: g.ReadyAt, To: s.To, G: g.ID, P: s.P, Stack: g.Stack})
	if at := s.To / w.t.BucketNs; at != w.bucket.at {
		w.endBucket(s.To)
		w.begin(at * w.t.BucketNs)
	}
	w.bucket.n++
	w.inBucket[g.ID] = struct{}{}
	w.bucket.gs = int64(len(w.inBucket))
	w.bucket.waited += wait
}

// begin begins the bucket of a time.
func (w *watcher) begin(from int64) {
	w.bucket = bucket{at: from / w.t.BucketNs, from: from}
	clear(w.inBucket)
}

// lose is for a gap in the trace: a bucket ends before it, and another begins behind.
func (w *watcher) lose(d *reference.Decision) {
	w.endBucket(d.Time)
	w.begin(d.Time + max(0, d.Wait))
}

// endBucket judges the bucket, which ends now or has ended before.
func (w *watcher) endBucket(now int64) {
	b := &w.bucket
	b.to = min((b.at+1)*w.t.BucketNs, now)
	ns := b.to - b.from
	if ns <= 0 || b.gs <= w.view.Procs() || w.rate(b.n, ns) < w.t.Rate {
		return
	}
	w.sustained += ns
	w.waited += b.waited
	w.gs = max(w.gs, b.gs)
	if b.n > w.best.n {
		w.best = *b
	}
}

// rate is for each P and second.
func (w *watcher) rate(n, ns int64) float64 {
	return float64(n) / float64(w.view.Procs()) / (float64(ns) / 1e9)
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	w.endBucket(f.EndNs)
	total := w.victims.Total
	s, ok := w.t.Grade.Severity(total.Ns, f.RecordedNs())
	if !ok || w.sustained < w.t.SustainedNs {
		return nil
	}
	waiting := float64(w.waited) / float64(w.sustained) / float64(w.view.Procs())
	switch {
	case waiting < w.t.Waiting || total.N < w.t.MinCount:
		s = findings.Note
	case s == findings.Critical:
		s = findings.Warning // the Ps have work all the time: it is latency that is lost
	}
	x := findings.Finding{
		Severity: s, CostNs: total.Ns, FromNs: w.best.from, ToNs: w.best.to, Basis: findings.Inferred,
		Actors: w.victims.Actors(f, findings.Victim, 3),
	}
	// Its victims are its causes, too: each waits for others of its kind.
	for i, a := range w.victims.Actors(f, findings.Cause, 2) {
		a.G, a.P, a.Stack = 0, nil, nil
		if i == 0 {
			a.Stack = w.view.Doing(f, w.victims.Top(1)[0].Class)
		}
		x.Actors = append(x.Actors, a)
	}
	procs := w.view.Procs()
	top := x.Cause()
	name := top.Work()
	if class := findings.Name(top.Class); top.Brief() == findings.Short(class) {
		name = findings.Say("%s", class)
	}
	x.Headline = findings.Say("Too much computing at once in %s: up to %s goroutines take turns on %s",
		top.Brief(), quantity.Count(w.gs), quantity.Plural(procs, "P", "Ps"))
	x.Title = findings.Say("CPU-bound goroutines, most of %s, were preempted %s to let others of their kind run: up to %s of them took turns on %s",
		name, quantity.Plural(total.N, "time", "times"), quantity.Count(w.gs), quantity.Plural(procs, "P", "Ps"))
	x.Measured("preemptions after which the goroutine had to wait", findings.Count(total.N), findings.Time(w.t.WaitNs).With(" each"))
	x.Measured("goroutines that took turns so, within "+quantity.Duration(w.t.BucketNs), findings.Count(w.gs), findings.Said("more than %s", quantity.Plural(procs, "P", "Ps")))
	x.Measured("for each P and second, at most", findings.Number(w.rate(w.best.n, w.best.to-w.best.from)), findings.Number(w.t.Rate))
	x.Measured("time for which it was above that", findings.Time(w.sustained), findings.Time(w.t.SustainedNs))
	x.Measured("preempted goroutines waiting meanwhile, for each P", findings.Number(waiting), findings.Number(w.t.Waiting))
	x.Measured("mean run before such a preemption", findings.Time(w.runs/total.N))
	x.Measured("mean wait after it", findings.Time(total.Ns/total.N))
	x.Measured("all preemptions at the end of a slice", findings.Count(w.all))
	x.Measured("preemptions for the runtime: stopped world, garbage collector, tracer", findings.Count(w.others))
	x.Advise("Let no more goroutines of %s work at once than GOMAXPROCS (%d): a fixed number of workers, or a semaphore around the computation. Together they take as long as now, but most of them are done much earlier, and whoever else wants a P gets one.", name, procs)
	x.Advise("If short requests share the process, keep a P or two free of such work, or move it into another process.")
	return []findings.Finding{x}
}

// Package gcdisplacement is the detector gc-displacement: did mark workers run
// on Ps that the program's goroutines waited for? doc.md explains it.
package gcdisplacement

import (
	"maps"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "gc-displacement"

// Thresholds decide when the detector reports mark workers that ran on Ps for which goroutines
// of the program waited. Fields whose names end in Ns are in nanoseconds; shares are fractions
// from 0 to 1.
type Thresholds struct {
	// LongNs is the displaced part of one wait from which on it is long, and the
	// time from which on an idle worker should have given way.
	LongNs int64 `json:"long_ns"`
	// MinCount is how many waits with a long displaced part there must be, or idle workers that
	// should have given way.
	MinCount int64 `json:"min_count"`
	// Share is the share of displaced waiting in all waiting of the program from
	// which on it is more than a note; below MinShare it is not worth one.
	Share    float64 `json:"share"`
	MinShare float64 `json:"min_share"`
	// Ran is displaced waiting as a share of the running time from which on it is more than a note.
	Ran   float64        `json:"ran"`
	Grade findings.Grade `json:"grade"` // severities, by the displaced waiting
}

// Default returns the thresholds that apply unless a configuration sets others. Idle workers
// look for other work all the time (gcDrain in runtime/mgcmark.go, after golang/go#16528), so
// LongNs is far beyond what that takes; golang/go#37116 is about waits longer than that. The
// shares are ours: the collector's goal of a quarter of the Ps makes a tenth of the waiting of
// a busy program that marks much of the time.
func Default() Thresholds {
	return Thresholds{LongNs: 1_000_000, MinCount: 3, Share: 0.1, MinShare: 0.05, Ran: 0.05, Grade: findings.DefaultGrade()}
}

// New returns the detector that reports mark workers that ran on Ps for which goroutines of
// the program waited, with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, NeedsQueues: true, InLine: findings.Queued(),
		Delays: true,
		Remedy: findings.Remedy{NoGC: true, Why: "no marking at all: the most that fewer and cheaper cycles can give"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, allocators: findings.NewAllocators(view), begun: reference.NoG, sums: &sums{}}
			w.requested = map[int32]*sums{0: w.sums}
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindSTWBegin}}, w.ask)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindGCBegin, reference.KindGCEnd}}, w.cycle)
			w.readies = view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindReady}}, w.ready)
			w.starts = view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindStart}}, w.start)
			w.others = view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindPStart, reference.KindPStop, reference.KindRetake}}, w.advance)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindStart}, When: findings.MarkWorker}, w.begin)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindStop}, When: findings.MarkWorker}, w.over)
			w.readies.Set(false)
			w.starts.Set(false)
			w.others.Set(false)
			return w
		},
	}
}

type watcher struct {
	t          Thresholds
	view       *findings.View
	allocators *findings.Allocators

	// On in a cycle; starts longer, until those that waited at its end have run;
	// others while a worker runs.
	readies, starts, others *findings.Switch

	workers []worker // by P
	n, idle int64    // mark workers that run; of them, those in idle mode

	at    int64 // up to when it is integrated
	since int64 // since when goroutines wait beside workers
	rate  rate  // from at on
	// The integrals: of the part of each that waits, and of the time that idle workers ran
	// beside them.
	each   float64
	beside int64
	// The cycle that is under way, or was last.
	marking bool
	open    bool    // marking, or a worker still runs
	end     int64   // of the last
	left    int64   // of those that waited then, at most so many have not run since
	before  float64 // each, at its begin
	marks   findings.Pending[mark]

	begun     int64           // who has begun a cycle, and not stopped the world for it yet
	*sums                     // of the cycles that were asked for where the last one was
	requested map[int32]*sums // by stack
}

// maxAsked bounds memory; who asks later is counted together.
const maxAsked = 64

// sums are of cycles.
type sums struct {
	cost, idleCost float64 // integrals: of those that would not wait, and of that beside idle workers
	victims        findings.Tally
	long           int64 // waits displaced for LongNs or more
	modes          [3]mode
	worst          worker // idle worker that ran longest beside those that waited
	worstNs        int64
	ignored        int64 // idle workers that did so for LongNs or more
}

// add adds the sums of other cycles.
func (s *sums) add(x *sums) {
	s.cost += x.cost
	s.idleCost += x.idleCost
	s.victims.Merge(&x.victims)
	s.long += x.long
	for i := range s.modes {
		s.modes[i].n += x.modes[i].n
		s.modes[i].ns += x.modes[i].ns
	}
	if x.worstNs > s.worstNs {
		s.worst, s.worstNs = x.worst, x.worstNs
	}
	s.ignored += x.ignored
}

// ask processes a stop of the world: that of a cycle comes right after its beginning, and has the
// stack of who asked for it.
func (w *watcher) ask(d *reference.Decision) {
	if d.G < 0 || d.G != w.begun {
		return
	}
	w.begun = reference.NoG
	stack := d.Stack
	if w.requested[stack] == nil {
		if len(w.requested) >= maxAsked {
			stack = 0
		} else {
			w.requested[stack] = &sums{}
		}
	}
	w.sums = w.requested[stack]
}

// mark is when a goroutine became runnable in a cycle, and what each was then.
type mark struct {
	at   int64
	each float64
}

// worker is one run of a mark worker.
type worker struct {
	from   int64
	beside int64 // the watcher's, at the start
	mode   reference.Reason
	p      int32
	g      int64
}

// mode is what the workers of one mode did.
type mode struct{ n, ns int64 }

// rate reports how fast goroutines lose time to mark workers.
type rate struct {
	waiting int64   // that lack a P
	all     int64   // that wait
	workers int64   // on whose Ps they could run
	idle    int64   // of these, idle ones
	procs   int64   // GOMAXPROCS
	mean    float64 // run interval, ns
}

// displaced is the waiting, in goroutine-ns, from since ns after goroutines began to
// wait beside workers until to ns after it. Without the workers, as many more
// would run at any time; and, since each is through after the mean run interval,
// as many more would be through for each such time that has passed, up to the
// workers' share of the Ps: that much of the waiting is theirs.
func (r *rate) displaced(since, to int64) float64 {
	k := float64(min(r.workers, r.waiting))
	n := float64(r.all) * float64(r.workers) / float64(r.procs)
	// OPT: max and min of floats cost several times as much.
	if waiting := float64(r.waiting); n > waiting {
		n = waiting
	}
	if n < k {
		n = k
	}
	a, b := float64(since), float64(to)
	mid := r.mean * (n/k - 1) // from then on it is n
	if mid <= a {
		return n * (b - a)
	}
	if mid > b {
		mid = b
	}
	return k*(mid-a) + k*(mid*mid-a*a)/(2*r.mean) + n*(b-mid)
}

// advance integrates up to the present. The state has changed only now, so the
// rate of the last call held.
func (w *watcher) advance(d *reference.Decision) {
	if dt := d.Time - w.at; dt > 0 {
		if w.rate.waiting > 0 {
			ns := w.rate.displaced(w.at-w.since, d.Time-w.since)
			w.cost += ns
			w.each += ns / float64(w.rate.all)
			if w.rate.idle > 0 {
				w.idleCost += ns * float64(w.rate.idle) / float64(w.rate.workers)
				w.beside += dt
			}
		}
		w.at = d.Time
	}
	r := &w.rate
	was := r.waiting
	r.waiting = 0 // then the rest means nothing
	if w.n == 0 || w.view.Stopping() {
		return
	}
	n, _ := w.view.Stealable()
	// Those that an idle P could take, or one that is about to, lack no P.
	lack := n - w.view.CountPs(ledger.Idle) - w.view.Waking()
	if lack <= 0 {
		return
	}
	// OPT: field by field; a literal would be copied.
	r.waiting, r.all, r.workers, r.idle = lack, n, w.n, w.idle
	r.procs, r.mean = w.view.Procs(), float64(w.view.MeanRun())
	if r.mean == 0 {
		r.mean = float64(w.t.LongNs) // nothing has run yet
	}
	if was == 0 {
		w.since = w.at
	}
}

func (w *watcher) cycle(d *reference.Decision) {
	w.advance(d)
	if d.Kind == reference.KindGCEnd {
		w.marking = false
		w.close(d.Time)
	} else {
		w.marking, w.begun = true, d.G
		w.reopen()
	}
}

// reopen begins a cycle, or goes on with the last one.
func (w *watcher) reopen() {
	if !w.open {
		w.open, w.before = true, w.each
		w.readies.Set(true)
		w.starts.Set(true)
	}
}

// close ends a cycle when marking is over and the last worker too: who ends the
// marking still has to clean up after it (gcMarkTermination).
func (w *watcher) close(now int64) {
	if !w.marking && w.n == 0 {
		w.open, w.end = false, now
		w.readies.Set(false)
		w.left = w.view.Runnable()
		w.starts.Set(w.left > 0)
	}
}

func (w *watcher) ready(d *reference.Decision) {
	if !w.open {
		return
	}
	w.advance(d)
	if g := w.view.Goroutine(); g != nil {
		*w.marks.Make(g) = mark{d.Time, w.each}
	}
}

func (w *watcher) start(d *reference.Decision) {
	if d.Flags&reference.FlagGC != 0 {
		return // begin's
	}
	if w.n > 0 {
		w.advance(d)
	}
	if !w.open && d.Time-d.Wait >= w.end {
		return
	}
	g := w.view.Goroutine()
	if g == nil || g.System || g.Self || g.Wait < 0 {
		return
	}
	from := d.Time - g.Wait
	if !w.open && from < w.end {
		if w.left--; w.left <= 0 {
			w.starts.Set(false)
		}
	}
	was := w.before // right if it became runnable between this cycle and the one before, too much if earlier
	if m := w.marks.Find(g); m != nil && m.at == from {
		was = m.each
	}
	if w.each <= was {
		return
	}
	ns := int64(w.each - was)
	w.victims.Add(&findings.Cell{Class: g.Class, Ns: ns, From: from, To: d.Time, G: g.ID, P: d.P, Stack: g.Stack})
	if ns >= w.t.LongNs {
		w.long++
	}
}

func (w *watcher) begin(d *reference.Decision) {
	if d.P < 0 || d.P >= ledger.MaxPs {
		return
	}
	x := findings.Entry(&w.workers, d.P, worker{from: -1})
	w.over(d)
	w.advance(d)
	w.reopen()
	*x = worker{from: d.Time, beside: w.beside, mode: d.Reason, p: d.P, g: d.G}
	w.n++
	w.others.Set(true)
	if d.Reason == reference.ReasonIdle {
		w.idle++
	}
	w.advance(d)
}

// over ends the run of the worker on d's P, if there is one.
func (w *watcher) over(d *reference.Decision) {
	if d.P < 0 || int(d.P) >= len(w.workers) || w.workers[d.P].from < 0 {
		return
	}
	w.advance(d)
	x := &w.workers[d.P]
	w.n--
	w.others.Set(w.n > 0)
	m := &w.modes[0]
	switch x.mode {
	case reference.ReasonFractional:
		m = &w.modes[1]
	case reference.ReasonIdle:
		m = &w.modes[2]
		w.idle--
		if ns := w.beside - x.beside; ns >= w.t.LongNs {
			w.ignored++
			if ns > w.worstNs {
				w.worst, w.worstNs = *x, ns
			}
		}
	}
	m.n++
	m.ns += d.Time - x.from
	x.from = -1
	w.advance(d)
	w.close(d.Time)
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	w.sums = &sums{}
	for _, stack := range slices.Sorted(maps.Keys(w.requested)) {
		if f.Part(stack) != findings.Harness {
			w.add(w.requested[stack])
		}
	}
	total := w.victims.Total
	share := float64(total.Ns) / float64(max(1, f.Waits.User.TotalNs))
	if share < w.t.MinShare || w.long < w.t.MinCount && w.ignored < w.t.MinCount {
		return nil
	}
	s, ok := w.t.Grade.Severity(total.Ns, f.RecordedNs())
	if !ok {
		return nil
	}
	if share < w.t.Share || float64(total.Ns) < w.t.Ran*float64(f.RanNs()) {
		s = findings.Note
	}
	x := total.Finding(s, findings.Inferred)
	x.Feigned, x.Actors = findings.ByStall, w.victims.Actors(f, findings.Victim, 3)
	if w.mostIdle() {
		x.Actors = append(x.Actors, findings.Actor{Role: findings.Cause, G: w.worst.g, P: findings.OnP(w.worst.p)})
	}
	x.Headline = findings.Say("The garbage collector holds Ps that goroutines wait for: %s of the waiting", quantity.Percent(share))
	x.Title = findings.Say("Mark workers of the garbage collector held Ps that goroutines waited for: %s of all waiting, up to %s of one wait",
		quantity.Percent(share), quantity.Duration(total.Worst))
	x.Measured("waiting that would not have been with the workers' Ps", findings.Time(total.Ns).With(", %s of all", quantity.Percent(share)), findings.Share(w.t.Share))
	x.Measured("waits with such a part", findings.Count(total.N))
	x.Measured("of them, with a long one", findings.Count(w.long), findings.Time(w.t.LongNs).With(" each"))
	x.Measured("the longest such part", findings.Time(total.Worst), findings.Time(w.t.LongNs))
	x.Measured("goroutine-time displaced by idle workers", findings.Time(int64(w.idleCost)))
	x.Measured("idle workers that ran on beside goroutines that waited", findings.Count(w.ignored), findings.Time(w.t.LongNs).With(" each"))
	for i, m := range w.modes {
		if m.n > 0 {
			x.Measured("P-time of "+modeNames[i]+" workers", findings.Time(m.ns).With(" in %s", quantity.Plural(m.n, "run", "runs")))
		}
	}
	top, all := w.allocators.Top(f)
	if len(top) == 1 {
		x.Headline = findings.Say("%s allocates, and the garbage collector holds Ps that goroutines wait for: %s of the waiting", top[0].Doer(), quantity.Percent(share))
	}
	for _, a := range top {
		x.MeasuredOf(findings.Say("cycles that allocations in %s started", a.Function), findings.Count(a.Cycles).With(" of %s", quantity.Count(all)))
	}
	room := &f.Headroom
	if room.Cycles > 0 {
		x.Measured("heap goal, beside what was alive after a cycle", findings.Times(1+room.Growth()))
	}
	x.Advice = append(x.Advice, w.allocators.Advice(f))
	if f.MoreRoom() != "" {
		x.Headline = findings.Say("The heap has no room to grow: collections hold Ps for %s of the waiting", quantity.Percent(share))
	}
	if by, all := w.allocators.Asked(f); by != nil {
		x.Headline = findings.Say("%s asks for collections, which hold Ps that goroutines wait for: %s of the waiting", by.Function, quantity.Percent(share))
		x.MeasuredOf(findings.Say("cycles that %s asked for", by.Function), findings.Count(by.Cycles).With(" of %s", quantity.Count(all)))
		x.AdviseOnly("Let %s (%s) not ask for collections: they come by themselves, when the heap has grown as GOGC says. To keep memory below a limit set GOMEMLIMIT.", by.Function, findings.Place(by.Place))
	}
	if fractional := &w.modes[1]; 2*fractional.ns > w.modes[0].ns+fractional.ns {
		x.Advise("The workers are fractional ones, which do not look for other work. There are such only with 1, 2, 3 or 6 Ps; with 4 or more, if the machine has the CPUs, others stay free.")
	}
	if w.mostIdle() {
		x.Advise("Most of it is idle workers: a P that runs one does not look into the queues of other Ps, and no thread is woken for what is queued there, since no P is idle. Spread the work over more Ps before it has to wait, and try the newest Go version.")
	} else {
		x.Advise("The collector takes a quarter of GOMAXPROCS while it marks, by design: leave that much of the Ps free, by fewer CPU-bound goroutines or more Ps, if the machine has CPUs for them.")
	}
	return []findings.Finding{x}
}

// mostIdle reports whether idle workers displaced more than half of it.
func (w *watcher) mostIdle() bool { return 2*w.idleCost > w.cost }

var modeNames = [...]string{"dedicated", "fractional", "idle"}

// Package ospreemption is the detector os-preemption: did threads that had a P
// lack a CPU? doc.md explains it.
package ospreemption

import (
	"math"

	"github.com/gmpscope/gmpscope/analyze/findings"
	cputhrottling "github.com/gmpscope/gmpscope/analyze/findings/cpu-throttling"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "os-preemption"

// Thresholds decide when the detector reports threads that had a P but lacked a CPU. Fields
// whose names end in Ns are in nanoseconds; shares are fractions from 0 to 1.
type Thresholds struct {
	// A run interval of at least LongNs, and Ratio times the median of its class, of
	// which MinRuns are known, is held to have been interrupted.
	LongNs   int64 `json:"long_ns"`
	Ratio    int64 `json:"ratio"`
	MinRuns  int64 `json:"min_runs"`
	MinCount int64 `json:"min_count"` // least number of such run intervals
	// Preempted is the share of a class's run intervals that a preemption may have
	// ended: where it is more, some of its goroutines need long.
	Preempted float64 `json:"preempted"`
	Turns     float64 `json:"turns"`    // the spread of how many Ps run uninterrupted, as a share of what chance would give
	Together  float64 `json:"together"` // how many are interrupted at once from which on the spread tells enough
	TickR     float64 `json:"tick_r"`   // how nearly the interruptions end at ticks of the kernel's clock; 1: just there
	Chance    float64 `json:"chance"`   // highest probability that they do by chance
	// A time slice that a preemption by signal ended is late from LateNs on, by what
	// it has beyond SliceNs. There must be MinLate, and LateShare of the slices.
	SliceNs   int64   `json:"slice_ns"`
	LateNs    int64   `json:"late_ns"`
	MinLate   int64   `json:"min_late"`
	LateShare float64 `json:"late_share"`
	// There must be MinStalls (findings.View.Stalls) in which goroutines waited, or IdleStalls
	// in which none did, and StallShare of the time that Ps ran the program or stalled.
	MinStalls  int64   `json:"min_stalls"`
	IdleStalls int64   `json:"idle_stalls"`
	StallShare float64 `json:"stall_share"`
	// SampleNs is the running time for each CPU sample, and MinSamples how many are
	// to be expected before they decide.
	SampleNs   int64   `json:"sample_ns"`
	MinSamples float64 `json:"min_samples"`
	// Least shares of the running time in which the threads had no CPU.
	NoteShare     float64        `json:"note_share"`
	WarningShare  float64        `json:"warning_share"`
	LateWarning   float64        `json:"late_warning_share"` // in place of WarningShare where only late slices show it: they show only a part
	CriticalShare float64        `json:"critical_share"`
	Grade         findings.Grade `json:"grade"` // severities, by the time without a CPU
}

// Default returns the thresholds that apply unless a configuration sets others. SliceNs is the
// time slice (10 ms: forcePreemptNS in proc.go) and one sleep of sysmon, SampleNs the rate of
// runtime/pprof, 100 Hz. The others are ours, calibrated on programs with as many Ps as cores
// and with more.
func Default() Thresholds {
	return Thresholds{
		LongNs: 1_000_000, Ratio: 10, MinRuns: 20, MinCount: 20, Preempted: 0.1,
		Turns: 0.4, Together: 1.5, TickR: 0.3, Chance: 1e-4,
		SliceNs: 20_000_000, LateNs: 22_000_000, MinLate: 10, LateShare: 0.3,
		MinStalls: 5, IdleStalls: 20, StallShare: 0.02,
		SampleNs: 10_000_000, MinSamples: 50,
		NoteShare: 0.1, WarningShare: 0.3, LateWarning: 0.2, CriticalShare: 0.5,
		Grade: findings.DefaultGrade(),
	}
}

// New returns the detector that reports threads that had a P but lacked a CPU, with thresholds
// t. Silences in which that of cpu-throttling, with thresholds quota, sees a CPU quota are
// left to it.
func New(t Thresholds, quota cputhrottling.Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindMachine, CostOf: findings.OfPTime, NeedsQueues: true,
		Delays: true,
		Remedy: findings.Remedy{Why: "CPUs are the machine's"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, quota: quota, view: view, silences: findings.NewSilences(view), firstSample: -1, ended: map[int32]int64{}}
			for _, a := range [...]*account{&w.all, &w.apart} {
				a.late = findings.NewTable(findings.MaxKept, func(int32) findings.Cell { return findings.Cell{} })
			}
			w.view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindSample}}, w.sample)
			w.view.Runs(findings.RunFilter{MinNs: t.LongNs}, w.run)
			w.view.Runs(findings.RunFilter{Whys: []reference.Why{reference.WhySlice}}, w.preempted)
			w.view.Slices(findings.SliceFilter{Whys: []reference.Why{reference.WhySlice}}, w.slice)
			return w
		},
	}
}

type watcher struct {
	t        Thresholds
	quota    cputhrottling.Thresholds
	view     *findings.View
	silences *findings.Silences

	ran findings.RunIntegral // at the end

	ended map[int32]int64 // by class: long run intervals that a preemption ended

	slices []slice // by P: of the present one, where it was preempted

	all   account
	apart account // what no silence of the whole process had a part in

	samples                 int64
	firstSample, lastSample int64
	sumFirst, sumLast       int64
}

// slice is when a slice began, and when the last preemptions in it were, 0 for none.
// It goes on after one if a goroutine inherits it, and the watcher asks again 10 ms
// later.
type slice struct{ at, heeded, before int64 }

// account of interrupted run intervals and late slices.
type account struct {
	lost  findings.Tally // the intervals beyond their class's median
	n     int64
	self  int64      // of them, those that ended themselves
	ns    int64      // of the intervals
	with  float64    // integral over them of the goroutines that ran: goroutine²-ns
	pairs float64    // how long two of them overlapped: ns, summed over pairs
	ring  []interval // the last ones, in the order of their ends
	next  int
	turn  [len(ticks)][2]float64 // sums of the directions of the ends of those

	slices, sliceNs int64                                // ended by a preemption
	late            findings.Table[int32, findings.Cell] // by stack: those that ended late, and how much beyond SliceNs
}

type interval struct{ from, to int64 }

// ticks are the usual periods of the kernel's clock in ns (CONFIG_HZ of 250 and
// 1000): a thread that is taken off its CPU in favour of another of like priority
// goes at a tick, and so another comes back at one.
var ticks = [...]int64{4_000_000, 1_000_000}

// Intervals of 1 ms and more that overlap one that ends are among the last maxRing.
const maxRing = 1024

// preempted notes that a preemption ended a run interval.
func (w *watcher) preempted(s *findings.Run) {
	x := findings.Entry(&w.slices, s.P, slice{at: -1})
	if at := w.view.History(s.P).SliceAt; x.at != at {
		*x = slice{at: at}
	}
	x.heeded, x.before = s.To, x.heeded
}

func (w *watcher) run(r *findings.Run) {
	ns := r.Ns() - r.AssistNs
	last := w.view.History(r.P)
	if ns < w.t.LongNs || r.System || r.Open || last.StartAt != r.From {
		return
	}
	c := w.view.ClassStat(r.Class)
	if c.Runs < w.t.MinRuns || ns < w.t.Ratio*c.Median() {
		return
	}
	self := itself(r.Why)
	if !self {
		w.ended[r.Class]++
		if float64(w.ended[r.Class]) > w.t.Preempted*float64(c.Runs) {
			return
		}
	}
	x := findings.Cell{Class: r.Class, Ns: ns - c.Median(), From: r.From, To: r.To, G: r.G, P: r.P, Stack: r.Stack}
	with := w.view.RunIntegral().Ns - last.StartRan
	w.all.interrupted(x, with, self)
	if !w.silences.Since(last.StartAt) {
		w.apart.interrupted(x, with, self)
	}
}

// itself reports whether a goroutine stopped of its own accord: one that needs the
// whole time slice, in a class that else needs little, is preempted at its end.
func itself(why reference.Why) bool {
	switch why {
	case reference.WhyBlock, reference.WhyExit, reference.WhyGosched, reference.WhyGoyield, reference.WhyCoroutine:
		return true
	}
	return false
}

// interrupted processes one interval, the integral over it of the goroutines that ran,
// and whether it ended itself.
func (a *account) interrupted(x findings.Cell, with int64, self bool) {
	a.lost.Add(&x)
	a.n++
	a.ns += x.To - x.From
	a.with += float64(with)
	if self {
		// sysmon, which ends the others, has a clock of its own.
		a.self++
		for k, t := range ticks {
			angle := 2 * math.Pi * float64(x.To%t) / float64(t)
			a.turn[k][0] += float64(math.Cos(angle))
			a.turn[k][1] += float64(math.Sin(angle))
		}
	}
	for k := 1; k <= len(a.ring); k++ {
		o := a.ring[(a.next-k+len(a.ring))%len(a.ring)]
		if o.to <= x.From {
			break
		}
		a.pairs += float64(o.to - max(o.from, x.From))
	}
	if len(a.ring) < maxRing {
		a.ring = append(a.ring, interval{x.From, x.To})
		a.next = 0
		return
	}
	a.ring[a.next] = interval{x.From, x.To}
	a.next = (a.next + 1) % maxRing
}

func (w *watcher) slice(s *findings.Slice) {
	if s.System || s.Open || s.N == 0 || w.view.History(s.P).SliceAt != s.From {
		return
	}
	before := int64(0)
	if int(s.P) < len(w.slices) && w.slices[s.P].at == s.From {
		before = w.slices[s.P].before
	}
	w.all.sliceOver(s, before, &w.t)
	if !w.silences.Since(s.From) {
		w.apart.sliceOver(s, before, &w.t)
	}
}

// sliceOver processes a slice that a preemption ended, from the preemption before on
// if there was one in it.
func (a *account) sliceOver(s *findings.Slice, before int64, t *Thresholds) {
	from := max(s.From, before)
	ns := s.To - from - s.SyscallNs
	a.slices++
	a.sliceNs += ns
	if ns < t.LateNs {
		return
	}
	l := a.late.At(s.Stack)
	if l == nil {
		return
	}
	k := min(s.N, int8(len(s.Gs))) - 1
	if ns -= t.SliceNs; l.N == 0 || ns > l.Worst {
		l.Class = s.Classes[k]
	}
	l.Add(&findings.Cell{Ns: ns, From: from, To: s.To, G: s.Gs[k], P: s.P, Stack: s.Stack})
}

func (w *watcher) sample(d *reference.Decision) {
	if d.G < 0 || !d.Flags.OfProgram() {
		return
	}
	ran := w.view.RunIntegral().Ns
	if w.firstSample < 0 {
		w.firstSample, w.sumFirst = d.Time, ran
	}
	w.samples++
	w.lastSample, w.sumLast = d.Time, ran
}

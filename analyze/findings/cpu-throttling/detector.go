// Package cputhrottling is the detector cpu-throttling: was the whole process
// stopped again and again, as a CPU quota does? doc.md explains it.
package cputhrottling

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/reference"
)

//go:embed doc.md
var doc string

// ID of the detector.
const ID = "cpu-throttling"

// Thresholds of the detector. That of a silence, 5 ms, is in findings.World.Silences.
type Thresholds struct {
	// PeriodNs is that of the quota, and Within how far off the silences may be, as
	// a share of it.
	PeriodNs int64   `json:"period_ns"`
	Within   float64 `json:"within"`
	// EachNs: half of them come within this time after the one before, or sooner. A
	// process that meets its limit does so in most periods.
	EachNs int64 `json:"each_ns"`
	// MinCount is the least number of silences, and Chance the highest probability
	// that the regularity is none.
	MinCount int     `json:"min_count"`
	Chance   float64 `json:"chance"`
	// LongNs is the length from which on a silence means that nothing ran, if a
	// goroutine did that needs little or can be preempted. PairNs is that if two did,
	// which need not be known to yield if they seldom run for so long.
	LongNs int64 `json:"long_ns"`
	PairNs int64 `json:"pair_ns"`
	// SliceNs is how long goroutines may have run in a silence that no habit of
	// theirs contradicts.
	SliceNs int64          `json:"slice_ns"`
	Grade   findings.Grade `json:"grade"`
}

// Default returns the default thresholds. PeriodNs is the default of the Linux
// scheduler (cpu.cfs_period_us, and the second number of cpu.max), Chance is the
// usual 1 %, SliceNs the time slice (10 ms) and one sleep of sysmon, LongNs another
// sleep more, PairNs the time for sysmon's thread to wake up; see golang/go#33803
// and #73193.
func Default() Thresholds {
	return Thresholds{
		PeriodNs: 100_000_000, Within: 0.15, EachNs: 250_000_000, MinCount: 5, Chance: 0.01,
		LongNs: 30_000_000, PairNs: 22_000_000, SliceNs: 20_000_000, Grade: findings.DefaultGrade(),
	}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Title: "stops of the whole process, as by a CPU quota", Doc: doc,
		Kind: findings.KindMachine, CostOf: findings.OfPTime,
		Remedy: findings.Remedy{Why: "CPUs are the machine's"},
		New: func(env findings.Env) findings.Watcher {
			w := &watcher{t: t, world: env.World, silences: findings.NewSilences(env.World), ended: map[int32]int32{}}
			env.World.Slices(findings.SliceFilter{Whys: []reference.Why{reference.WhySlice}}, w.slice)
			return w
		},
	}
}

type watcher struct {
	findings.Quiet
	t        Thresholds
	world    *findings.World
	silences *findings.Silences
	ended    map[int32]int32 // by class: where its last time slice ended that a preemption ended
}

func (w *watcher) slice(s *findings.Slice) {
	if s.N > 0 && s.Stack != 0 {
		w.ended[s.Classes[0]] = s.Stack
	}
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	b := w.silences.Beat(w.t.PeriodNs)
	n := len(b.Silences)
	if !b.Keeps(w.t.PeriodNs, w.t.MinCount, w.t.Chance, w.t.Within) {
		return nil
	}
	var cost, running, stopped int64
	var sure, most int
	var apart, lengths []int64
	worst := b.Silences[0]
	for i, s := range b.Silences {
		ns := s.Ns()
		if s.Freaks == 0 {
			ns -= w.t.SliceNs
		}
		stopped += ns
		cost += ns * (s.Running + s.Waiting)
		running += ns * s.Running
		lengths = append(lengths, ns)
		most = max(most, int(s.Running))
		if i > 0 {
			apart = append(apart, s.To-b.Silences[i-1].To)
		}
		yields := preempted(f, w.ended[s.Class])
		if s.Freaks >= 2 || s.Ns() > w.t.LongNs && (s.Freaks == 1 || yields) ||
			s.Ns() > w.t.PairNs && s.Running >= 2 && (yields || !w.world.ClassStat(s.Class).Habit(s.Ns())) {
			sure++
		}
		if s.Ns()*(s.Running+s.Waiting) > worst.Ns()*(worst.Running+worst.Waiting) {
			worst = s
		}
	}
	// A goroutine that works for 20 ms in every 100 ms is silent too.
	// And many in one period are near a multiple of it, namely none.
	if 2*sure < n || middle(apart) > w.t.EachNs || float64(middle(apart)) < (1-w.t.Within)*float64(w.t.PeriodNs) {
		return nil
	}
	severity, ok := w.t.Grade.Severity(cost, f.RecordedNs())
	if !ok {
		return nil
	}
	x := findings.Finding{
		ID: ID, Severity: severity, CostNs: cost, FromNs: worst.From, ToNs: worst.To, Basis: findings.Suspected,
		Title: fmt.Sprintf("%s the whole process stood still, for some %s, and each time went on a multiple of %s after the last: so does a CPU quota",
			findings.Plural(int64(n), "time", "times"), findings.Dur(middle(lengths)), findings.Dur(b.PeriodNs)),
		Evidence: []findings.Evidence{
			{What: "silences while goroutines ran", Value: findings.Count(int64(n)), Limit: findings.Count(int64(w.t.MinCount)) + " of 5 ms or more"},
			{What: "their sum, without a time slice where goroutines may have run for one", Value: findings.Dur(stopped) + " (" + findings.Percent(f.Share(stopped)) + " of the recording)", Ns: stopped},
			{What: "the longest of them", Value: findings.Dur(slices.Max(lengths)), Ns: slices.Max(lengths)},
			{What: "period of their ends", Value: findings.Dur(b.PeriodNs), Limit: findings.Dur(w.t.PeriodNs) + " within " + findings.Percent(w.t.Within), Ns: b.PeriodNs},
			{What: "regularity of that period, 1 being exact", Value: findings.Number(b.R)},
			{What: "probability of such regularity by chance", Value: findings.Percent(b.Chance), Limit: findings.Percent(w.t.Chance)},
			{What: "of them, those that no program makes by itself", Value: findings.Count(int64(sure)), Limit: "half"},
			{What: "goroutines that had a P meanwhile, at most", Value: findings.Count(int64(most))},
		},
		Advice: []string{
			"Compare GOMAXPROCS, " + findings.Count(int64(max(1, f.GOMAXPROCS))) + " here, with the CPU limit of the container or service: more Ps than the limit use it up early in each period, and then stand still together. From Go 1.25 on the runtime sets GOMAXPROCS by the limit, unless the variable is set; with older versions set it, or use go.uber.org/automaxprocs.",
			"See nr_throttled and throttled_usec in the cpu.stat file of the control group: they prove it, or refute it.",
			"Raise the limit, or do away with it in favour of CPU weights (requests), if the latency matters more than the bill.",
			"If the limit fits the mean load, look for what uses it up in bursts: the mark workers of the garbage collector take a quarter of the Ps and more.",
		},
	}
	if used := w.used(f) - running; used > 0 && f.RecordedNs() > 0 {
		x.Evidence = append(x.Evidence, findings.Evidence{What: "CPUs used on average, at most: the Ps' running time without the silences", Value: findings.Number(float64(used) / float64(f.RecordedNs())), Ns: used})
	}
	a := f.Class(findings.Victim, worst.Class)
	a.G, a.P = worst.G, findings.OnP(worst.P)
	x.Actors = append(x.Actors, a)
	f.Short(&x)
	return []findings.Finding{x}
}

// used is the time in which Ps ran goroutines of any kind.
func (w *watcher) used(f *findings.Facts) (ns int64) {
	for _, p := range f.Procs.Ps {
		ns += p.RunningNs + p.SystemNs + p.GCNs + p.TracerNs
	}
	return ns
}

// preempted reports whether a signal made a goroutine yield at a stack: its like
// can be asked at any time.
func preempted(f *findings.Facts, stack int32) bool {
	return slices.ContainsFunc(f.Frames(stack), func(s string) bool { return strings.HasPrefix(s, "runtime.asyncPreempt") })
}

func middle(list []int64) int64 {
	s := slices.Sorted(slices.Values(list))
	return s[len(s)/2]
}

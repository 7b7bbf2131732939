// Package cputhrottling is the detector cpu-throttling: was the whole process
// stopped again and again, as a CPU quota does? doc.md explains it.
package cputhrottling

import (
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID of the detector.
const ID = "cpu-throttling"

// Thresholds of the detector. That of a silence, 5 ms, is in findings.View.Silences.
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
	// GridCount and GridChance are the same for silences of SliceNs and more of which only
	// the ends keep to the period.
	GridCount  int     `json:"grid_count"`
	GridChance float64 `json:"grid_chance"`
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

// minNs is the length of the shortest silence that is looked at; findings.View.Silences has it.
const minNs = 5_000_000

// Default returns the default thresholds. PeriodNs is the default of the Linux
// scheduler (cpu.cfs_period_us, and the second number of cpu.max), Chance is the
// usual 1 %, SliceNs the time slice (10 ms) and one sleep of sysmon, LongNs another
// sleep more, PairNs the time for sysmon's thread to wake up; see golang/go#33803
// and #73193.
func Default() Thresholds {
	return Thresholds{
		PeriodNs: 100_000_000, Within: 0.15, EachNs: 250_000_000, MinCount: 5, Chance: 0.01, GridCount: 3, GridChance: 0.001,
		LongNs: 30_000_000, PairNs: 22_000_000, SliceNs: 20_000_000, Grade: findings.DefaultGrade(),
	}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindMachine, CostOf: findings.OfPTime,
		Delays: true,
		Remedy: findings.Remedy{Why: "CPUs are the machine's"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, silences: findings.NewSilences(view), ended: map[int32]int32{}}
			view.Slices(findings.SliceFilter{Whys: []reference.Why{reference.WhySlice}}, w.slice)
			return w
		},
	}
}

type watcher struct {
	t        Thresholds
	view     *findings.View
	silences *findings.Silences
	ended    map[int32]int32 // by class: where its last time slice ended that a preemption ended
}

func (w *watcher) slice(s *findings.Slice) {
	if s.N > 0 && s.Stack != 0 {
		w.ended[s.Classes[0]] = s.Stack
	}
}

// evidence is what a finding says.
type evidence struct {
	beat      findings.Beat
	least     int     // silences there must be,
	leastNs   int64   // how long each,
	surely    string  // and how many of them no program makes
	cost      int64   // goroutine-time that stood still
	running   int64   // of it, of goroutines that had a P
	stoppedNs int64   // without a time slice where goroutines may have run for one
	lengths   []int64 // ns, as stoppedNs
	apart     []int64 // ns from the end of one to that of the next
	sure      int     // silences that no program makes by itself
	most      int     // goroutines that had a P in one
	worst     findings.Silence
	usedNs    int64 // running time of Ps without the silences
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	if m := f.Records(); m != nil {
		return w.byKernel(f, m)
	}
	if q := f.Quota; q != nil && (q.Counted().Throttled == 0 || Counts(f, q)) {
		return w.byCount(f, q)
	}
	n, ok := w.evidence(f)
	if !ok {
		return nil
	}
	b := n.beat
	severity, ok := w.t.Grade.Severity(n.cost, f.RecordedNs())
	if !ok {
		return nil
	}
	n.usedNs = f.RanNs() - n.running
	x := findings.Finding{
		Severity: severity, CostNs: n.cost, FromNs: n.worst.From, ToNs: n.worst.To, Basis: findings.Suspected,
	}
	if n.worst.Running > 0 {
		a := f.Class(findings.Victim, n.worst.Class)
		a.G, a.P = n.worst.G, findings.OnP(n.worst.P)
		x.Actors = append(x.Actors, a)
	}
	if f.WithoutCPUNs() > 0 || f.Quota != nil {
		x.Basis = findings.Certain
	}
	silences := int64(len(n.beat.Silences))
	x.Headline = findings.Say("A CPU quota seems to stop the process: %s, in periods of %s",
		quantity.Plural(silences, "time", "times"), quantity.Duration(b.PeriodNs))
	x.Title = findings.Say("%s the whole process stood still, for some %s, and each time went on a multiple of %s after the last: so does a CPU quota",
		quantity.Plural(silences, "time", "times"), quantity.Duration(middle(n.lengths)), quantity.Duration(b.PeriodNs))
	x.Measured("silences while goroutines ran", findings.Count(silences), findings.Count(int64(n.least)).With(" of %s or more", quantity.Duration(n.leastNs)))
	x.Measured("their sum, without a time slice where goroutines may have run for one", findings.Time(n.stoppedNs).With(" (%s of the recording)", quantity.Percent(f.Share(n.stoppedNs))))
	x.Measured("the longest of them", findings.Time(slices.Max(n.lengths)))
	x.Measured("period of their ends", findings.Time(b.PeriodNs), findings.Time(w.t.PeriodNs).With(" within %s", quantity.Percent(w.t.Within)))
	x.Measured("regularity of that period, 1 being exact", findings.Number(b.R))
	x.Measured("probability of such regularity by chance", findings.Share(b.Chance), findings.Share(w.t.Chance))
	x.Measured("of them, those that no program makes by itself", findings.Count(int64(n.sure)), findings.Said("%s", n.surely))
	x.Measured("goroutines that had a P meanwhile, at most", findings.Count(int64(n.most)))
	x.Advise("%s", advice(f))
	x.Advise("See nr_throttled and throttled_usec in the cpu.stat file of the control group: they prove it, or refute it.")
	x.Advise(raise)
	x.Advise(bursts)
	if n.usedNs > 0 && f.RecordedNs() > 0 {
		x.Measured("CPUs used on average, at most: the Ps' running time without the silences", findings.Number(float64(n.usedNs)/float64(f.RecordedNs())).Of(n.usedNs))
	}
	x.Evidence = append(x.Evidence, f.EvidenceOfCPUs()...)
	if lost := f.WithoutCPUNs(); lost > 0 {
		x.Measured("goroutines ran without a CPU, at least: beyond what these can give", findings.Time(lost))
	}
	return []findings.Finding{x}
}

// evidence are the silences that a quota makes, if there are any: those that keep to its period, or the
// few that only end with it.
func (w *watcher) evidence(f *findings.Facts) (n evidence, ok bool) {
	if b := w.silences.Beat(w.t.PeriodNs); b.IsPeriodic(w.t.PeriodNs, w.t.MinCount, w.t.Chance, w.t.Within) {
		n = w.count(f, b)
		n.least, n.leastNs, n.surely = w.t.MinCount, minNs, "half"
		// A goroutine that works for 20 ms in every 100 ms is silent too.
		// And many in one period are near a multiple of it, namely none.
		if apart := middle(n.apart); 2*n.sure >= len(b.Silences) && apart <= w.t.EachNs && float64(apart) >= (1-w.t.Within)*float64(w.t.PeriodNs) {
			return n, true
		}
	}
	b := w.silences.Grid(w.t.PeriodNs, w.t.SliceNs)
	if !b.IsPeriodic(w.t.PeriodNs, w.t.GridCount, w.t.GridChance, w.t.Within) {
		return n, false
	}
	n = w.count(f, b)
	n.least, n.leastNs, n.surely = w.t.GridCount, w.t.SliceNs, "one"
	return n, n.sure > 0
}

// count adds up the silences of b.
func (w *watcher) count(f *findings.Facts, b findings.Beat) evidence {
	n := evidence{beat: b, worst: b.Silences[0]}
	for i, s := range b.Silences {
		ns := s.Ns()
		if s.StallSigns() == 0 {
			ns -= w.t.SliceNs
		}
		n.stoppedNs += ns
		n.cost += ns * max(1, s.Running+s.Waiting)
		n.running += ns * s.Running
		n.lengths = append(n.lengths, ns)
		n.most = max(n.most, int(s.Running))
		if i > 0 {
			n.apart = append(n.apart, s.To-b.Silences[i-1].To)
		}
		yields := findings.Signalled(f.Frames(w.ended[s.Class]))
		if s.StallSigns() >= 2 || s.Ns() > w.t.LongNs && (s.StallSigns() == 1 || yields) ||
			s.Ns() > w.t.PairNs && s.Running >= 2 && (yields || !w.view.ClassStat(s.Class).OftenRunsFor(s.Ns())) {
			n.sure++
		}
		if s.Ns()*(s.Running+s.Waiting) > n.worst.Ns()*(n.worst.Running+n.worst.Waiting) {
			n.worst = s
		}
	}
	return n
}

func middle(list []int64) int64 {
	s := slices.Sorted(slices.Values(list))
	return s[len(s)/2]
}

const (
	raise  = "Raise the limit, or do away with it in favour of CPU weights (requests), if the latency matters more than the bill."
	bursts = "If the limit fits the mean load, look for what uses it up in bursts: the mark workers of the garbage collector take a quarter of the Ps and more."
)

// advice reports what to do with GOMAXPROCS, by what is known of the CPUs.
func advice(f *findings.Facts) string {
	const early = "more Ps than the limit use it up early in each period, and then stand still together."
	const since = " From Go 1.25 on the runtime sets GOMAXPROCS by the limit, unless the variable is set; with older versions set it, or use go.uber.org/automaxprocs."
	switch {
	case f.EnoughCPUs():
		return "More Ps than CPUs is ruled out, if the process had as many as was told: only threads in system calls and of C libraries can use a quota up beside the Ps. Look for what else stops the process: a debugger, a checkpoint, the host of a virtual machine."
	case f.MorePs():
		return "Set GOMAXPROCS to " + quantity.Count(int64(f.PsFor())) + ": " + early + since
	}
	return "Compare GOMAXPROCS, " + quantity.Count(int64(max(1, f.GOMAXPROCS))) + " here, with the CPU limit of the container or service: " + early + since
}

// Package cputhrottling is the detector cpu-throttling: was the whole process
// stopped again and again, as a CPU quota does? doc.md explains it.
package cputhrottling

import (
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/kernel"
	"github.com/gmpscope/gmpscope/analyze/sidecar"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "cpu-throttling"

// Thresholds decide when the detector reports stops of the whole process that recur with the
// period of a CPU quota. Fields whose names end in Ns are in nanoseconds; shares are fractions
// from 0 to 1. A silence lasts at least 5 ms: see findings.View.Silences.
type Thresholds struct {
	// PeriodNs is the period of the quota, and Within by how much that of the silences
	// may differ from it, as a share of it.
	PeriodNs int64   `json:"period_ns"`
	Within   float64 `json:"within"`
	// EachNs is the largest median distance between the ends of two silences: a process
	// that meets its limit does so in most periods.
	EachNs int64 `json:"each_ns"`
	// MinCount is the least number of silences, and Chance the highest probability, from 0
	// to 1, that they come so regularly by chance.
	MinCount int     `json:"min_count"`
	Chance   float64 `json:"chance"`
	// GridCount and GridChance are what MinCount and Chance are, for silences of at least
	// SliceNs of which only the ends keep to the period.
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
	Grade   findings.Grade `json:"grade"` // severities, by the goroutine-time that stood still
}

// minNs is the length of the shortest silence that is looked at; findings.View.Silences has it.
const minNs = 5_000_000

// Default returns the thresholds that apply unless a configuration sets others. PeriodNs is
// the default of the Linux scheduler (cpu.cfs_period_us, and the second number of cpu.max),
// Chance is the usual 1 %, SliceNs the time slice (10 ms) and one sleep of sysmon, LongNs
// another sleep more, PairNs the time for sysmon's thread to wake up; see golang/go#33803 and
// #73193.
func Default() Thresholds {
	return Thresholds{
		PeriodNs: 100_000_000, Within: 0.15, EachNs: 250_000_000, MinCount: 5, Chance: 0.01, GridCount: 3, GridChance: 0.001,
		LongNs: 30_000_000, PairNs: 22_000_000, SliceNs: 20_000_000, Grade: findings.DefaultGrade(),
	}
}

// New returns the detector that reports stops of the whole process that recur with the period
// of a CPU quota, with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindMachine, CostOf: findings.OfPTime, Delays: true,
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
	severity, ok := w.t.Grade.Severity(n.cost, f.RecordedNs())
	if !ok {
		return nil
	}
	x := findings.Finding{
		Severity: severity, CostNs: n.cost, FromNs: n.worst.From, ToNs: n.worst.To, Basis: findings.Suspected,
	}
	if n.worst.Running > 0 {
		x.Actors = append(x.Actors, (&findings.Cell{Class: n.worst.Class, G: n.worst.G, P: n.worst.P}).Actor(f, findings.Victim))
	}
	if f.WithoutCPUNs() > 0 || f.Quota != nil {
		x.Basis = findings.Certain
	}
	b, silences := n.beat, int64(len(n.beat.Silences))
	times, period := quantity.Plural(silences, "time", "times"), quantity.Duration(b.PeriodNs)
	x.Headline = findings.Say("A CPU quota seems to stop the process: %s, in periods of %s", times, period)
	x.Title = findings.Say("%s the whole process stood still, for some %s, and each time went on a multiple of %s after the last: so does a CPU quota",
		times, quantity.Duration(middle(n.lengths)), period)
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
	if used := f.RanNs() - n.running; used > 0 && f.RecordedNs() > 0 {
		x.Measured("CPUs used on average, at most: the Ps' running time without the silences", findings.Number(float64(used)/float64(f.RecordedNs())).Of(used))
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

// Counts reports whether the throttling that q counts happened during the trace of f. It does
// if the two readings of the counters are no further apart than one and a half times the length
// of the trace and two periods of the quota. Others cover more than the trace, such as the time
// in which the package of a test was built.
func Counts(f *findings.Facts, q *sidecar.Quota) bool {
	return q.Ns() <= f.EndNs+f.EndNs/2+2*q.PeriodNs
}

// byCount judges by what the control group counted while the trace was recorded, which makes it
// certain, or rules it out.
func (w *watcher) byCount(f *findings.Facts, q *sidecar.Quota) []findings.Finding {
	c := q.Counted()
	cost := min(c.ThrottledNs, int64(max(1, f.GOMAXPROCS))*f.RecordedNs())
	lost := int64(0)
	if f.CPUs == q.CPUs {
		lost = f.WithoutCPUNs()
		cost = max(cost, lost)
	}
	severity, ok := w.t.Grade.Severity(cost, f.RecordedNs())
	if !ok || c.Throttled == 0 {
		return nil
	}
	limit, periods := quantity.Amount(q.CPUs, "CPU", "CPUs"), quantity.Count(c.Throttled)+" of "+quantity.Count(c.Periods)
	x := findings.Finding{
		Severity: severity, CostNs: cost, ToNs: f.EndNs, Basis: findings.Certain, Proven: true,
		Advice: []findings.Text{findings.Say("%s", advice(f)), findings.Say(raise), findings.Say(bursts)},
	}
	x.Headline = findings.Say("A CPU quota of %s stopped the process: %s periods, %s", limit, periods, quantity.Duration(c.ThrottledNs))
	x.Title = findings.Say("A CPU quota of %s was used up in %s periods of %s, and threads were kept from the CPUs for %s in all, as the control group counted",
		limit, periods, quantity.Duration(q.PeriodNs), quantity.Duration(c.ThrottledNs))
	x.Measured("periods in which the quota was used up, by cpu.stat", findings.Said("%s", periods))
	x.Measured("threads were kept from the CPUs, by cpu.stat", findings.Time(c.ThrottledNs))
	x.Measured("time between the two counts", findings.Time(q.Ns()))
	x.Measured("quota", findings.Said("%s", limit), findings.Said("GOMAXPROCS %s", quantity.Count(int64(f.GOMAXPROCS))))
	if lost > 0 {
		x.Measured("goroutines ran without a CPU, at least: beyond what the quota gives", findings.Time(lost))
	}
	return []findings.Finding{x}
}

// byKernel judges by the kernel's records: a thread that is ready to run while its CPU is
// idle is kept from it, as by a quota. What the control group counted makes it certain, or
// rules it out.
func (w *watcher) byKernel(f *findings.Facts, m *kernel.Machine) []findings.Finding {
	cost, c := m.Off.ThrottledNs, m.Cgroup
	severity, ok := w.t.Grade.Severity(cost, f.RecordedNs())
	if !ok || c != nil && c.Throttled == 0 {
		return nil
	}
	x := findings.Finding{
		Severity: severity, CostNs: cost, ToNs: f.EndNs, Basis: findings.Inferred, Proven: true, Actors: f.OffVictims(m),
		Headline: findings.Say("%s; a CPU quota took the rest", findings.Had(m)),
		Title: findings.Say("%s: for %s its threads were ready to run and their CPU was idle, which nothing but a CPU quota does",
			findings.Had(m), quantity.Duration(cost)),
		Evidence: append(findings.EvidenceOf(m),
			findings.Measured("threads were ready to run, and their CPU was idle, for 1 ms and longer at a time", findings.Time(cost)),
			findings.Measured("threads were ready to run, and another program had their CPU", findings.Time(m.Off.OthersNs))),
		Advice: []findings.Text{findings.Say("%s", advice(f)), findings.Say(raise)},
	}
	if c != nil {
		x.Basis = findings.Certain
		x.Measured("periods of the quota in which it was used up, by cpu.stat", findings.Count(c.Throttled).With(" of %s", quantity.Count(c.Periods)))
	} else {
		x.Advise("Give the cpu.stat of the control group with --cgroup-stat: nr_throttled proves it, or refutes it.")
	}
	return []findings.Finding{x}
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

package ospreemption_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	cputhrottling "github.com/gmpscope/gmpscope/analyze/findings/cpu-throttling"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	ospreemption "github.com/gmpscope/gmpscope/analyze/findings/os-preemption"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/reference"
)

func detector() findings.Detector {
	return ospreemption.New(ospreemption.Default(), cputhrottling.Default())
}

func detect(s *Stream) []findings.Finding {
	return s.Detect(detector())
}

// step is how long a goroutine of busy runs.
const step = 100 * Us

// busy has a goroutine on each of ps Ps that runs for 100 µs at a time, for so many
// ns, except where has says, by time and P, that it stays at what it does.
func busy(ps int, ns int64, stays func(at int64, p int) bool) *Stream {
	s := New(ps)
	for p := range ps {
		s.Local(int64(1+p), int32(p), reference.WhyUnblock).Start(int64(1+p), int32(p))
	}
	for s.Now < ns {
		s.Pass(step)
		for p := range ps {
			if g := int64(1 + p); !stays(s.Now, p) {
				s.Stop(g, reference.WhyGosched).Local(g, int32(p), reference.WhyUnblock).Start(g, int32(p))
			}
		}
	}
	return s
}

// turns has the operating system let so many threads run at once, changing them at
// each tick of 4 ms.
func turns(ps, cpus int) func(at int64, p int) bool {
	return func(at int64, p int) bool {
		first := int(at / (4 * Ms) * int64(cpus))
		return (p-first%ps+ps)%ps >= cpus
	}
}

func TestFindsMorePsThanCPUs(t *testing.T) {
	s := busy(4, 1000*Ms, turns(4, 2))
	x := One(t, detect(s), ospreemption.ID, findings.Warning)
	// Two of four stand still, but for a piece of their work in each turn.
	if want := 2 * s.Now; x.CostNs < want*95/100 || x.CostNs > want {
		t.Errorf("cost %d, want about %d", x.CostNs, want)
	}
	if x.Basis != findings.Suspected || x.Actors[0].Class != "main.class1" {
		t.Errorf("%+v", x)
	}
	x = One(t, detect(busy(8, 1000*Ms, turns(8, 2))), ospreemption.ID, findings.Warning)
	if x.ToNs-x.FromNs < 12*Ms || x.ToNs-x.FromNs > 13*Ms {
		t.Errorf("worst from %d to %d", x.FromNs, x.ToNs)
	}
}

func TestAsManyPsAsCPUs(t *testing.T) {
	None(t, detect(busy(4, 1000*Ms, func(int64, int) bool { return false })))
}

// A goroutine that marks for the garbage collector runs for longer than it does else.
func TestAssistsAreNotInterrupted(t *testing.T) {
	s := busy(8, 1000*Ms, turns(8, 2))
	marks := s.Decisions[:0:0]
	for i, d := range s.Decisions {
		marks = append(marks, d)
		if d.Kind == reference.KindStart {
			marks = append(marks, reference.Decision{Time: d.Time, Kind: reference.KindAssistBegin, G: d.G, P: d.P})
		}
		if next := i + 1; next < len(s.Decisions) && s.Decisions[next].Kind == reference.KindStop {
			marks = append(marks, reference.Decision{Time: s.Decisions[next].Time, Kind: reference.KindAssistEnd, G: s.Decisions[next].G, P: s.Decisions[next].P})
		}
	}
	s.Decisions = marks
	None(t, detect(s))
}

// uneven reports that the goroutines of all Ps, each by itself, sometimes do what
// takes long: for 4.3 ms, a part share of the time.
func uneven(share float64) func(at int64, p int) bool {
	r := rand.New(rand.NewPCG(1, 2))
	until := map[int]int64{}
	return func(at int64, p int) bool {
		if at >= until[p] && r.Float64() < share/(1-share)*float64(step)/float64(4300*Us) {
			until[p] = at + 4300*Us
		}
		return at < until[p]
	}
}

func TestUnevenWorkIsNotInterrupted(t *testing.T) {
	for _, share := range []float64{0.3, 0.7} {
		for _, ps := range []int{2, 4, 8} {
			if list := detect(busy(ps, 1000*Ms, uneven(share))); len(list) > 0 {
				t.Errorf("%v of %d Ps: %s", share, ps, Text(list))
			}
		}
	}
}

// neighbour reports that on each P another process takes the CPU now and then, until a
// tick.
func neighbour(share float64) func(at int64, p int) bool {
	r := rand.New(rand.NewPCG(1, 2))
	lost := map[int]bool{}
	return func(at int64, p int) bool {
		if at%(4*Ms) == 0 {
			lost[p] = r.Float64() < share
		}
		return lost[p]
	}
}

func TestFindsNeighboursByTheTick(t *testing.T) {
	x := One(t, detect(busy(2, 1000*Ms, neighbour(0.4))), ospreemption.ID, findings.Warning)
	if want := 800 * Ms; x.CostNs < want*8/10 || x.CostNs > want*12/10 {
		t.Errorf("cost %d, want about %d", x.CostNs, want)
	}
	One(t, detect(busy(2, 1000*Ms, neighbour(0.15))), ospreemption.ID, findings.Note)
	None(t, detect(busy(2, 1000*Ms, neighbour(0.07))))
}

// loop has a goroutine on one P use slices of a length, n times.
func loop(n int, slice int64, stack string) (*Stream, *findings.Facts) {
	s := New(1).Global(1, reference.WhySlice)
	for range n {
		s.Start(1, 0).Pass(slice).Preempt(1)
	}
	f := s.Facts()
	f.Stack = func(int32) []string { return []string{stack, "main.loop (main.go:1)"} }
	return s, f
}

const signal = "runtime.asyncPreempt (preempt_amd64.s:7)"

func TestFindsLateSlices(t *testing.T) {
	s, f := loop(30, 30*Ms, signal)
	x := One(t, s.DetectWith(detector(), f), ospreemption.ID, findings.Warning)
	if want := 29 * 10 * Ms; x.CostNs != want { // the last one is open
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
	if x.Actors[0].Class != "main.class1" || x.Actors[0].G != 1 || x.ToNs-x.FromNs != 30*Ms {
		t.Errorf("%+v", x)
	}
}

func TestSlicesThatAreNotLate(t *testing.T) {
	for _, c := range []struct {
		n     int
		slice int64
		stack string
	}{
		{30, 21 * Ms, signal},
		{9, 30 * Ms, signal}, // too few
		{30, 30 * Ms, "main.f (main.go:2)"},
	} {
		s, f := loop(c.n, c.slice, c.stack)
		None(t, s.DetectWith(detector(), f))
	}
}

// sampled adds a CPU sample to a loop each so many ns.
func sampled(each int64) (*Stream, *findings.Facts) {
	s, f := loop(30, 30*Ms, signal)
	var out []reference.Decision
	at := int64(0)
	for _, d := range s.Decisions {
		for ; at < d.Time; at += each {
			out = append(out, reference.Decision{Kind: reference.KindSample, Time: at, G: 1, P: 0, Class: 1})
		}
		out = append(out, d)
	}
	s.Decisions = out
	return s, f
}

func TestSamplesDecide(t *testing.T) {
	s, f := sampled(20 * Ms)
	x := One(t, s.DetectWith(detector(), f), ospreemption.ID, findings.Warning)
	if x.Basis != findings.Inferred || x.CostNs < 430*Ms || x.CostNs > 460*Ms {
		t.Errorf("%s, cost %d", x.Basis, x.CostNs)
	}
	// The CPU was there, so the slices were late for another reason.
	s, f = sampled(10 * Ms)
	None(t, s.DetectWith(detector(), f))
}

// A quota is told by its own detector, and what it stops is not told twice.
func TestStopsOfAQuotaAreLeftOut(t *testing.T) {
	s := busy(4, 2000*Ms, func(at int64, _ int) bool { return at%(100*Ms) > 60*Ms })
	None(t, detect(s))
	// The same stops are no quota's where that takes more of them.
	quota := cputhrottling.Default()
	quota.MinCount = 100
	One(t, s.Detect(ospreemption.New(ospreemption.Default(), quota)), ospreemption.ID, findings.Warning)
}

// factsWithCPUs are the facts of a stream in which all Ps ran all the time, in a process with so
// many CPUs.
func factsWithCPUs(s *Stream, ps int, cpus float64) *findings.Facts {
	f := s.Facts()
	f.CPUs, f.GOMAXPROCS = cpus, ps
	for p := range ps {
		f.Procs.Ps = append(f.Procs.Ps, procs.Proc{P: int32(p), RunningNs: s.Now})
	}
	return f
}

func TestMorePsThanCPUsIsCertain(t *testing.T) {
	all := func(int64, int) bool { return false }
	for _, c := range []struct {
		cpus     float64
		severity findings.Severity
		cost     int64 // in ms, of 4 s
	}{{1, findings.Critical, 3000}, {2, findings.Critical, 2000}, {3, findings.Note, 1000}, {0.5, findings.Critical, 3400}} {
		s := busy(4, 1000*Ms, all)
		x := One(t, s.DetectWith(detector(), factsWithCPUs(s, 4, c.cpus)), ospreemption.ID, findings.Note)
		if x.Severity != c.severity || x.Basis != findings.Certain || x.CostNs != c.cost*Ms {
			t.Errorf("%v CPUs: %+v", c.cpus, x)
		}
	}
	for _, enough := range []float64{0, 3.7, 4, 8} {
		s := busy(4, 1000*Ms, all)
		None(t, s.DetectWith(detector(), factsWithCPUs(s, 4, enough)))
	}
}

// What is certain comes first, and what else shows it is beside it.
func TestCertainAndSuspected(t *testing.T) {
	s := busy(4, 1000*Ms, turns(4, 2))
	x := One(t, s.DetectWith(detector(), factsWithCPUs(s, 4, 2)), ospreemption.ID, findings.Critical)
	if x.Basis != findings.Certain || !strings.HasPrefix(x.Title.String(), "There were more Ps than CPUs") || !strings.HasPrefix(x.Advice[0].String(), "Set GOMAXPROCS to 2") || x.Actors[0].Class != "main.class1" {
		t.Errorf("%+v", x)
	}
	x = One(t, s.DetectWith(detector(), factsWithCPUs(s, 4, 4)), ospreemption.ID, findings.Warning)
	if x.Basis != findings.Suspected || !strings.HasPrefix(x.Advice[0].String(), "More Ps than CPUs is ruled out") {
		t.Errorf("%+v", x)
	}
}

// A small certain part makes a large suspected one no milder.
func TestCertainIsNoMilder(t *testing.T) {
	s := busy(4, 1000*Ms, turns(4, 2))
	x := One(t, s.DetectWith(detector(), factsWithCPUs(s, 4, 3)), ospreemption.ID, findings.Note)
	if x.Severity != findings.Warning || x.Basis != findings.Certain || x.CostNs != s.Now {
		t.Errorf("%+v", x)
	}
}

// CPU samples that count more CPU time than there can have been contradict the number.
func TestSamplesContradictTheNumber(t *testing.T) {
	s, f := sampled(10 * Ms)
	f.CPUs, f.GOMAXPROCS = 0.2, 1
	f.Procs.Ps = []procs.Proc{{RunningNs: f.EndNs}}
	x := One(t, s.DetectWith(detector(), f), ospreemption.ID, findings.Note)
	if x.Basis != findings.Suspected || !strings.HasPrefix(x.Title.String(), "If the process had 0.2 CPUs") {
		t.Errorf("%+v", x)
	}
}

// stalls has the thread of P0 stand still n times for ns before it starts what waits; dead
// has a wake-up in the midst of it show that it does not.
func stalls(n int, ns int64, dead bool) *Stream {
	s := New(1)
	m := int64(7)
	emit := func(k reference.Kind, g int64, why reference.Why) {
		s.Emit(reference.Decision{Kind: k, G: g, P: 0, M: m, Why: why, By: reference.NoG, To: reference.QueueLocal, Class: 1})
	}
	emit(reference.KindPStart, reference.NoG, reference.WhyUnknown)
	for range n {
		emit(reference.KindReady, 1, reference.WhyTimer)
		s.Pass(ns / 2)
		if !dead {
			emit(reference.KindReady, 2, reference.WhyTimer)
		}
		s.Pass(ns - ns/2)
		emit(reference.KindStart, 1, reference.WhyUnknown)
		s.Pass(3 * Ms)
		emit(reference.KindStop, 1, reference.WhyBlock)
		if !dead {
			emit(reference.KindStart, 2, reference.WhyUnknown)
			emit(reference.KindStop, 2, reference.WhyBlock)
		}
	}
	return s
}

func TestFindsStallsOfTheScheduler(t *testing.T) {
	x := One(t, detect(stalls(8, 1800*Us, true)), ospreemption.ID, findings.Note)
	if want := 8 * 1800 * Us; x.CostNs != want || x.Severity != findings.Note || x.Basis != findings.Inferred {
		t.Errorf("cost %d, want %d; %s, %s", x.CostNs, want, x.Severity, x.Basis)
	}
	None(t, detect(stalls(8, 900*Us, true)))
	None(t, detect(stalls(4, 1800*Us, true)))
	None(t, detect(stalls(8, 1800*Us, false))) // its thread did something
}

package cputhrottling_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	cputhrottling "github.com/gmpscope/gmpscope/analyze/findings/cpu-throttling"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/sidecar"
	"github.com/gmpscope/gmpscope/reference"
)

// server has a goroutine on each P run for 200 µs at a time, and waits behind it.
// stop stops all of them in the middle.
type server struct {
	*Stream
	ps int64
}

func newServer(ps int64) *server {
	s := &server{New(int(ps)), ps}
	for p := range ps {
		s.Local(1+p, int32(p), reference.WhyUnblock)
		s.Class(2, 11+p).Local(11+p, int32(p), reference.WhyUnblock)
	}
	return s
}

func (s *server) run(ns int64) {
	for ; ns > 0; ns -= 200 * Us {
		s.once(200*Us, 0)
	}
}

// once has all of them run once, with a stop.
func (s *server) once(ns, stop int64) {
	for p := range s.ps {
		s.Start(1+p, int32(p))
	}
	s.Pass(ns + stop)
	for p := range s.ps {
		s.Stop(1+p, reference.WhyGosched).Local(1+p, int32(p), reference.WhyUnblock)
	}
}

// stops has n stops, each of stop ns, that end every period ns.
func (s *server) stops(n int, stop, period int64) *server {
	for range n {
		s.run(period - stop - 200*Us)
		s.once(200*Us, stop)
	}
	s.run(20 * Ms)
	return s
}

func detect(s *Stream) []findings.Finding {
	return s.Detect(cputhrottling.New(cputhrottling.Default()))
}

func TestFindsAQuota(t *testing.T) {
	x := One(t, detect(newServer(2).stops(10, 40*Ms, 100*Ms).Stream), cputhrottling.ID, findings.Warning)
	// Two ran and two waited.
	if want := 10 * (40*Ms + 200*Us) * 4; x.CostNs != want {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
	if x.Basis != findings.Suspected || x.Actors[0].Class != "main.class1" || x.Actors[0].G != 1 || x.ToNs-x.FromNs != 40*Ms+200*Us {
		t.Errorf("%+v", x)
	}
}

func TestShortStops(t *testing.T) {
	One(t, detect(newServer(2).stops(10, 5*Ms, 100*Ms).Stream), cputhrottling.ID, findings.Warning)
	None(t, detect(newServer(2).stops(10, 4600*Us, 100*Ms).Stream))
}

func TestFiveStopsAreNeeded(t *testing.T) {
	One(t, detect(newServer(2).stops(5, 40*Ms, 100*Ms).Stream), cputhrottling.ID, findings.Warning)
	None(t, detect(newServer(2).stops(4, 40*Ms, 100*Ms).Stream))
}

// Their distances, a few ms, are near a multiple of 100 ms: none.
func TestManyStopsInOnePeriodAreNoQuota(t *testing.T) {
	None(t, detect(newServer(2).stops(60, 8*Ms, 13*Ms).Stream))
}

func TestOneLongStopIsNoQuota(t *testing.T) {
	s := newServer(2)
	s.run(300 * Ms)
	s.once(200*Us, 300*Ms)
	s.run(400 * Ms)
	None(t, detect(s.Stream))
}

func TestOtherPeriods(t *testing.T) {
	for period, found := range map[int64]bool{50 * Ms: false, 80 * Ms: false, 86 * Ms: true, 114 * Ms: true, 120 * Ms: false, 200 * Ms: true, 300 * Ms: false} {
		if list := detect(newServer(2).stops(12, 30*Ms, period).Stream); len(list) > 0 != found {
			t.Errorf("period %d ms: %s", period/Ms, Text(list))
		}
	}
}

func TestStopsAtAnyTimeAreNoQuota(t *testing.T) {
	s := newServer(2)
	for i := range int64(20) {
		s.run(30*Ms + i*37%11*9*Ms)
		s.once(200*Us, 30*Ms)
	}
	None(t, detect(s.Stream))
}

// What short pauses come between the stops of a quota does not hide it.
func TestPausesBetweenTheStops(t *testing.T) {
	s := newServer(2)
	for i := range int64(10) {
		before := 10*Ms + i*7%5*6*Ms
		s.run(before)
		s.once(200*Us, 6*Ms)
		s.run(60*Ms - before - 6*Ms - 400*Us)
		s.once(200*Us, 40*Ms)
	}
	One(t, detect(s.Stream), cputhrottling.ID, findings.Warning)
}

// One P that is silent for less than a late preemption takes may just have had
// more work than else.
func TestRegularWorkOnOneP(t *testing.T) {
	None(t, detect(newServer(1).stops(20, 25*Ms, 100*Ms).Stream))
	One(t, detect(newServer(1).stops(20, 40*Ms, 100*Ms).Stream), cputhrottling.ID, findings.Warning)
}

// loops has CPU-bound goroutines on Ps, of 20 ms each, and one of each 5 slices is
// 40 ms longer. A signal ends them.
func loops(ps, n int64) (*Stream, *findings.Facts) {
	s := New(int(ps))
	for p := range ps {
		s.Global(1+p, reference.WhySlice)
	}
	for range n {
		for k := range int64(3) {
			for p := range ps {
				s.Start(1+p, int32(p))
			}
			s.Pass(20 * Ms)
			if k == 2 {
				s.Pass(40 * Ms)
			}
			for p := range ps {
				s.Preempt(1 + p)
			}
		}
	}
	f := s.Facts()
	f.Stack = func(int32) []string {
		return []string{"runtime.asyncPreempt (preempt_amd64.s:7)", "main.loop (main.go:1)"}
	}
	return s, f
}

// Where goroutines use whole slices, one may have passed in each silence.
func TestFindsAQuotaOfLoops(t *testing.T) {
	for _, ps := range []int64{1, 2} {
		s, f := loops(ps, 10)
		x := One(t, s.DetectWith(cputhrottling.New(cputhrottling.Default()), f), cputhrottling.ID, findings.Warning)
		if want := 10 * 40 * Ms * ps; x.CostNs != want {
			t.Errorf("%d Ps: cost %d, want %d", ps, x.CostNs, want)
		}
	}
	// Code that cannot be interrupted looks the same on one P.
	s, f := loops(1, 10)
	f.Stack = nil
	None(t, s.DetectWith(cputhrottling.New(cputhrottling.Default()), f))
}

func TestIdleProcessIsNotStopped(t *testing.T) {
	s := New(2)
	for range 20 {
		s.Local(1, 0, reference.WhyTimer).Run(1, 0, 200*Us, reference.WhyBlock).PStop(0).Pass(99800 * Us).PStart(0)
	}
	None(t, detect(s))
}

func TestNumberOfCPUs(t *testing.T) {
	for cpus, want := range map[float64]struct{ basis, advice string }{
		0: {findings.Suspected, "Compare GOMAXPROCS"}, 1: {findings.Certain, "Set GOMAXPROCS to 1:"}, 2: {findings.Suspected, "More Ps than CPUs is ruled out"},
	} {
		s := newServer(2).stops(10, 40*Ms, 100*Ms).Stream
		f := s.Facts()
		f.CPUs, f.GOMAXPROCS = cpus, 2
		f.Procs.Ps = []procs.Proc{{RunningNs: s.Now}, {P: 1, RunningNs: s.Now}}
		x := One(t, s.DetectWith(cputhrottling.New(cputhrottling.Default()), f), cputhrottling.ID, findings.Warning)
		if x.Basis != want.basis || !strings.HasPrefix(x.Advice[0].String(), want.advice) {
			t.Errorf("%v CPUs: %+v", cpus, x)
		}
	}
}

// What the control group counted while the trace was recorded proves a quota, or rules it out.
func TestCountedThrottling(t *testing.T) {
	quiet, stopped := newServer(4), newServer(2).stops(10, 40*Ms, 100*Ms)
	quiet.run(1000 * Ms)
	for name, tc := range map[string]struct {
		of        *server
		throttled int64
		ns        int64  // between the counts
		found     string // basis
	}{
		"throttled":                      {quiet, 8, 1200 * Ms, findings.Certain},
		"not throttled":                  {quiet, 0, 1200 * Ms, ""},
		"not in the trace, perhaps":      {quiet, 8, 3000 * Ms, ""},
		"silences that are none":         {stopped, 0, 1000 * Ms, ""},
		"silences, and counts of more":   {stopped, 8, 3000 * Ms, findings.Certain},
		"as many, whatever their period": {stopped, 8, 1000 * Ms, findings.Certain},
	} {
		f := tc.of.Facts()
		f.CPUs, f.GOMAXPROCS = 0.4, 4
		f.Quota = &sidecar.Quota{CPUs: 0.4, PeriodNs: 100 * Ms, Before: sidecar.Counted{AtNs: 1}, After: sidecar.Counted{AtNs: 1 + tc.ns, Periods: 12, Throttled: tc.throttled, ThrottledNs: tc.throttled * 40 * Ms}}
		list := tc.of.DetectWith(cputhrottling.New(cputhrottling.Default()), f)
		if tc.found == "" {
			None(t, list)
			continue
		}
		if len(list) != 1 || list[0].Basis != tc.found || !strings.HasPrefix(list[0].Advice[0].String(), "Set GOMAXPROCS to 1:") {
			t.Errorf("%s: %s", name, Text(list))
		}
	}
}

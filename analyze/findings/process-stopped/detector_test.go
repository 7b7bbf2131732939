package processstopped_test

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	cputhrottling "github.com/gmpscope/gmpscope/analyze/findings/cpu-throttling"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	processstopped "github.com/gmpscope/gmpscope/analyze/findings/process-stopped"
	"github.com/gmpscope/gmpscope/reference"
)

func detect(s *Stream) []findings.Finding {
	return s.Detect(processstopped.New(processstopped.Default(), cputhrottling.Default()))
}

// tick has goroutines 1 to n sleep for ns and run for 100 µs each.
func tick(s *Stream, n, ns int64) {
	s.Pass(ns)
	for g := int64(1); g <= n; g++ {
		s.Local(g, 0, reference.WhyTimer)
	}
	for g := int64(1); g <= n; g++ {
		s.Start(g, 0).Pass(100*Us).Block(g, reference.ReasonSleep)
	}
}

// sleepers are n goroutines of which all are asleep.
func sleepers(n int64) *Stream {
	s := New(1)
	for g := int64(1); g <= n; g++ {
		s.Local(g, 0, reference.WhyCreate).Run(g, 0, 100*Us, reference.WhyExit)
		s.Local(g, 0, reference.WhyCreate).Start(g, 0).Block(g, reference.ReasonSleep)
	}
	return s
}

func TestFindsStopsOfAnIdleProcess(t *testing.T) {
	s := sleepers(2)
	for i := range int64(6) {
		for range 10 + 7*i {
			tick(s, 2, 2*Ms)
		}
		tick(s, 2, (28+2*i)*Ms)
	}
	x := One(t, detect(s), processstopped.ID, findings.Warning)
	if want := 6 * 33 * Ms; x.CostNs != want || x.Basis != findings.Inferred {
		t.Errorf("cost %d, want %d; %s", x.CostNs, want, x.Basis)
	}
}

// While a mark worker has the only P, nobody is there to notice timers.
func TestMarkWorkersAreNoStops(t *testing.T) {
	s := sleepers(2).Flags(reference.FlagSystem|reference.FlagGC, 9)
	for i := range 6 {
		for range 10 + 7*i {
			tick(s, 2, 2*Ms)
		}
		s.Local(9, 0, reference.WhyUnblock).Start(9, 0).Pass(33*Ms).Block(9, reference.ReasonSleep)
		tick(s, 2, 0)
	}
	None(t, detect(s))
}

func TestFindsStopsOfWhoeverRan(t *testing.T) {
	s := New(2)
	for k := range int64(5) {
		for i := range 50 + 13*k {
			ns := Ms
			if i == 40 {
				ns = 41 * Ms
			}
			s.Local(1, 0, reference.WhyUnblock).Local(2, 1, reference.WhyUnblock).Start(1, 0).Start(2, 1).Pass(ns)
			s.Stop(1, reference.WhyBlock).Stop(2, reference.WhyBlock)
		}
	}
	x := One(t, detect(s), processstopped.ID, findings.Warning)
	if want := 5 * 2 * 41 * Ms; x.CostNs != want {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
}

func TestNearMisses(t *testing.T) {
	for name, run := range map[string]func(s *Stream){
		"one timer, 19 ms late, once": func(s *Stream) { tick(s, 1, 19*Ms) },
		"two timers, 9 ms late":       func(s *Stream) { tick(s, 2, 9*Ms); tick(s, 2, 9*Ms) },
		"one timer, two short stops":  func(s *Stream) { tick(s, 1, 19*Ms); tick(s, 1, 19*Ms) },
	} {
		s := sleepers(2)
		for range 30 {
			tick(s, 2, 2*Ms)
		}
		run(s)
		for range 30 {
			tick(s, 2, 2*Ms)
		}
		if list := detect(s); len(list) > 0 {
			t.Errorf("%s:\n%s", name, Text(list))
		}
	}
	// Timers of different lengths.
	s := sleepers(2)
	for i := range int64(60) {
		tick(s, 2, (1+i%7*7)*Ms)
	}
	None(t, detect(s))
}

// A timer that is set to a longer time now and then fires on time.
func TestLongerTimersAreNoStops(t *testing.T) {
	s := sleepers(2)
	for i := range 6 {
		for range 10 + 7*i {
			tick(s, 2, 2*Ms)
		}
		tick(s, 2, 33*Ms)
	}
	None(t, detect(s))
}

// wake has a timer wake goroutine g, which runs for 100 µs and sleeps again, at a place of its own.
func wake(s *Stream, g int64) {
	s.Local(g, 0, reference.WhyTimer).Start(g, 0).Pass(100*Us).Block(g, reference.ReasonSleep)
	s.Decisions[len(s.Decisions)-1].Stack = int32(g)
}

// Stops of one length are no longer timers where those of two places, set at different times, fire
// at the same time.
func TestFindsStopsOfOneLength(t *testing.T) {
	s := sleepers(2)
	for i := range 6 {
		for range 10 + 7*i {
			s.Pass(Ms)
			wake(s, 1)
			s.Pass(Ms)
			wake(s, 2)
		}
		s.Pass(33 * Ms)
		wake(s, 1)
		wake(s, 2)
	}
	x := One(t, detect(s), processstopped.ID, findings.Warning)
	if want := 6 * 33 * Ms; x.CostNs != want {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
}

// stall has goroutines 1 and 2 run for 41 ms at most, some of the silence standing still, against
// their habit; the second goes on after the first by a time.
func stall(s *Stream, after int64) {
	for k := range int64(5) {
		for i := range 50 + 13*k {
			s.Local(1, 0, reference.WhyUnblock).Local(2, 1, reference.WhyUnblock).Start(1, 0).Start(2, 1)
			if i == 40 {
				s.Pass(41*Ms).Stop(1, reference.WhyBlock).Pass(after).Stop(2, reference.WhyBlock)
				continue
			}
			s.Pass(Ms).Stop(1, reference.WhyBlock).Stop(2, reference.WhyBlock)
		}
	}
}

// Threads that spin, lack CPUs or wait for pages of their files go on one by one.
func TestThreadsThatGoOnOneByOne(t *testing.T) {
	for after, found := range map[int64]bool{0: true, Ms: true, 4 * Ms: true, 4200 * Us: false, 20 * Ms: false} {
		s := New(2)
		stall(s, after)
		if list := detect(s); len(list) > 0 != found {
			t.Errorf("%d ns later:\n%s", after, Text(list))
		}
	}
}

// Where threads lack CPUs they all do now and then.
func TestThreadsThatLackCPUs(t *testing.T) {
	s := New(2)
	stall(s, 0)
	for range 6 {
		stall(s, 20*Ms)
	}
	None(t, detect(s))
}

// One thread that stands still is no whole process.
func TestOneThreadStandsStill(t *testing.T) {
	s := New(2)
	for k := range int64(5) {
		for i := range 50 + 13*k {
			ns := Ms
			if i == 40 {
				ns = 41 * Ms
			}
			s.Local(1, 0, reference.WhyUnblock).Run(1, 0, ns, reference.WhyBlock)
		}
	}
	None(t, detect(s))
}

// Stops that keep to the period of a quota are cpu-throttling's.
func TestLeavesAQuotaAlone(t *testing.T) {
	s := New(2)
	for range 10 {
		for i := range int64(60) {
			ns := Ms
			if i == 40 {
				ns = 41 * Ms
			}
			s.Local(1, 0, reference.WhyUnblock).Local(2, 1, reference.WhyUnblock).Start(1, 0).Start(2, 1).Pass(ns)
			s.Stop(1, reference.WhyBlock).Stop(2, reference.WhyBlock)
		}
	}
	None(t, detect(s))
}

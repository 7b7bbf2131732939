package stealstorm_test

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	stealstorm "github.com/gmpscope/gmpscope/analyze/findings/steal-storm"
	"github.com/gmpscope/gmpscope/reference"
)

// storm has goroutine 9 run on P0 and wake four others in turns, each after
// every; P1 looks for work for look, takes it from P0, and runs it for ns.
// After each, own others run from P1's own queue.
func storm(n int, every, look, ns int64, own int) *Stream {
	s := New(2).Class(2, 9).Local(9, 0, reference.WhyCreate).Start(9, 0)
	for i := range int64(n) {
		g := 1 + i%4
		s.Pass(every)
		s.Next(g, 0, reference.WhyUnblock)
		s.Decisions[len(s.Decisions)-1].By = 9
		s.Pass(look)
		s.Emit(reference.Decision{Kind: reference.KindSteal, P: 1, Victim: 0, Batch: 1})
		s.Start(g, 1).Pass(ns).Stop(g, reference.WhyBlock)
		for range own {
			s.Local(20, 1, reference.WhyUnblock).Run(20, 1, Us, reference.WhyBlock)
		}
	}
	return s.Stop(9, reference.WhyBlock)
}

func TestFindsStolenCrumbs(t *testing.T) {
	x := One(t, storm(29_999, Us, 4*Us, 5*Us, 0).Detect(stealstorm.New(stealstorm.Default())), stealstorm.ID, findings.Critical)
	if want := 29_999 * 4 * Us; x.CostNs != want {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
	if len(x.Actors) != 2 || x.Actors[0].Class != "main.class1" || *x.Actors[0].P != 1 || x.Actors[1].Class != "main.class2" || x.Actors[1].G != 9 {
		t.Errorf("actors %v", x.Actors)
	}
}

func TestWhatIsWorthTheWayIsNoStorm(t *testing.T) {
	for name, s := range map[string]*Stream{
		"long":        storm(20_000, Us, 4*Us, 12*Us, 0),
		"few of many": storm(20_000, Us, 4*Us, 5*Us, 4),
		"seldom":      storm(1_000, 600*Us, 4*Us, 5*Us, 0),
	} {
		t.Run(name, func(t *testing.T) { None(t, s.Detect(stealstorm.New(stealstorm.Default()))) })
	}
}

// One in 3.5 is over the share: the near miss above is due to it alone.
func TestTheShareDecides(t *testing.T) {
	One(t, storm(20_000, Us, 4*Us, 5*Us, 2).Detect(stealstorm.New(stealstorm.Default())), stealstorm.ID, findings.Warning)
}

func TestAStrainedMachineIsSuspected(t *testing.T) {
	s := storm(29_999, Us, 4*Us, 5*Us, 0)
	// Freak runs of a class that is short otherwise, behind a P of their own.
	for i := range 1000 {
		ns := 2 * Us
		if i%100 == 99 {
			ns = 10 * Ms
		}
		s.Local(50, 0, reference.WhyUnblock).Class(5, 50).Run(50, 0, ns, reference.WhyBlock)
	}
	x := One(t, s.Detect(stealstorm.New(stealstorm.Default())), stealstorm.ID, findings.Warning)
	if x.Severity != findings.Warning || x.Basis != findings.Suspected {
		t.Errorf("%s %s", x.Severity, x.Basis)
	}
}

func TestShortRecordings(t *testing.T) {
	x := One(t, storm(2_000, Us, 4*Us, 5*Us, 0).Detect(stealstorm.New(stealstorm.Default())), stealstorm.ID, findings.Note)
	if x.Severity != findings.Note {
		t.Error(x.Severity)
	}
}

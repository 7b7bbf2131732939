package workconservation_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	workconservation "github.com/gmpscope/gmpscope/analyze/findings/work-conservation"
	"github.com/gmpscope/gmpscope/reference"
)

// rounds has P0 run for 1 ms with goroutine 2 in its queue, which P1 takes after
// delay, having been idle.
func rounds(n int, delay int64) *Stream {
	s := New(2).PStop(1)
	for range n {
		s.Local(1, 0, reference.WhyUnblock).Start(1, 0)
		s.Local(2, 0, reference.WhyUnblock)
		s.Pass(delay).PStart(1).Pass(5*Us).Run(2, 1, 10*Us, reference.WhyBlock)
		s.PStop(1).Pass(Ms).Stop(1, reference.WhyBlock)
	}
	return s
}

func TestFindsIdlePBesideWork(t *testing.T) {
	x := One(t, rounds(200, 600*Us).Detect(workconservation.New(workconservation.Default())), workconservation.ID, findings.Warning)
	if x.CostNs != 200*600*Us {
		t.Errorf("cost %d, want %d", x.CostNs, 200*600*Us)
	}
	var p1 bool
	for _, a := range x.Actors {
		p1 = p1 || a.Role == findings.Cause && a.P != nil && *a.P == 1
	}
	if !p1 || x.Actors[0].G != 2 {
		t.Errorf("actors %v, want goroutine 2 and P1", x.Actors)
	}
}

// Beside other processes threads take some 100 µs more to wake: a fact, but no
// reason to act. From a millisecond on the machine is to blame.
func TestHowLateThreadsWake(t *testing.T) {
	for _, c := range []struct {
		n        int
		delay    int64
		severity findings.Severity
		machine  bool
	}{
		{200, 200 * Us, findings.Note, false},
		{200, 600 * Us, findings.Warning, false}, // 18 % of the P-time
		{20, 2 * Ms, findings.Warning, true},
		{5, 2 * Ms, findings.Note, true},
	} {
		x := One(t, rounds(c.n, c.delay).Pass(100*Ms).Detect(workconservation.New(workconservation.Default())), workconservation.ID, c.severity)
		if x.Severity != c.severity || strings.Contains(x.Title.String(), "the machine") != c.machine {
			t.Errorf("%d of %d ns: %s, %s", c.n, c.delay, x.Severity, x.Title)
		}
	}
}

func TestAWakeUpIsNoViolation(t *testing.T) {
	None(t, rounds(2000, 90*Us).Detect(workconservation.New(workconservation.Default())))
}

func TestLockedYieldedAndStoppedAreNoViolation(t *testing.T) {
	d := workconservation.New(workconservation.Default())
	t.Run("locked", func(t *testing.T) {
		s := New(2).PStop(1).Flags(reference.FlagLocked, 2)
		s.Local(2, 0, reference.WhyUnblock).Run(2, 0, 10*Us, reference.WhyBlock)
		for range 100 {
			s.Local(1, 0, reference.WhyUnblock).Start(1, 0).Local(2, 0, reference.WhyUnblock).Pass(Ms).Stop(1, reference.WhyBlock).Run(2, 0, 10*Us, reference.WhyBlock)
		}
		None(t, s.Detect(d))
	})
	t.Run("yielded", func(t *testing.T) {
		s := New(2).PStop(1)
		for range 100 {
			s.Local(1, 0, reference.WhyUnblock).Start(1, 0).Global(2, reference.WhyGosched).Pass(Ms).Stop(1, reference.WhyBlock).Run(2, 0, 10*Us, reference.WhyBlock)
		}
		None(t, s.Detect(d))
	})
	t.Run("stopped", func(t *testing.T) {
		s := New(2).PStop(1)
		for range 100 {
			s.Emit(reference.Decision{Kind: reference.KindSTWBegin, P: 0}).Local(2, 0, reference.WhyUnblock).Pass(Ms).Emit(reference.Decision{Kind: reference.KindSTWEnd})
			s.Run(2, 0, 10*Us, reference.WhyBlock)
		}
		None(t, s.Detect(d))
	})
	t.Run("few", func(t *testing.T) { None(t, rounds(2, 20*Ms).Detect(d)) })
}

func TestSaysThatItFollowsAStop(t *testing.T) {
	s := New(2).PStop(1).Pass(100 * Ms)
	for range 100 {
		s.Local(1, 0, reference.WhyUnblock).Start(1, 0)
		s.Emit(reference.Decision{Kind: reference.KindSTWBegin, P: 0}).Local(2, 0, reference.WhyUnblock).Pass(10 * Us).Emit(reference.Decision{Kind: reference.KindSTWEnd})
		s.Pass(500*Us).PStart(1).Run(2, 1, 10*Us, reference.WhyBlock).PStop(1).Stop(1, reference.WhyBlock)
	}
	x := One(t, s.Detect(workconservation.New(workconservation.Default())), workconservation.ID, findings.Warning)
	if last := x.Evidence[len(x.Evidence)-1]; last.Value.String() != "100" || !strings.Contains(last.What.String(), "stop-the-world") {
		t.Errorf("%v", last)
	}
}

// A P that was taken from a system call and has a thread on its way is not idle.
func TestAPThatIsHandedOverIsNoViolation(t *testing.T) {
	s := New(1)
	for range 100 {
		s.Local(1, 0, reference.WhyUnblock).Start(1, 0).Local(2, 0, reference.WhyUnblock).Syscall(1).Pass(50*Us).Retake(1, reference.WhyRetakeSlow)
		s.Emit(reference.Decision{Kind: reference.KindHandoff, P: 0, Why: reference.WhyRetakeSlow}).Pass(600*Us).PStart(0).Run(2, 0, 300*Us, reference.WhyBlock)
	}
	None(t, s.Detect(workconservation.New(workconservation.Default())))
}

package findings_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	"github.com/gmpscope/gmpscope/reference"
)

func handovers(s *findingstest.Stream) []findings.Handover {
	w, feed := findings.Follow()
	var got []findings.Handover
	w.Handovers(func(h *findings.Handover) { got = append(got, *h) })
	feed.AddAll(s.Decisions)
	return got
}

func handoff(why reference.Why) reference.Decision {
	return reference.Decision{Kind: reference.KindHandoff, P: 0, Why: why}
}

// Of those in the queue of the P one is stolen meanwhile, one runs in the end,
// and one stays; one in the global queue waits for either P.
func TestHandoverChargesThoseWhoWait(t *testing.T) {
	s := findingstest.New(2).Class(2, 9)
	s.Local(9, 0, reference.WhyUnblock).Start(9, 0).Local(1, 0, reference.WhyUnblock).Local(2, 0, reference.WhyUnblock).Local(3, 0, reference.WhyUnblock)
	s.Global(4, reference.WhyNetwork).Syscall(9).Pass(100).Retake(9, reference.WhyRetakeSlow).Emit(handoff(reference.WhyRetakeSlow))
	s.Pass(10).Start(1, 1).Pass(10).PStart(0).Pass(10).Start(2, 0)
	want := []findings.Handover{{From: 100, To: 130, Why: reference.WhyRetakeSlow, Giver: 9, GiverClass: 2, GiverStack: 9, G: 2, Class: 1, Ns: 10 + 30 + 30 + 15}}
	if d := cmp.Diff(want, handovers(s)); d != "" {
		t.Error(d)
	}
}

func TestHandoverToAWiredThread(t *testing.T) {
	s := findingstest.New(1).Class(2, 9).Flags(reference.FlagLocked, 9)
	s.Local(1, 0, reference.WhyUnblock).Start(1, 0).Pass(5).Wake(9, 1).Block(1, reference.ReasonSync).PStopFor(0, reference.WhyLocked).Pass(20).PStart(0).Start(9, 0)
	want := []findings.Handover{{From: 5, To: 25, Why: reference.WhyLocked, Giver: 1, GiverClass: 1, GiverStack: 1, G: 9, Class: 2, Locked: true, Ns: 20}}
	if d := cmp.Diff(want, handovers(s)); d != "" {
		t.Error(d)
	}
}

// A P that a wired thread gave up, and that nobody started a thread for, is idle.
func TestNoHandover(t *testing.T) {
	s := findingstest.New(1)
	s.Local(1, 0, reference.WhyUnblock).Run(1, 0, 5, reference.WhyBlock).PStopFor(0, reference.WhyLocked).Pass(20).PStart(0).Local(2, 0, reference.WhyTimer).Run(2, 0, 5, reference.WhyBlock)
	// The world was stopped in between.
	s.Local(1, 0, reference.WhyUnblock).Start(1, 0).Syscall(1).Local(2, 0, reference.WhyUnblock).Pass(100).Retake(1, reference.WhyRetakeSlow).Emit(handoff(reference.WhyRetakeSlow))
	s.Emit(reference.Decision{Kind: reference.KindSTWBegin}).Pass(50).Emit(reference.Decision{Kind: reference.KindSTWEnd}).PStart(0).Start(2, 0)
	if got := handovers(s); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestViewHasHowACallLostItsP(t *testing.T) {
	s := findingstest.New(1).Local(1, 0, reference.WhyUnblock).Start(1, 0).Pass(3).Syscall(1).Pass(4).SyscallExit(1).Pass(2).Syscall(1).Pass(10).Retake(1, reference.WhyRetakeReturn)
	w, feed := findings.Follow()
	for i := range s.Decisions {
		feed.Add(&s.Decisions[i])
		g := w.ByID(1)
		switch d := &s.Decisions[i]; {
		case d.Kind == reference.KindReady && g.CallAt != -1,
			d.Kind == reference.KindSyscallExit && (g.CallAt != 3 || g.CallWhy != reference.WhyUnknown),
			d.Kind == reference.KindRetake && (g.CallAt != 9 || g.CallWhy != reference.WhyRetakeReturn):
			t.Errorf("at %v: %+v", d.Kind, g)
		}
	}
}

func TestComing(t *testing.T) {
	s := findingstest.New(2)
	s.Local(1, 0, reference.WhyUnblock).Start(1, 0).Local(2, 0, reference.WhyUnblock).Syscall(1).Pass(100).Retake(1, reference.WhyRetakeSlow)
	s.Emit(handoff(reference.WhyRetakeSlow)).Pass(50).PStart(0).Start(2, 0)
	w, feed := findings.Follow()
	for i := range s.Decisions {
		feed.Add(&s.Decisions[i])
		want := int64(0)
		if s.Decisions[i].Kind == reference.KindHandoff {
			want = 1
		}
		if w.Coming() != want {
			t.Errorf("after %v: %d", s.Decisions[i].Kind, w.Coming())
		}
	}
}

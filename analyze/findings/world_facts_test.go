package findings_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	"github.com/gmpscope/gmpscope/reference"
)

func TestViewHasBlocksAndWakers(t *testing.T) {
	s := findingstest.New(1)
	s.Local(1, 0, reference.WhyUnblock).Start(1, 0).Pass(5).Block(1, reference.ReasonSync)
	s.Local(2, 0, reference.WhyUnblock).Start(2, 0).Pass(7).Wake(1, 2)
	w, feed := findings.Follow()
	var wakes int
	w.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindReady}}, func(d *reference.Decision) {
		if d.G == 1 && d.By == 2 {
			wakes++
			if g := w.Goroutine(); g.BlockedNs != 7 || g.Reason != reference.ReasonSync || g.Waker != 2 || g.RunNs != 5 || g.WakeStack != 2 || g.Stack != 1 {
				t.Errorf("%+v", g)
			}
		}
	})
	feed.AddAll(s.Decisions)
	if wakes != 1 {
		t.Errorf("%d wakes", wakes)
	}
}

// Who comes back from a system call without a P was blocked before it, and not since.
func TestViewForgetsBlocksAtSyscalls(t *testing.T) {
	s := findingstest.New(1)
	s.Local(1, 0, reference.WhyUnblock).Start(1, 0).Pass(5).Block(1, reference.ReasonChanReceive)
	s.Pass(7).Local(1, 0, reference.WhyTimer).Start(1, 0)
	for range 3 {
		s.Syscall(1).Pass(20).Retake(1, reference.WhyRetakeSlow).Pass(9).SyscallExit(1).Local(1, 0, reference.WhySyscallExit).Start(1, 0)
	}
	w, feed := findings.Follow()
	w.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindReady}}, func(d *reference.Decision) {
		if g := w.Goroutine(); d.Why == reference.WhySyscallExit && (g.BlockedNs != -1 || g.Reason != reference.ReasonNone) {
			t.Errorf("%+v", g)
		}
	})
	feed.AddAll(s.Decisions)
	if ns := w.ClassStat(1).BlockedNs; ns != 7 {
		t.Errorf("the class was blocked for %d ns", ns)
	}
}

func TestViewHasSyscalls(t *testing.T) {
	s := findingstest.New(2)
	s.Local(1, 0, reference.WhyUnblock).Start(1, 0).Pass(5).Syscall(1).Pass(3).SyscallExit(1).Pass(1)
	s.Syscall(1).Local(2, 0, reference.WhyTimer).Pass(20).Retake(1, reference.WhyRetakeSlow).Pass(9).SyscallExit(1).Global(1, reference.WhySyscallExit)
	w, feed := findings.Follow()
	var got []findings.Syscall
	w.Syscalls(findings.SyscallFilter{}, func(c *findings.Syscall) { got = append(got, *c) })
	var returns []int64
	w.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindSyscallExit}, When: findings.WithoutP}, func(*reference.Decision) { returns = append(returns, w.Now()) })
	feed.AddAll(s.Decisions)
	if d := cmp.Diff([]int64{38}, returns); d != "" {
		t.Errorf("returns without a P: %s", d)
	}
	n, number := w.CallsFrom(1)
	none, other := w.CallsFrom(2)
	if n != 2 || none != 0 || number == other {
		t.Errorf("%d calls from stack %d, %d from stack %d", n, number, none, other)
	}
	want := []findings.Syscall{
		{G: 1, From: 5, To: 8, P: 0, Class: 1, Stack: 1, Why: reference.WhySyscallExit},
		{G: 1, From: 9, To: 29, P: 0, Class: 1, Stack: 1, Why: reference.WhyRetakeSlow, Local: 1},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestViewHasSlotsAndCreators(t *testing.T) {
	s := findingstest.New(1)
	s.Local(1, 0, reference.WhyUnblock).Start(1, 0).Create(2, 1).Create(3, 1).Block(1, reference.ReasonSync)
	s.Run(3, 0, 5, reference.WhyExit).Run(2, 0, 5, reference.WhyBlock)
	w, feed := findings.Follow()
	slots := map[int64]int32{}
	for i := range s.Decisions {
		d := &s.Decisions[i]
		feed.Add(d)
		if d.Kind != reference.KindReady && d.Kind != reference.KindStart && d.Kind != reference.KindStop {
			continue
		}
		slot := w.Slot()
		switch {
		case d.Why == reference.WhyExit:
			if slot != 0 {
				t.Errorf("slot %d of a goroutine that has ended", slot)
			}
		case slot <= 0 || slots[d.G] != 0 && slots[d.G] != slot:
			t.Errorf("goroutine %d: slot %d, was %d", d.G, slot, slots[d.G])
		default:
			slots[d.G] = slot
		}
	}
	if slots[1] == slots[2] || slots[2] == slots[3] || slots[1] == slots[3] {
		t.Error("shared slots", slots)
	}
	if g := w.ByID(2); g.Creator != 1 {
		t.Errorf("created by %d", g.Creator)
	}
	if g := w.ByID(1); g.Creator != reference.NoG {
		t.Errorf("created by %d, which is not known", g.Creator)
	}
}

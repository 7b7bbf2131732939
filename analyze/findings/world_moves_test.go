package findings_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	"github.com/gmpscope/gmpscope/reference"
)

func TestRunsHaveTheirSource(t *testing.T) {
	type run struct {
		G            int64
		First, Moved bool
		Src          reference.Source
		IdleWait     int64
	}
	s := New(2).PStop(1)
	// Queued while P0 is free for 3 µs.
	s.Pass(Us).Local(1, 0, reference.WhyCreate).Pass(3*Us).Run(1, 0, 10*Us, reference.WhyBlock)
	// 5 µs behind a stop of 2 µs before: the P was free for 7, it waited for 5.
	s.Pass(2*Us).Local(1, 0, reference.WhyUnblock).Pass(5*Us).Run(1, 0, 10*Us, reference.WhyBlock)
	// Queued on P0 while it runs something else; P1 gets a thread 4 µs later and
	// takes it after another 6.
	s.Local(2, 0, reference.WhyCreate).Start(2, 0).Local(1, 0, reference.WhyUnblock).Pass(4*Us).PStart(1).Pass(6*Us).Run(1, 1, 10*Us, reference.WhyBlock)
	// Comes back from a system call on another P: no start.
	s.Syscall(2).Retake(2, reference.WhyRetakeSlow).Pass(Us)
	s.Emit(reference.Decision{Kind: reference.KindSyscallExit, G: 2, Class: 1, P: 1})
	s.Pass(Us).Emit(reference.Decision{Kind: reference.KindStop, G: 2, Class: 1, P: 1, Why: reference.WhyBlock})

	var got []run
	d := findings.Detector{ID: "x", New: func(view *findings.View) findings.Watcher {
		view.Runs(findings.RunFilter{}, func(s *findings.Run) {
			got = append(got, run{s.G, s.First, s.Moved, s.Src, s.IdleWait})
		})
		return nothing{}
	}}
	s.Detect(d)
	want := []run{
		{1, true, false, reference.SrcLocal, 3 * Us},
		{1, false, false, reference.SrcLocal, 5 * Us},
		{1, false, true, reference.SrcSteal, 6 * Us},
		{2, true, false, reference.SrcLocal, 0},
		{2, false, true, reference.SrcUnknown, 0},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestYieldedAreRunnable(t *testing.T) {
	s := New(1).Global(1, reference.WhyGosched).Global(2, reference.WhyCreate).Local(3, 0, reference.WhyUnblock)
	w, feed := findings.Follow()
	feed.AddAll(s.Decisions)
	if w.Runnable() != 3 || w.Yielded() != 1 {
		t.Errorf("%d runnable, %d of them yielded", w.Runnable(), w.Yielded())
	}
	n := len(s.Decisions)
	s.Start(1, 0)
	feed.AddAll(s.Decisions[n:])
	if w.Runnable() != 2 || w.Yielded() != 0 {
		t.Errorf("%d runnable, %d of them yielded", w.Runnable(), w.Yielded())
	}
}

func TestLocalQueuesAreCounted(t *testing.T) {
	s := New(3).Local(1, 0, reference.WhyCreate).Next(2, 0, reference.WhyCreate).Local(3, 2, reference.WhyCreate).Global(4, reference.WhyCreate)
	s.Pass(5*Us).Start(1, 1)
	w, feed := findings.Follow()
	feed.AddAll(s.Decisions)
	if n, queues := w.QueuedLocally(); n != 2 || queues != 2 {
		t.Errorf("%d in %d queues", n, queues)
	}
	if w.QueuedNs(0) != 10*Us || w.QueuedNs(1) != 0 || w.QueuedNs(2) != 5*Us {
		t.Errorf("queued for %d, %d, %d ns", w.QueuedNs(0), w.QueuedNs(1), w.QueuedNs(2))
	}
	n := len(s.Decisions)
	s.Start(3, 2)
	feed.AddAll(s.Decisions[n:])
	if n, queues := w.QueuedLocally(); n != 1 || queues != 1 {
		t.Errorf("%d in %d queues", n, queues)
	}
}

type nothing struct{}

func (nothing) Finish(*findings.Facts) []findings.Finding { return nil }

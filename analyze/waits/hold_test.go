package waits

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gmpscope/gmpscope/reference"
)

// resultOf is the account of a stream with texts and stacks.
func resultOf(ds []reference.Decision, end int64) Result {
	return account(ds, end, Options{
		Text:   func(h int32) string { return fmt.Sprint("text ", h) },
		Frames: func(h int32) []string { return []string{fmt.Sprint("stack ", h)} },
	})
}

// TestHeld names, for each cause without a goroutine that ran, what it was.
func TestHeld(t *testing.T) {
	for _, c := range []struct {
		name, stream string
		want         []PHold // of the class of g1
	}{
		{"the system call of g2, then of g3, with the stack of the longest", `
			0 gomaxprocs 1
			0 p-start p0
			0 start g2 p0
			10 ready g1 p0 local
			10 syscall g2 p0 stack7
			20 syscall-exit g2 p0
			30 syscall g2 p0 stack8
			60 syscall-exit g2 p0
			60 stop g2 p0 block
			60 start g3 p0
			60 syscall g3 p0 stack9
			65 syscall-exit g3 p0
			65 stop g3 p0 block
			65 start g1 p0`,
			[]PHold{
				{Cause: CauseUnavailable, Reason: "system call", Class: 2, Name: "f2", Creator: "c2", Stack: []string{"stack 8"}, P: -1, Ns: 40},
				{Cause: CauseUnavailable, Reason: "system call", Class: 3, Name: "f3", Creator: "c3", Stack: []string{"stack 9"}, P: -1, Ns: 5},
			}},
		{"one of two Ps is in a system call: half of those in the global queue", `
			0 gomaxprocs 2
			0 p-start p0
			0 p-start p1
			0 start g2 p0
			0 start g3 p1
			10 ready g1 global
			10 syscall g2 p0 stack7
			30 syscall-exit g2 p0
			30 stop g2 p0 block
			30 start g1 p0`,
			[]PHold{{Cause: CauseUnavailable, Reason: "system call", Class: 2, Name: "f2", Creator: "c2", Stack: []string{"stack 7"}, P: -1, Ns: 10}}},
		{"a hand-over to the thread that it is locked to", `
			0 gomaxprocs 1
			0 p-start p0
			0 start g2 p0
			10 ready g1 p0 local
			20 stop g2 p0 block
			21 move g1 p0 direct
			22 p-stop p0 locked
			40 p-start p0
			41 start g1 p0`,
			[]PHold{{Cause: CauseUnavailable, Reason: "locked", P: -1, Ns: 18}}},
		{"a mark worker", `
			0 gomaxprocs 1
			0 p-start p0
			5 start g9 p0 gc-flag
			10 ready g1 p0 local
			30 stop g9 p0 block
			30 start g1 p0`,
			[]PHold{{Cause: CauseGC, Reason: "mark worker", Class: 9, Name: "f9", Creator: "c9", P: -1, Ns: 20}}},
		{"two stop-the-worlds with different reasons, in either queue", `
			0 gomaxprocs 2
			0 p-start p0
			0 p-start p1
			0 start g2 p0
			0 start g3 p1
			10 ready g1 p1 local
			20 stw-begin p0 label5
			25 stop g3 p1 stw
			25 p-stop p1 stw
			35 stw-end p0
			35 p-start p1
			35 start g3 p1
			36 move g1 global
			40 stw-begin p0 label6
			41 stop g3 p1 stw
			41 p-stop p1 stw
			44 stw-end p0
			44 p-start p1
			44 start g1 p1`,
			// Of the ns in which the second stops, one P of two is stopped.
			[]PHold{
				{Cause: CauseSTW, Reason: "text 5", P: -1, Ns: 10},
				{Cause: CauseSTW, Reason: "text 6", P: -1, Ns: 4},
			}},
		{"of two idle Ps the one that is it longer", `
			0 gomaxprocs 3
			0 p-start p0
			0 p-start p1
			0 p-start p2
			0 start g2 p0
			5 p-stop p2 idle
			8 p-stop p1 idle
			10 ready g1 p0 local
			30 stop g2 p0 block
			30 start g1 p0`,
			[]PHold{{Cause: CauseIdlePAvailable, P: 2, Ns: 20}}},
		{"a P that never had a thread is idle longest", `
			0 gomaxprocs 2
			0 p-start p0
			0 start g2 p0
			10 ready g1 p0 local
			30 stop g2 p0 block
			30 start g1 p0`,
			[]PHold{{Cause: CauseIdlePAvailable, P: -1, Ns: 20}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ds := parse(t, c.stream)
			r := resultOf(ds, ds[len(ds)-1].Time)
			for _, k := range r.Classes {
				if k.ID == 1 {
					if d := cmp.Diff(c.want, k.Held, cmpopts.EquateEmpty()); d != "" {
						t.Errorf("(-want +got):\n%s", d)
					}
				}
			}
		})
	}
}

// TestRuns describes each run interval ahead of one wait, and what ended it.
func TestRuns(t *testing.T) {
	ds := parse(t, `
		0 gomaxprocs 1
		0 p-start p0
		0 start g2 p0
		10 ready g1 p0 local
		15 ready g3 p0 runnext
		20 stop g2 p0 block
		20 start g3 p0
		25 syscall g3 p0 stack4
		31 syscall-exit g3 p0
		40 stop g3 p0 slice
		40 start g1 p0`)
	s := resultOf(ds, 40).Worst[0]
	want := []Run{
		{G: 2, Class: 2, Name: "f2", FromNs: 10, ToNs: 20, End: "block"},
		{G: 3, Class: 3, Name: "f3", FromNs: 20, ToNs: 25, End: "syscall", Later: true},
		{G: 3, Class: 3, Name: "f3", FromNs: 31, ToNs: 40, End: "slice", Later: true},
	}
	if d := cmp.Diff(want, s.Runs); d != "" || s.MoreRuns != 0 {
		t.Errorf("%d more; (-want +got):\n%s", s.MoreRuns, d)
	}
	if s.After != "slice" {
		t.Errorf("after %q", s.After)
	}
	held := []PHold{{Cause: CauseUnavailable, Reason: "system call", Class: 3, Name: "f3", Creator: "c3", Stack: []string{"stack 4"}, P: -1, Ns: 6}}
	if d := cmp.Diff(held, s.Held); d != "" {
		t.Errorf("held (-want +got):\n%s", d)
	}
}

// TestRunsAreBounded keeps the longest run intervals of a wait with many.
func TestRunsAreBounded(t *testing.T) {
	a := drive(New(Options{}))
	a.Add(&reference.Decision{Kind: reference.KindProcs, Batch: 1})
	a.Add(&reference.Decision{Kind: reference.KindPStart})
	a.Add(&reference.Decision{Kind: reference.KindReady, G: 1, Class: 1, To: reference.QueueLocal})
	now := int64(0)
	for i := range int64(100) {
		a.Add(&reference.Decision{Kind: reference.KindStart, Time: now, G: 2, Class: 2, Wait: -1})
		now += 10 + i
		a.Add(&reference.Decision{Kind: reference.KindStop, Time: now, G: 2, Why: reference.WhyBlock})
		now++
	}
	a.Add(&reference.Decision{Kind: reference.KindStart, Time: now, G: 1, Class: 1})
	s := a.Finish(now, nil).Worst[0]
	if len(s.Runs) != maxRuns || s.MoreRuns < 1 || maxRuns+s.MoreRuns != int(s.Ahead[0].Runs) {
		t.Fatalf("%d runs and %d more of %d", len(s.Runs), s.MoreRuns, s.Ahead[0].Runs)
	}
	for i, r := range s.Runs {
		if want := int64(10 + 100 - maxRuns + i); r.ToNs-r.FromNs != want {
			t.Errorf("run %d takes %d ns, want %d", i, r.ToNs-r.FromNs, want)
		}
	}
}

// TestHeldIsBounded has more reasons, Ps and classes than are told apart.
func TestHeldIsBounded(t *testing.T) {
	a := drive(New(Options{}))
	now, sum := int64(0), int64(0)
	a.Add(&reference.Decision{Kind: reference.KindProcs, Batch: 1})
	a.Add(&reference.Decision{Kind: reference.KindPStart})
	a.Add(&reference.Decision{Kind: reference.KindReady, G: 1, Class: 1, To: reference.QueueLocal})
	for i := range int32(1000) {
		a.Add(&reference.Decision{Kind: reference.KindSTWBegin, Time: now, P: -1, Label: i})
		a.Add(&reference.Decision{Kind: reference.KindPStop, Time: now, Why: reference.WhySTW})
		now += 3
		sum += 3
		a.Add(&reference.Decision{Kind: reference.KindSTWEnd, Time: now})
		a.Add(&reference.Decision{Kind: reference.KindPStart, Time: now})
	}
	a.Add(&reference.Decision{Kind: reference.KindStart, Time: now, G: 1, Class: 1})
	c := a.Finish(now, nil).Classes[0]
	if len(c.Held) != maxHeldOfClass || len(a.reasons) > maxReasons+1 {
		t.Errorf("%d held, %d reasons", len(c.Held), len(a.reasons))
	}
	if top := c.Held[0]; top.Reason != "" || top.Ns != sum-3*maxReasons {
		t.Errorf("most is %+v, want all further reasons, %d of %d ns", top, sum-3*maxReasons, sum)
	}
}

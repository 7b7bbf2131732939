package ledger_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/reference"
)

// TestStates gives the rules that random streams do not reach.
func TestStates(t *testing.T) {
	type change = ledger.Change
	var tr ledger.States
	for _, c := range []struct {
		name string
		d    reference.Decision
		want []change
	}{
		{"the Ps below GOMAXPROCS exist", reference.Decision{Kind: reference.KindProcs, Batch: 2},
			[]change{{0, ledger.Unused, ledger.Idle}, {1, ledger.Unused, ledger.Idle}}},
		{"nothing new", reference.Decision{Kind: reference.KindPStop, P: 1, Why: reference.WhyIdle, Flags: reference.FlagFirst}, nil},
		{"no P", reference.Decision{Kind: reference.KindStop, P: reference.NoP}, nil},
		{"a thread", reference.Decision{Kind: reference.KindPStart, P: 0}, []change{{0, ledger.Idle, ledger.Sched}}},
		{"a goroutine of the runtime", reference.Decision{Kind: reference.KindStart, P: 0, Flags: reference.FlagSystem}, []change{{0, ledger.Sched, ledger.System}}},
		{"one right after another", reference.Decision{Kind: reference.KindStart, P: 0, Flags: reference.FlagSystem}, []change{{0, ledger.System, ledger.System}}},
		{"a system call", reference.Decision{Kind: reference.KindSyscall, P: 0}, []change{{0, ledger.System, ledger.Syscall}}},
		{"back, told without flags", reference.Decision{Kind: reference.KindSyscallExit, P: 0}, []change{{0, ledger.Syscall, ledger.System}}},
		{"a system call told after a stop", reference.Decision{Kind: reference.KindStop, P: 0}, []change{{0, ledger.System, ledger.Sched}}},
		{"goes by its flags", reference.Decision{Kind: reference.KindSyscall, P: 0, Flags: reference.FlagTracer}, []change{{0, ledger.Sched, ledger.Syscall}}},
		{"and so does its end", reference.Decision{Kind: reference.KindSyscallExit, P: 0}, []change{{0, ledger.Syscall, ledger.Tracer}}},
		{"a P above GOMAXPROCS that has a thread", reference.Decision{Kind: reference.KindPStart, P: 3}, []change{{3, ledger.Unused, ledger.Sched}}},
		{"stops", reference.Decision{Kind: reference.KindPStop, P: 3, Why: reference.WhyIdle}, []change{{3, ledger.Sched, ledger.Unused}}},
		{"one that is known and unused", reference.Decision{Kind: reference.KindPStop, P: 2, Why: reference.WhyIdle, Flags: reference.FlagFirst}, []change{{2, ledger.Unused, ledger.Unused}}},
		{"fewer Ps: a running one goes on", reference.Decision{Kind: reference.KindProcs, Batch: 0}, []change{{1, ledger.Idle, ledger.Unused}}},
		{"until it stops", reference.Decision{Kind: reference.KindPStop, P: 0, Why: reference.WhyProcs}, []change{{0, ledger.Tracer, ledger.Unused}}},
		{"more Ps", reference.Decision{Kind: reference.KindProcs, Batch: 1}, []change{{0, ledger.Unused, ledger.Idle}}},
		{"a P beyond all bounds", reference.Decision{Kind: reference.KindPStart, P: 1 << 30}, nil},
	} {
		var got []change
		tr.Apply(&c.d)
		got = append(got, tr.Changes()...)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: -want +got:\n%s", c.name, d)
		}
	}
	if ps, mentions := tr.Omitted(); ps != 0 || mentions != 1 {
		t.Errorf("%d Ps omitted, %d mentions", ps, mentions)
	}
	if got := ledger.Stopped.String() + " " + ledger.State(99).String(); got != "stopped invalid" {
		t.Error(got)
	}
}

// TestRunnableHeals starts a goroutine that was never shown as ready while
// another waits: those in queues are runnable all the same.
func TestRunnableHeals(t *testing.T) {
	var n int32
	feed := ledger.NewFeed(func(b *ledger.Block) { n = b.Notes[len(b.Notes)-1].Runnable })
	for _, d := range []reference.Decision{
		{Kind: reference.KindReady, G: 1, P: -1, Global: 1},
		{Kind: reference.KindStart, G: 2, P: 0, Victim: -1, Global: 1},
	} {
		feed.Add(&d)
	}
	if n != 1 {
		t.Errorf("%d runnable, want 1", n)
	}
}

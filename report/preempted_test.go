package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/stacks"
	"github.com/gmpscope/gmpscope/analyze/work"
)

// Of a job it is said that one goroutine ran at a time, unless more than one P was in use.
func TestOneAfterTheOther(t *testing.T) {
	for busy, want := range map[int64]bool{27: true, 28: false, 50: false} { // ms of four Ps, 25 each
		r := &analyze.Result{Program: analyze.Program{Kind: analyze.Batch}}
		r.Trace.GOMAXPROCS = 4
		r.Procs.Ps = []procs.Proc{{LifetimeNs: 100e6, RunningNs: busy * 1e6, SchedNs: 20e6, IdleNs: 80e6 - busy*1e6}}
		r.Work.Kinds = []work.UnitKind{{Name: "main.main", How: "run", Entry: true, Count: 1, TotalNs: 25e6, Path: []work.TimePart{{Leaf: work.Leaf{What: "running"}, Ns: 20e6}}}}
		lines, _ := wordingOf(r).program()
		if got := slices.ContainsFunc(lines, func(s string) bool { return strings.HasPrefix(s, "One goroutine after the other ran") }); got != want {
			t.Errorf("%d ms: %q", busy, lines)
		}
	}
}

// TestPreempted is for goroutines that stop without being blocked.
func TestPreempted(t *testing.T) {
	frames := []stacks.Frame{
		{Function: "runtime.asyncPreempt2"}, {Function: "strings.Index"}, {Function: "main.search"}, {Function: "main.main"},
		{Function: "runtime.Gosched"}, {Function: "main.poll"}, {Function: "syscall.Syscall"}, {Function: "sync.(*Mutex).Unlock"}, {Function: "main.hash"},
		{Function: "zip.match", File: "zip@v1.0.0/match.go"}, {Function: "zip.store", File: "zip@v1.0.0/store.go"}, {Function: "zip.deflate", File: "zip@v1.0.0/deflate.go"},
	}
	preempted := stacks.Row{Place: stacks.Stopped, Stack: []int32{0, 1, 2, 3}, Waits: 30}
	for _, c := range []struct {
		name, headline, want string
		rows                 []stacks.Row
	}{
		{"by a signal", "", "Where goroutines compute: 100 % of 30 preemptions were in main.search.", []stacks.Row{preempted}},
		{"at a call", "", "Where goroutines compute: 75 % of 40 preemptions were in main.search.", []stacks.Row{preempted, {Place: stacks.Stopped, Stack: []int32{8, 3}, Waits: 10}}},
		{"yields, calls, unlocks, blocks", "", "Where goroutines compute: 100 % of 30 preemptions were in main.search.", []stacks.Row{
			preempted, {Place: stacks.Stopped, Stack: []int32{4, 5}, Waits: 99}, {Place: stacks.Stopped, Stack: []int32{6, 5}, Waits: 99},
			{Place: stacks.Stopped, Stack: []int32{7, 8}, Waits: 99}, {Place: stacks.Stopped, Stack: []int32{8}, Waits: 99, BlockedNs: 1}, {Place: stacks.Created, Stack: []int32{8}, Waits: 99},
		}},
		{"in what it calls", "", "Where goroutines compute: 75 % of 40 preemptions were in zip.deflate, called by main.search.", []stacks.Row{
			{Place: stacks.Stopped, Stack: []int32{9, 11, 2, 3}, Waits: 15}, {Place: stacks.Stopped, Stack: []int32{10, 11, 2, 3}, Waits: 15}, {Place: stacks.Stopped, Stack: []int32{8, 3}, Waits: 10},
		}},
		{"in what several call", "", "Where goroutines compute: 100 % of 30 preemptions were in zip.deflate, called by main.hash.", []stacks.Row{
			{Place: stacks.Stopped, Stack: []int32{9, 11, 2, 3}, Waits: 11}, {Place: stacks.Stopped, Stack: []int32{10, 11, 8, 3}, Waits: 10}, {Place: stacks.Stopped, Stack: []int32{1, 11, 8, 3}, Waits: 9},
		}},
		{"said", "Runs of main.search hold up short ones", "", []stacks.Row{preempted}},
		{"few", "", "", []stacks.Row{{Place: stacks.Stopped, Stack: []int32{0, 2}, Waits: 9}}},
	} {
		r := &analyze.Result{Stacks: stacks.Result{Frames: frames, Rows: c.rows}}
		w := wordingOf(r)
		if got := w.preempted(c.headline); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

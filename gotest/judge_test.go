package gotest

import (
	"testing"
	"time"

	"github.com/gmpscope/gmpscope/internal/jsondoc"
)

func TestJudge(t *testing.T) {
	const ms = int64(time.Millisecond)
	counted := func(cpu, delay, longest int64) Machine {
		return Machine{Counted: true, TestMachine: jsondoc.TestMachine{CPUNs: cpu * ms, DelayNs: delay * ms, LongestNs: longest * ms}}
	}
	for _, tt := range []struct {
		name, output string
		test         Judged
		want         Verdict
		basis        string
	}{
		{"the machine", "took 90ms", Judged{Ns: 100 * ms, Machine: counted(40, 60, 20), workNs: 100 * ms}, StarvedByMachine, "certain"},
		{"nobody counts, Ps idle", "timed out", Judged{Ns: 100 * ms, Wait: jsondoc.TestWait{Ns: 60 * ms, LongestNs: 60 * ms, MachineNs: 60 * ms}}, StarvedByMachine, "suspected"},
		{"stopped by a signal", "took 90ms", Judged{Ns: 100 * ms, Machine: Machine{Counted: true, TestMachine: jsondoc.TestMachine{StoppedNs: 50 * ms}}}, StarvedByMachine, "certain"},
		{"the quota", "took 90ms", Judged{Ns: 100 * ms, Machine: Machine{Counted: true, TestMachine: jsondoc.TestMachine{ThrottledNs: 50 * ms}}}, StarvedByMachine, "certain"},
		{"other goroutines", "timed out", Judged{Ns: 100 * ms, Machine: counted(190, 2, 1), Wait: jsondoc.TestWait{Ns: 60 * ms, LongestNs: 10 * ms}, workNs: 100 * ms}, StarvedByProgram, "certain"},
		{"its own threads", "timed out", Judged{Ns: 100 * ms, Machine: counted(195, 600, 20), workNs: 700 * ms, cpus: 2}, StarvedByProgram, "certain"},
		{"one long lack in a long test", "missed a heartbeat", Judged{Ns: 1000 * ms, Machine: counted(100, 55, 55), workNs: 500 * ms}, StarvedByMachine, "certain"},
		{"a long test that lacked little", "timed out", Judged{Ns: 10_000 * ms, Machine: counted(100, 200, 25), workNs: 500 * ms}, NotScheduling, "certain"},
		{"nothing lacked", "timed out", Judged{Ns: 100 * ms, Machine: counted(5, 1, 1), workNs: 5 * ms}, NotScheduling, "certain"},
		{"the machine was busy, but nothing was to be done", "deadline exceeded", Judged{Ns: 100 * ms, Machine: counted(5, 90, 60), workNs: ms}, NotScheduling, "certain"},
		{"nothing to do with time", "got 5, want 6", Judged{Ns: 100 * ms, Machine: counted(40, 60, 20), workNs: 100 * ms}, NotScheduling, "suspected"},
		{"a timer, and silence", "got 5, want 6", Judged{Ns: 100 * ms, Machine: counted(40, 60, 20), workNs: 100 * ms, Timed: true}, StarvedByMachine, "certain"},
		{"a race", "WARNING: DATA RACE\ntook 90ms", Judged{Ns: 100 * ms, Machine: counted(40, 60, 20), workNs: 100 * ms}, NotScheduling, "certain"},
		{"stacks are not about time", "got 5\n\t/src/timeout.go:5 +0x1s\ngoroutine 7 [select, 5 minutes]:\n", Judged{Ns: 100 * ms, Machine: counted(40, 60, 20), workNs: 100 * ms}, NotScheduling, "suspected"},
		{"a lack too short to count", "took 3ms", Judged{Ns: 2 * ms, Machine: counted(1, 1, 1), workNs: 2 * ms}, NotScheduling, "certain"},
	} {
		x := tt.test
		x.Test, x.Found = &Test{Outcome: "fail"}, true
		x.out.add(tt.output)
		if x.judge(notComparable); x.Verdict != tt.want || x.Basis != tt.basis {
			t.Errorf("%s: %s (%s): %s; want %s (%s)", tt.name, x.Verdict, x.Basis, x.Why, tt.want, tt.basis)
		}
	}
	passed := Judged{Test: &Test{Outcome: "pass"}}
	if passed.judge(notComparable); passed.Verdict != "" {
		t.Errorf("one that passed: %s", passed.Verdict)
	}
	lost := Judged{Test: &Test{}}
	if lost.judge(notComparable); lost.Verdict != NotKnown {
		t.Errorf("one of which nothing is known: %s", lost.Verdict)
	}
}

// A wait for a CPU is counted when it ends, and belongs to the time before that.
func TestBetween(t *testing.T) {
	samples := []sample{{At: 0}, {At: 100, CPU: 50}, {At: 200, CPU: 10, Delays: []int64{80, 150}, Stopped: true}, {At: 300, CPU: 100, Throttled: 40}}
	m := between(samples, 100, 100, 250)
	want := Machine{Counted: true, TestMachine: jsondoc.TestMachine{CPUNs: 10 + 50, DelayNs: 80 + 100, LongestNs: 100, ThrottledNs: 20, StoppedNs: 100}}
	if got := m; got.delays == nil || got.CPUNs != want.CPUNs || got.DelayNs != want.DelayNs || got.LongestNs != want.LongestNs || got.ThrottledNs != want.ThrottledNs || got.StoppedNs != want.StoppedNs || !got.Counted {
		t.Errorf("%+v, want %+v", got, want)
	}
	if late := m.lateness(200); late != 100 {
		t.Errorf("a timer at 200 was late by %d", late)
	}
	if m := between(samples, 100, 400, 500); m.Counted {
		t.Errorf("after the last sample: %+v", m)
	}
}

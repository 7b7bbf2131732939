package childprocess_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	childprocess "github.com/gmpscope/gmpscope/analyze/findings/child-process"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	"github.com/gmpscope/gmpscope/reference"
)

const (
	waits  = int32(31)
	waits4 = int32(32)
	reads  = int32(33)
)

var stacks = map[int32][]string{
	waits:  {"syscall.Syscall6 (syscall.go:1)", "os.(*Process).blockUntilWaitable (wait_waitid.go:2)", "os.(*Process).Wait (exec.go:3)", "os/exec.(*Cmd).Wait (exec.go:4)", "main.build (main.go:5)"},
	waits4: {"syscall.wait4 (syscall.go:1)", "syscall.Wait4 (syscall.go:2)", "main.build (main.go:7)"},
	reads:  {"syscall.read (syscall.go:1)", "os.(*File).Read (file.go:2)", "main.build (main.go:9)"},
}

// calls has goroutine 1 make n system calls of ns each, and run for rest after each. With others,
// goroutine 2 runs meanwhile.
func calls(stack int32, n int, ns, rest int64, others bool) *Stream {
	s := New(2).Local(1, 0, reference.WhyTimer).Start(1, 0)
	for range n {
		s.Syscall(1)
		s.Decisions[len(s.Decisions)-1].Stack = stack
		s.Retake(1, reference.WhyRetakeSlow)
		if others {
			s.Local(2, 1, reference.WhyTimer).Start(2, 1).Pass(ns).Block(2, reference.ReasonSleep)
		} else {
			s.Pass(ns)
		}
		s.SyscallExit(1).Local(1, 0, reference.WhySyscallExit).Start(1, 0).Pass(rest)
	}
	return s.Stop(1, reference.WhyExit)
}

func detect(s *Stream) []findings.Finding {
	f := s.Facts()
	f.Stack = func(h int32) []string { return stacks[h] }
	return s.DetectWith(childprocess.New(childprocess.Default()), f)
}

func TestFinds(t *testing.T) {
	for _, stack := range []int32{waits, waits4} {
		x := One(t, detect(calls(stack, 3, 40*Ms, 10*Ms, false)), childprocess.ID, findings.Warning)
		if x.CostNs != 120*Ms || x.Headline.String() != "Waiting for a child process (main.build): nothing else ran for 120 ms of 150 ms" || !strings.Contains(x.Title.String(), "main.build waited 3 times, 120 ms in all and up to 40 ms at a time") {
			t.Error(x.CostNs, x.Headline, x.Title)
		}
	}
	if x := One(t, detect(calls(waits, 3, 40*Ms, 200*Ms, false)), childprocess.ID, findings.Note); x.Severity != findings.Note {
		t.Error(x.Severity)
	}
}

// A wait that lasts to the end of the trace counts.
func TestStillWaits(t *testing.T) {
	s := New(1).Local(1, 0, reference.WhyTimer).Start(1, 0).Pass(10 * Ms).Syscall(1)
	s.Decisions[len(s.Decisions)-1].Stack = waits
	s.Retake(1, reference.WhyRetakeSlow).Pass(500*Ms).Local(2, 0, reference.WhyTimer).Start(2, 0).Pass(Ms).Stop(2, reference.WhyExit)
	if x := One(t, detect(s), childprocess.ID, findings.Warning); x.CostNs != 500*Ms || x.WholeNs < x.CostNs {
		t.Error(x.CostNs, x.WholeNs)
	}
}

func TestNearMisses(t *testing.T) {
	for name, s := range map[string]*Stream{
		"others run meanwhile": calls(waits, 3, 40*Ms, 10*Ms, true),
		"no process":           calls(reads, 3, 40*Ms, 10*Ms, false),
		"short":                calls(waits, 3, 15*Ms, 0, false),
		"seldom":               calls(waits, 3, 40*Ms, 400*Ms, false),
	} {
		if list := detect(s); len(list) > 0 {
			t.Errorf("%s:\n%s", name, Text(list))
		}
	}
}

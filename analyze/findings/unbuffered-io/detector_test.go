package unbufferedio_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	unbufferedio "github.com/gmpscope/gmpscope/analyze/findings/unbuffered-io"
	"github.com/gmpscope/gmpscope/reference"
)

const (
	writes = int32(31)
	reads  = int32(32)
	lists  = int32(33)
	sends  = int32(34)
	flush  = int32(35)
	copies = int32(36)
)

var stacks = map[int32][]string{
	writes: {"syscall.write (z.go:1)", "syscall.Write (s.go:2)", "os.(*File).Write (file.go:3)", "main.appendRow (main.go:4)", "main.main (main.go:5)"},
	reads:  {"syscall.pread (z.go:1)", "syscall.Pread (s.go:2)", "os.(*File).ReadAt (file.go:3)", "main.lookUp (main.go:6)", "main.main (main.go:5)"},
	sends:  {"syscall.write (z.go:1)", "syscall.Write (s.go:2)", "net.(*netFD).Write (fd.go:3)", "net.(*conn).Write (net.go:4)", "main.emit (main.go:8)"},
	flush:  {"syscall.write (z.go:1)", "syscall.Write (s.go:2)", "os.(*File).Write (file.go:3)", "bufio.(*Writer).Flush (bufio.go:4)", "bufio.(*Writer).Write (bufio.go:5)", "main.appendRow (main.go:4)"},
	copies: {"syscall.read (z.go:1)", "syscall.Read (s.go:2)", "os.(*File).Read (file.go:3)", "io.copyBuffer (io.go:4)", "io.Copy (io.go:5)", "main.send (main.go:9)"},
	lists:  {"syscall.fstatat (z.go:1)", "os.Lstat (file.go:3)", "main.walk (main.go:7)", "main.main (main.go:5)"},
}

// calls has goroutine 1 make n system calls of ns each, at a stack, stop after each row of
// them, and then do nothing for the rest of the time.
func calls(stack int32, n, row int, ns, work, rest int64) *Stream {
	s := New(1)
	s.Local(1, 0, reference.WhyCreate).Start(1, 0)
	for i := range n {
		s.Pass(work).Syscall(1)
		s.Decisions[len(s.Decisions)-1].Stack = stack
		s.Pass(ns).SyscallExit(1)
		if i%row == row-1 {
			s.Block(1, reference.ReasonChanReceive).Local(1, 0, reference.WhyTimer).Start(1, 0)
		}
	}
	return s.Block(1, reference.ReasonSleep).PStop(0).Pass(rest).PStart(0).Local(1, 0, reference.WhyTimer).Start(1, 0).Stop(1, reference.WhyExit)
}

func detect(s *Stream) []findings.Finding {
	f := s.Facts()
	f.Stack = func(h int32) []string { return stacks[h] }
	return s.DetectWith(unbufferedio.New(unbufferedio.Default()), f)
}

func TestFinds(t *testing.T) {
	x := One(t, detect(calls(writes, 100_000, 100, 1000, 500, 50*Ms)), unbufferedio.ID, findings.Critical)
	if x.CostNs != 100*Ms || !strings.HasPrefix(x.Title.String(), "main.appendRow writes little by little: 500,000 times a second, each a system call of 1 µs (mean)") {
		t.Error(x.CostNs, x.Title)
	}
	x = One(t, detect(calls(reads, 100_000, 100, 1000, 2000, 0)), unbufferedio.ID, findings.Warning)
	if !strings.HasPrefix(x.Headline.String(), "main.lookUp reads little by little") || !strings.Contains(x.Advice[0].String(), "bufio.Reader") {
		t.Error(x.Headline, x.Advice)
	}
	One(t, detect(calls(reads, 20_000, 100, 1000, 9000, 0)), unbufferedio.ID, findings.Note)
	One(t, detect(calls(sends, 20_000, 100, 6000, 500, 0)), unbufferedio.ID, findings.Critical)
}

func TestNearMisses(t *testing.T) {
	for name, s := range map[string]*Stream{
		"long sends": calls(sends, 20_000, 100, 9000, 500, 0),
		"buffered":   calls(flush, 100_000, 100, 1000, 500, 0),
		"copied":     calls(copies, 100_000, 100, 1000, 500, 0),
		"single":     calls(writes, 100_000, 10, 1000, 500, 0),
		"long":       calls(writes, 20_000, 100, 5000, 500, 0),
		"seldom":     calls(writes, 10_000, 100, 1000, 500, 3000*Ms),
		"little":     calls(writes, 4_000, 100, 1000, 500, 0),
		"much else":  calls(writes, 10_000, 100, 1000, 30_000, 0),
		"other call": calls(lists, 100_000, 100, 1000, 500, 0),
	} {
		if list := detect(s); len(list) > 0 {
			t.Errorf("%s:\n%s", name, Text(list))
		}
	}
}

package findings_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/procs"
)

// ofTwoPs are the facts of a second in which each of two Ps ran for 800 ms, and the
// goroutine of one was in a system call for the rest.
func ofTwoPs(cpus float64) *findings.Facts {
	return &findings.Facts{EndNs: 1e9, GOMAXPROCS: 2, CPUs: cpus, Procs: procs.Result{Ps: []procs.Proc{
		{RunningNs: 600e6, GCNs: 200e6, SyscallNs: 200e6},
		{P: 1, RunningNs: 700e6, SystemNs: 60e6, TracerNs: 40e6, IdleNs: 200e6},
	}}}
}

func TestCPUs(t *testing.T) {
	for _, c := range []struct {
		cpus         float64
		without      int64
		enough, more bool
		ps           int
	}{
		{0, 0, false, false, 1},
		{0.5, 1000e6, false, true, 1}, // of a period before the recording, and one after it
		{1, 600e6, false, true, 1},
		{1.1, 280e6, false, true, 2},
		{1.5, 0, false, true, 2},
		{2, 0, true, false, 2},
		{64, 0, true, false, 64},
	} {
		f := ofTwoPs(c.cpus)
		if got := f.WithoutCPUNs(); got != c.without {
			t.Errorf("%v CPUs: %d ns without one, want %d", c.cpus, got, c.without)
		}
		if strings.Contains(f.TakesCPUs(), "more Ps than CPUs") == c.enough {
			t.Errorf("%v CPUs: %s", c.cpus, f.TakesCPUs())
		}
		if f.EnoughCPUs() != c.enough || f.MorePs() != c.more || f.PsFor() != c.ps {
			t.Errorf("%v CPUs: enough %v, more Ps %v, GOMAXPROCS %d", c.cpus, f.EnoughCPUs(), f.MorePs(), f.PsFor())
		}
	}
}

// What is not recorded gives no CPU time: 200 ms of CPU time less is 200 ms more without.
func TestGapsGiveNoCPUTime(t *testing.T) {
	f := ofTwoPs(1)
	f.GapsNs = 200e6
	if got := f.WithoutCPUNs(); got != 800e6 {
		t.Errorf("%d ns without a CPU", got)
	}
}

func TestDoubtKnowsTheCPUs(t *testing.T) {
	for cpus, want := range map[float64]string{
		0: "or with no more Ps than CPUs.", 1: "repeat the recording with GOMAXPROCS 1.", 2: "More Ps than CPUs is ruled out.",
	} {
		f := ofTwoPs(cpus)
		f.Strained = true
		x := findings.Finding{Severity: findings.Warning, Feigned: findings.ByStall}
		f.Doubt(&x)
		d := f.DoubtsOf([]findings.Finding{x})
		if x.Severity != findings.Note || x.Basis != findings.Suspected || len(d) != 1 || !strings.HasSuffix(d[0].Text, want) {
			t.Errorf("%v CPUs: %v, %v", cpus, x, d)
		}
	}
}

package analyze_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/focus"
	"github.com/gmpscope/gmpscope/analyze/kernel"
	"github.com/gmpscope/gmpscope/analyze/timeline"
)

// TestKernelOverTime holds who had the CPUs over time against the account of each CPU.
func TestKernelOverTime(t *testing.T) {
	whole := 0
	for name := range recordings {
		t.Run(name, func(t *testing.T) {
			res, err := withKernel(t, name, name, analyze.Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkLanes(t, res)
			for i := range res.Timeline.Windows {
				w := &res.Timeline.Windows[i]
				checkOnCPU(t, res.Timeline.CPUs, w)
				checkOffCPU(t, w)
				if w.FromNs == 0 && w.ToNs == res.Timeline.EndNs && w.CPUsFromNs == 0 {
					whole++
					checkWhole(t, res, w)
				}
			}
		})
	}
	if whole == 0 {
		t.Error("no recording is kept exactly as a whole")
	}
}

// checkLanes checks that the shares of all bins sum to the account of each CPU.
func checkLanes(t *testing.T, res *analyze.Result) {
	t.Helper()
	c := res.Timeline.CPUs
	if len(c.Lanes) != len(res.Kernel.CPUs) {
		t.Fatalf("%d CPUs over time, %d in the account", len(c.Lanes), len(res.Kernel.CPUs))
	}
	sum := func(shares []uint8) float64 {
		ns := 0.0
		for i, v := range shares {
			at := int64(i) * c.BinNs
			ns += float64(v) / 255 * float64(min(c.BinNs, res.Timeline.EndNs-res.Timeline.FromNs-at))
		}
		return ns
	}
	slack := float64(c.BinNs) * float64(c.Bins) / 255
	for i, l := range c.Lanes {
		use := res.Kernel.CPUs[i]
		for _, x := range []struct {
			name   string
			shares []uint8
			want   int64
		}{{"program", l.Program, use.ProgramNs}, {"others", l.Others, use.OthersNs}} {
			if got := sum(x.shares); math.Abs(got-float64(x.want)) > slack {
				t.Errorf("CPU %d: %s %.0f ns over time, %d in the account", l.CPU, x.name, got, x.want)
			}
		}
		if got := sum(l.Unknown); got < float64(use.UnknownNs)-slack { // the account has none before and after the records
			t.Errorf("CPU %d: %.0f ns not known over time, %d in the account", l.CPU, got, use.UnknownNs)
		}
	}
}

// checkOnCPU checks that a CPU has one occupant at a time.
func checkOnCPU(t *testing.T, c *timeline.CPUs, w *timeline.Window) {
	t.Helper()
	for i, x := range w.OnCPU {
		if x.From >= x.To || x.From < w.CPUsFromNs || x.To > w.ToNs || int(x.Process) >= len(c.Processes) {
			t.Fatalf("%+v in [%d, %d]", x, w.CPUsFromNs, w.ToNs)
		}
		if i > 0 && w.OnCPU[i-1].CPU == x.CPU && w.OnCPU[i-1].To > x.From {
			t.Fatalf("%+v, %+v", w.OnCPU[i-1], x)
		}
	}
}

// checkOffCPU checks that off the CPUs are only threads that run a goroutine, and are on none.
func checkOffCPU(t *testing.T, w *timeline.Window) {
	t.Helper()
	for i, x := range w.OffCPU {
		if i > 0 && w.OffCPU[i-1].P == x.P && w.OffCPU[i-1].To > x.From || x.From >= x.To || x.From < w.CPUsFromNs || x.To > w.ToNs {
			t.Fatalf("%+v", x)
		}
		var runs *timeline.PInterval
		for j := range w.Intervals {
			if s := &w.Intervals[j]; s.P == x.P && s.From <= x.From && x.To <= s.To {
				runs = s
			}
		}
		if runs == nil || runs.G <= 0 {
			t.Fatalf("%+v: P runs no goroutine", x)
		}
		for _, on := range w.OnCPU {
			if on.M == runs.M && min(on.To, x.To) > max(on.From, x.From) {
				t.Fatalf("%+v: but its thread has a CPU: %+v", x, on)
			}
		}
	}
}

// checkWhole checks, where all is kept, the account to the ns.
func checkWhole(t *testing.T, res *analyze.Result, w *timeline.Window) {
	t.Helper()
	program := map[int32]int64{}
	for _, x := range w.OnCPU {
		if x.Process == 0 {
			program[x.CPU] += x.To - x.From
		}
	}
	for _, c := range res.Kernel.CPUs {
		if program[c.CPU] != c.ProgramNs {
			t.Errorf("CPU %d: program %d ns, %d in the account", c.CPU, program[c.CPU], c.ProgramNs)
		}
	}
	off := map[string]int64{}
	for _, x := range w.OffCPU {
		off[x.Why] += x.To - x.From
	}
	o := &res.Kernel.Off
	want := kernel.OffBy{StoppedNs: off["stopped"], BlockedNs: off["blocked"], IdleNs: off["idle"], UnknownNs: off[""]}
	if o.StoppedNs != want.StoppedNs || o.BlockedNs != want.BlockedNs || o.IdleNs != want.IdleNs || o.UnknownNs != want.UnknownNs || o.OthersNs+o.OwnNs != off["turn"] {
		t.Errorf("off the CPUs %v, %+v in the account", off, *o)
	}
}

// TestKernelOverTimeOfWindow has what the whole has of a window.
func TestKernelOverTimeOfWindow(t *testing.T) {
	all, err := withKernel(t, "perf", "perf", analyze.Options{})
	if err != nil {
		t.Fatal(err)
	}
	from, to := all.Trace.DurationNs/3, all.Trace.DurationNs/2
	part, err := withKernel(t, "perf", "perf", analyze.Options{Focus: focus.Focus{From: from, To: to}})
	if err != nil {
		t.Fatal(err)
	}
	checkLanes(t, part)
	sum := func(res *analyze.Result) (on, off int64) {
		for i := range res.Timeline.Windows {
			for _, x := range res.Timeline.Windows[i].OnCPU {
				on += max(0, min(x.To, to)-max(x.From, from)) * int64(min(x.Process, 3)+1)
			}
			for _, x := range res.Timeline.Windows[i].OffCPU {
				off += max(0, min(x.To, to)-max(x.From, from))
			}
		}
		return on, off
	}
	on, off := sum(part)
	if wantOn, wantOff := sum(all); on != wantOn || off != wantOff || on == 0 {
		t.Errorf("on %d off %d, want %d and %d", on, off, wantOn, wantOff)
	}
}

// TestKernelOverTimeAnonymized has no name of a process.
func TestKernelOverTimeAnonymized(t *testing.T) {
	res, err := withKernel(t, "neighbour", "neighbour", analyze.Options{Anonymize: analyze.NewPseudonyms()})
	if err != nil {
		t.Fatal(err)
	}
	names := res.Timeline.CPUs.Processes[3:]
	if len(names) == 0 {
		t.Error("no others")
	}
	for _, s := range names {
		if !strings.HasPrefix(s, "process") {
			t.Errorf("%q", s)
		}
	}
	plain, err := withKernel(t, "neighbour", "neighbour", analyze.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if other, err := analyze.File(t.Context(), "../testdata/kernel/neighbour.trace.zst", analyze.Options{}); err != nil || other.Timeline.CPUs != nil || plain.Timeline.CPUs == nil {
		t.Error("CPUs without records, or none with them", err)
	}
}

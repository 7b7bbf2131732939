package analyze_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/focus"
	"github.com/gmpscope/gmpscope/analyze/kernel"
	"github.com/gmpscope/gmpscope/analyze/waits"
)

// recordings are those of testdata/kernel, and the kernel's side of each.
var recordings = map[string]string{
	"neighbour": "neighbour.ftrace.zst", "stopped": "stopped.ftrace.zst", "quota": "quota.ftrace.zst", "crowd": "crowd.ftrace.zst",
	"quiet": "quiet.ftrace.zst", "perf": "perf.script.zst", "perfclock": "perfclock.script.zst",
	"namespace": "namespace.ftrace.zst",
}

// withKernel analyses a recording with the kernel's side of another, or the same.
func withKernel(t *testing.T, name, records string, o analyze.Options) (*analyze.Result, error) {
	t.Helper()
	dir := filepath.Join("..", "testdata", "kernel")
	f, err := os.Open(filepath.Join(dir, recordings[records]))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	o.Kernel, err = kernel.New(f, recordings[records])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Kernel.Close)
	return analyze.File(t.Context(), filepath.Join(dir, name+".trace.zst"), o)
}

// TestKernelAgainstSchedstat holds the CPU time of the program's threads against what
// /proc/self/task/TID/schedstat said of them in the recording.
func TestKernelAgainstSchedstat(t *testing.T) {
	for name := range recordings {
		t.Run(name, func(t *testing.T) {
			res, err := withKernel(t, name, name, analyze.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := int64(0)
			for _, p := range res.Kernel.ByProcess {
				if p.Program || strings.HasPrefix(p.Name, "handlers") { // sysmon runs no goroutine
					got += p.CPUNs
				}
			}
			want := readTruth(t, filepath.Join("..", "testdata", "kernel", name+".truth"))
			if off := float64(got)/float64(want) - 1; off < -0.01 || off > 0.01 {
				t.Errorf("%d ns on CPUs, %d by schedstat: %.2f %%", got, want, 100*off)
			}
			holdsTogether(t, res)
		})
	}
}

// readTruth is the time on CPUs that the program has written down, ns.
func readTruth(t *testing.T, file string) (sum int64) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var tid, ns int64
		if _, err := fmt.Sscan(line, &tid, &ns); err != nil {
			t.Fatal(err)
		}
		sum += ns
	}
	return sum
}

// holdsTogether checks that the parts are the whole, to the ns.
func holdsTogether(t *testing.T, res *analyze.Result) {
	t.Helper()
	k := res.Kernel
	var classes, ps kernel.OnOff
	add := func(sum *kernel.OnOff, s *kernel.OnOff) {
		if s.OnCPUNs+s.OffCPUNs != s.RunningNs || s.OffCPUNs < 0 || s.OnCPUNs < s.UnknownNs || s.UnknownNs < 0 {
			t.Errorf("%+v does not add up", *s)
		}
		sum.RunningNs += s.RunningNs
		sum.OnCPUNs += s.OnCPUNs
		sum.OffCPUNs += s.OffCPUNs
		sum.UnknownNs += s.UnknownNs
	}
	for i := range k.Classes {
		add(&classes, &k.Classes[i].OnOff)
	}
	for i := range k.Ps {
		add(&ps, &k.Ps[i].OnOff)
	}
	if classes != k.OnOff {
		t.Errorf("all: %+v, classes: %+v", k.OnOff, classes)
	}
	var ran int64
	for i := range res.Procs.Ps {
		ran += res.Procs.Ps[i].RunningNs
	}
	if ps.RunningNs != ran {
		t.Errorf("Ps ran %d, %d by the kernel's account", ran, ps.RunningNs)
	}
	o := &k.Off
	if sum := o.OthersNs + o.OwnNs + o.IdleNs + o.StoppedNs + o.BlockedNs + o.UnknownNs; sum != k.OffCPUNs {
		t.Errorf("off the CPUs %d, by cause %d", k.OffCPUNs, sum)
	}
	instead := int64(0)
	for _, p := range k.ByProcess {
		if !p.Program {
			instead += p.InsteadNs
		}
	}
	if instead > o.OthersNs {
		t.Errorf("others had the CPU for %d, %d by name", o.OthersNs, instead)
	}
}

// TestKernelSplitsIdleP has the runtime's part and the kernel's sum to the causes that
// they split, in whole recordings and in windows.
func TestKernelSplitsIdleP(t *testing.T) {
	for name := range recordings {
		for _, f := range []focus.Focus{{}, {From: 50_000_000, To: 120_000_000}} {
			t.Run(fmt.Sprint(name, f.From), func(t *testing.T) {
				res, err := withKernel(t, name, name, analyze.Options{Focus: f})
				if err != nil {
					t.Fatal(err)
				}
				splitsIdleP(t, res)
			})
		}
	}
}

func splitsIdleP(t *testing.T, res *analyze.Result) {
	t.Helper()
	got := map[string]int64{}
	for _, w := range res.Kernel.IdleWaits {
		cause, _, _ := strings.Cut(string(w.Cause), "/")
		got[cause] += w.Ns
		if w.Ns < 0 {
			t.Errorf("%s: %d", w.Cause, w.Ns)
		}
	}
	for _, c := range res.Waits.User.Causes {
		if (c.Cause == waits.CausePWakingUp || c.Cause == waits.CauseIdlePAvailable) && got[string(c.Cause)] != c.Ns {
			t.Errorf("%s: %d, its parts %d", c.Cause, c.Ns, got[string(c.Cause)])
		}
	}
}

// TestKernelIsLateToWake has 8 Ps on two CPUs, where woken threads wait for a CPU, and a
// neighbour that runs on one of two.
func TestKernelIsLateToWake(t *testing.T) {
	for name, least := range map[string]float64{"crowd": 0.4, "perf": 0.99, "perfclock": 0.99} {
		res, err := withKernel(t, name, name, analyze.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ns := map[kernel.IdleCause]int64{}
		for _, w := range res.Kernel.IdleWaits {
			ns[w.Cause] = w.Ns
		}
		kernels, all := ns[kernel.CauseMissedKernel], ns[kernel.CauseMissedKernel]+ns[kernel.CauseMissedRuntime]
		if float64(kernels) < least*float64(all) {
			t.Errorf("%s: the kernel's %d of %d", name, kernels, all)
		}
	}
}

// TestKernelClock has records of perf's own clock: the shift is found.
func TestKernelClock(t *testing.T) {
	for name, want := range map[string]bool{"perf": false, "perfclock": true, "neighbour": false} {
		res, err := withKernel(t, name, name, analyze.Options{})
		if err != nil {
			t.Fatal(err)
		}
		k := res.Kernel
		if (k.ShiftNs != 0) != want || k.InsideShare < 0.99 || k.ErrorNs < k.ResolutionNs {
			t.Errorf("%s: shift %d ± %d ns, %.3f inside", name, k.ShiftNs, k.ErrorNs, k.InsideShare)
		}
	}
}

// TestKernelNamespace has a program in a PID namespace, where its threads have small numbers.
func TestKernelNamespace(t *testing.T) {
	res, err := withKernel(t, "namespace", "namespace", analyze.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if k := res.Kernel; k.Mapped < 2 || k.InsideShare < 0.99 || k.UnknownNs > k.RunningNs/100 {
		t.Errorf("%d mapped, %.3f inside, %d ns unknown", k.Mapped, k.InsideShare, k.UnknownNs)
	}
}

// TestKernelOfAnotherTrace refuses records of another time.
func TestKernelOfAnotherTrace(t *testing.T) {
	_, err := withKernel(t, "neighbour", "stopped", analyze.Options{})
	if !errors.Is(err, kernel.ErrOther) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
}

// TestKernelWindows has neighbouring windows add up to the whole.
func TestKernelWindows(t *testing.T) {
	whole, err := withKernel(t, "stopped", "stopped", analyze.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var sum kernel.OnOff
	var off kernel.OffBy
	const step = 170_000_000
	for from := int64(0); from < whole.Trace.DurationNs; from += step {
		res, err := withKernel(t, "stopped", "stopped", analyze.Options{Focus: focus.Focus{From: from, To: from + step}})
		if err != nil {
			t.Fatal(err)
		}
		k := res.Kernel
		sum.RunningNs += k.RunningNs
		sum.OnCPUNs += k.OnCPUNs
		sum.OffCPUNs += k.OffCPUNs
		sum.UnknownNs += k.UnknownNs
		off.StoppedNs += k.Off.StoppedNs
		off.OthersNs += k.Off.OthersNs
	}
	if w := whole.Kernel; sum != w.OnOff || off.StoppedNs != w.Off.StoppedNs || off.OthersNs != w.Off.OthersNs {
		t.Errorf("the windows: %+v %+v\nthe whole: %+v %+v", sum, off, w.OnOff, w.Off)
	}
}

// TestKernelCutOff has records that end in the midst of the trace: what they do not tell is
// counted, and said.
func TestKernelCutOff(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "testdata", "kernel", "neighbour.ftrace.zst"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	half := text[:bytes.LastIndexByte(text[:len(text)/2], '\n')+1]
	records, err := kernel.New(bytes.NewReader(half), "half")
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	res, err := analyze.File(t.Context(), filepath.Join("..", "testdata", "kernel", "neighbour.trace.zst"), analyze.Options{Kernel: records})
	if err != nil {
		t.Fatal(err)
	}
	if k := res.Kernel; 4*k.UnknownNs < k.RunningNs || !strings.Contains(strings.Join(res.Trace.Warnings, "\n"), "findings do without them") {
		t.Errorf("%+v, warnings %q", k.OnOff, res.Trace.Warnings)
	}
	for _, x := range res.Findings {
		if x.Kind == findings.KindMachine && x.Basis == findings.Certain {
			t.Errorf("%s is certain", x.ID)
		}
	}
}

// TestKernelAnonymized has no name of a process.
func TestKernelAnonymized(t *testing.T) {
	res, err := withKernel(t, "neighbour", "neighbour", analyze.Options{Anonymize: analyze.NewPseudonyms()})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range res.Kernel.ByProcess {
		if !strings.HasPrefix(p.Name, "process") {
			t.Errorf("%q", p.Name)
		}
	}
}

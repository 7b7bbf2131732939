//go:build linux

package analyze_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/kernel"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// TestKernelLive records the program of testdata/kernel and its kernel's side here, and
// holds the CPU time of its threads against what schedstat says of them.
func TestKernelLive(t *testing.T) {
	if !tracetest.Long() {
		t.Skip("records for half a second")
	}
	instance := tracefs(t)
	dir := t.TempDir()
	program, trace, truth := filepath.Join(dir, "handlers"), filepath.Join(dir, "trace"), filepath.Join(dir, "truth")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../testdata/kernel/program").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), program, trace, truth)
	cmd.Env = append(os.Environ(), "DURATION=500ms", "GOMAXPROCS=4")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	set(t, instance, "tracing_on", "0")
	text, err := os.ReadFile(filepath.Join(instance, "trace"))
	if err != nil {
		t.Fatal(err)
	}
	records, err := kernel.New(bytes.NewReader(text), "trace")
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	res, err := analyze.File(t.Context(), trace, analyze.Options{Kernel: records})
	if err != nil {
		t.Fatal(err)
	}
	holdsTogether(t, res)
	got, want := int64(0), readTruth(t, truth)
	for _, p := range res.Kernel.ByProcess {
		if p.Program || strings.HasPrefix(p.Name, "handlers") {
			got += p.CPUNs
		}
	}
	// The program reads schedstat a moment before and after the trace: 5 ms.
	if off := got - want; off < -want/100-5_000_000 || off > want/100 {
		t.Errorf("%d ns on CPUs, %d by schedstat", got, want)
	}
	t.Logf("%d ns on CPUs, %d by schedstat (%.2f %%); %+v", got, want, 100*(float64(got)/float64(want)-1), res.Kernel.OnOff)
}

// tracefs makes an instance that records the switches of all CPUs, or skips the test.
func tracefs(t *testing.T) string {
	const instances = "/sys/kernel/tracing/instances"
	dir := filepath.Join(instances, fmt.Sprintf("gmpscope-test-%d", os.Getpid()))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Skipf("no tracefs to record with: %v", err)
	}
	t.Cleanup(func() {
		if err := os.Remove(dir); err != nil {
			t.Error(err)
		}
	})
	set(t, dir, "trace_clock", "mono")
	set(t, dir, "buffer_size_kb", "8192")
	for _, event := range []string{"sched_switch", "sched_waking", "sched_wakeup"} {
		set(t, dir, "events/sched/"+event+"/enable", "1")
	}
	return dir
}

func set(t *testing.T, instance, name, value string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(instance, name), []byte(value), 0); err != nil {
		t.Fatal(err)
	}
}

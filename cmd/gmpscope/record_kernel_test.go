//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/gmpscope/gmpscope/cmd/gmpscope/internal/ftrace"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// sizes are what is said of the sizes of files.
var sizes = regexp.MustCompile(`: \d+ bytes`)

// needsFtrace skips a test where the kernel's scheduler may not be recorded.
func needsFtrace(t *testing.T) {
	t.Helper()
	r, err := ftrace.Start(io.Discard, ftrace.Options{})
	if err != nil {
		t.Skip(err)
	}
	if _, err := r.Stop(); err != nil {
		t.Fatal(err)
	}
}

// instancesOf returns the instances of a process.
func instancesOf(t *testing.T, pid int) []string {
	t.Helper()
	dirs, err := filepath.Glob(fmt.Sprintf("/sys/kernel/*/instances/gmpscope-%d", pid))
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

// checkKernelRecords wants the file to begin as ftrace text does, to hold a switch away
// from a thread with a name that the regular expression comm matches, and to end in a
// whole line.
func checkKernelRecords(t *testing.T, file, comm string) {
	t.Helper()
	f, err := os.Open(file)
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
	if !bytes.HasPrefix(text, []byte("# tracer: nop\n")) || !regexp.MustCompile("sched_switch: prev_comm="+comm+" ").Match(text) || !bytes.HasSuffix(text, []byte("\n")) {
		t.Errorf("%s has %d bytes: %.2000s", file, len(text), text)
	}
}

// TestRecordKernel records programs together with the kernel's scheduler.
func TestRecordKernel(t *testing.T) {
	needsFtrace(t)
	trace := tracetest.Recorded(t, "steal-small-go1.26-p2")
	t.Chdir(t.TempDir())
	if err := os.WriteFile("small.trace", trace, 0o600); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/trace" {
			http.NotFound(w, r)
			return
		}
		w.Write(trace)
	}))
	defer srv.Close()
	self := fmt.Sprint(os.Getpid())
	for _, c := range []struct {
		args           []string
		code           int
		stdout, stderr string
		comm           string // of a thread that has a CPU meanwhile, a regular expression; "" if no records are kept
	}{
		{[]string{"--", "cp", "small.trace"}, exitFailure, "k.zst: N bytes\n", "gmpscope: recording: cp failed (exit status 1) and wrote no trace: see what it printed\n", "cp"},
		{[]string{"--", "sh", "-c", `cp small.trace "$GMPSCOPE_TRACE"`}, exitOK, "x.trace: N bytes\nk.zst: N bytes\n", "", "cp"},
		{[]string{"--", "sh", "-c", `cp small.trace "$GMPSCOPE_TRACE"; exit 4`}, exitFailure, "k.zst: N bytes\n", "gmpscope: recording: sh failed (exit status 4); the trace is x.trace\n", "cp"},
		{[]string{"--max-size=10kB", "--", "sh", "-c", `cp small.trace "$GMPSCOPE_TRACE"; sleep 1`}, exitOK, "x.trace: N bytes\nk.zst: N bytes\n", "gmpscope: warning: k.zst ends at --max-size 10000B: what the kernel's scheduler did later is not in it\n", ".*"},
		{[]string{"--pid", self, srv.URL + "/trace"}, exitOK, "x.trace: N bytes\nk.zst: N bytes\n", "", regexp.QuoteMeta(comm(t))},
		{[]string{"--pid", self, srv.URL + "/elsewhere"}, exitFailure, "", "", ""},
		{[]string{"--pid", "1073741824", srv.URL + "/trace"}, exitUsage, "", "gmpscope: --pid 1073741824: there is no such process\n", ""},
		{[]string{"--", "./missing"}, exitFailure, "", "", ""},
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), append([]string{"record", "-q", "-o", "x.trace", "--kernel-output", "k.zst"}, c.args...), nil, &stdout, &stderr)
		if got := sizes.ReplaceAllString(stdout.String(), ": N bytes"); code != c.code || got != c.stdout || !strings.Contains(stderr.String(), c.stderr) {
			t.Errorf("%q: code %d, stdout %q, stderr %q; want %d, %q, %q", c.args, code, got, stderr.String(), c.code, c.stdout, c.stderr)
		}
		if c.comm != "" {
			checkKernelRecords(t, "k.zst", c.comm)
		}
		os.Remove("k.zst")
		os.Remove("x.trace")
		if left, err := os.ReadDir("."); err != nil || len(left) != 1 {
			t.Errorf("%q: left behind: %v, %v", c.args, left, err)
		}
		if left := instancesOf(t, os.Getpid()); len(left) > 0 {
			t.Fatalf("%q: left behind: %q", c.args, left)
		}
	}
}

// comm is the name of this process.
func comm(t *testing.T) string {
	t.Helper()
	name, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(name))
}

// TestInterruptRecordKernel ends recordings by signals: after one, both files are kept;
// after two, or when it is killed, neither. The instance is gone, if it is killed when
// the next recording begins.
func TestInterruptRecordKernel(t *testing.T) {
	needsFtrace(t)
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	const (
		obeys   = `echo trace >"$GMPSCOPE_TRACE"; echo $$ >pid; exec sleep 1000`
		ignores = `trap '' INT; echo trace >"$GMPSCOPE_TRACE"; echo $$ >pid; while :; do sleep 1; done`
	)
	for _, c := range []struct {
		script  string
		signals []os.Signal
		kept    bool
		stays   bool // the instance
	}{
		{obeys, []os.Signal{os.Interrupt}, true, false},
		{obeys, []os.Signal{syscall.SIGTERM}, true, false},
		{ignores, []os.Signal{os.Interrupt, syscall.SIGTERM}, false, false},
		{obeys, []os.Signal{syscall.SIGKILL}, false, true},
	} {
		dir := t.TempDir()
		cmd, stdout, stderr := process(t, dir, "record", "-o", "x.trace", "--kernel-output", "k.zst", "--", sh, "-c", c.script)
		cmd.WaitDelay = time.Second // what it leaves running has its output open
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		dog := time.AfterFunc(watchdog, func() { cmd.Process.Kill() })
		child := written(t, filepath.Join(dir, "pid"))
		if n := len(instancesOf(t, cmd.Process.Pid)); n == 0 {
			t.Error("there is no instance while it records")
		}
		for _, s := range c.signals {
			if err := cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond) // two at once could be taken in the other order
		}
		cmd.Wait()
		dog.Stop()
		if !c.kept {
			syscall.Kill(-child, syscall.SIGKILL) // nobody else does
		}
		if left := instancesOf(t, cmd.Process.Pid); len(left) > 0 != c.stays {
			t.Errorf("%v: instances %q; stderr %q", c.signals, left, stderr)
		}
		if c.kept {
			if cmd.ProcessState.ExitCode() != exitFailure || !strings.HasPrefix(stdout.String(), "k.zst: ") || !strings.HasSuffix(stderr.String(), "gmpscope: interrupted\n") {
				t.Errorf("%v: %v, stdout %q, stderr %q", c.signals, cmd.ProcessState, stdout, stderr)
			}
			checkKernelRecords(t, filepath.Join(dir, "k.zst"), "(sh|sleep)")
		}
		for _, name := range []string{"x.trace", "k.zst"} {
			if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != c.kept {
				t.Errorf("%v: %s: %v", c.signals, name, err)
			}
		}
		if !c.stays {
			continue
		}
		needsFtrace(t) // a recording begins
		if left := instancesOf(t, cmd.Process.Pid); len(left) > 0 {
			t.Errorf("of a killed program: %q", left)
		}
	}
}

package gotest

import (
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

// ran is what Exec keeps of a test binary.
type ran struct {
	Package string   `json:"package"`
	Trace   string   `json:"trace"`
	Samples []sample `json:"samples"` // in the order of their times
	Every   int64    `json:"every"`   // ns between two of them, if the machine is not late
	CPUs    int      `json:"cpus"`    // that the process may use; 0 if that is not known
}

// sample is what the kernel has counted of a process, and of those that it started, since the sample before.
type sample struct {
	At        int64   `json:"at"`                  // ns since 1970
	CPU       int64   `json:"cpu"`                 // ns on a CPU, of all threads
	Child     int64   `json:"child,omitempty"`     // ns for which threads of processes that it started had or wanted a CPU
	Delays    []int64 `json:"delays,omitempty"`    // ns for which a thread could have run and had no CPU, of each that had to wait
	Throttled int64   `json:"throttled,omitempty"` // time throttled by the CPU quota, ns
	Stopped   bool    `json:"stopped,omitempty"`   // by a signal
}

// Exec runs a test binary with its arguments, as go test -exec asks, and returns the exit code; or the
// signal that ended the binary. It writes its trace into the folder traces, and the kernel's counts into
// counts.
func Exec(counts, traces string, args []string, stdin io.Reader, stdout, stderr io.Writer) (code int, by os.Signal, err error) {
	r := ran{Package: packageOf(args[0])}
	f, err := os.CreateTemp(traces, strings.NewReplacer("/", "_", "*", "_", "\\", "_").Replace(r.Package)+"-*.trace")
	if err != nil {
		return 0, nil, fmt.Errorf("creating the trace of %s: %w", filepath.Base(args[0]), err)
	}
	f.Close()
	cmd := exec.Command(args[0], append([]string{"-test.trace=" + f.Name()}, args[1:]...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	r.Trace = f.Name()
	// go test ends a binary by SIGQUIT, and a terminal interrupts it by itself.
	passed := make(chan os.Signal, 1)
	signal.Notify(passed, syscall.SIGQUIT)
	defer signal.Stop(passed)
	if err := cmd.Start(); err != nil {
		return 0, nil, fmt.Errorf("running the tests: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	go func() {
		for sig := range passed {
			cmd.Process.Signal(sig)
		}
	}()
	s := newSampler(cmd.Process.Pid)
	r.CPUs = s.process.CPUs
	err = s.until(ended)
	r.Samples, r.Every = s.samples, int64(s.every)
	text, _ := json.Marshal(r) // numbers and texts
	if err := os.WriteFile(filepath.Join(counts, filepath.Base(f.Name())+".json"), text, 0o600); err != nil {
		fmt.Fprintf(stderr, "gmpscope: what the kernel counted is not known: %v\n", err)
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return 0, status.Signal(), nil
		}
		return exit.ExitCode(), nil, nil
	}
	return 0, nil, err
}

// packageOf returns the import path of the package that a test binary tests.
func packageOf(file string) string {
	if info, err := buildinfo.ReadFile(file); err == nil && info.Path != "" {
		return strings.TrimSuffix(info.Path, ".test")
	}
	return ""
}

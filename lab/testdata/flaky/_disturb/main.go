// disturb runs a command (go test ... or a replacement) and, while a Go test
// binary below it is alive, takes CPU away from it: by busy loops in this
// process (-burn N) or by SIGSTOP/SIGCONT (-stop D -run D), like a cgroup
// quota would. It kills, by pid, whatever the command leaves behind.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const prSetChildSubreaper = 36

var active atomic.Bool

// descendants of pid through /proc/PID/task/TID/children.
func descendants(pid int, out []int) []int {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, f := range files {
		b, _ := os.ReadFile(f)
		for _, s := range strings.Fields(string(b)) {
			if c, err := strconv.Atoi(s); err == nil {
				out = append(out, c)
				out = descendants(c, out)
			}
		}
	}
	return out
}

// isTest: a binary started with -test.* flags is a Go test binary.
func isTest(pid int) bool {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return bytes.Contains(b, []byte("\x00-test."))
}

func tests() (p []int) {
	for _, d := range descendants(os.Getpid(), nil) {
		if isTest(d) {
			p = append(p, d)
		}
	}
	return p
}

func burn() {
	x := 1.0
	for {
		for !active.Load() {
			time.Sleep(2 * time.Millisecond)
		}
		for i := 0; i < 1e6; i++ {
			x = x*1.0000001 + 1e-9
		}
		if x > 1e300 {
			x = 1
		}
	}
}

func main() {
	n := flag.Int("burn", 0, "busy threads beside the test")
	stop := flag.Duration("stop", 0, "how long the test is stopped each time")
	run := flag.Duration("run", 40*time.Millisecond, "mean time the test runs between stops")
	limit := flag.Duration("limit", 120*time.Second, "give up after")
	flag.Parse()
	syscall.Syscall6(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0, 0, 0, 0)

	cmd := exec.Command(flag.Arg(0), flag.Args()[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "disturb:", err)
		os.Exit(125)
	}
	runtime.GOMAXPROCS(*n + 2)
	for i := 0; i < *n; i++ {
		go burn()
	}
	quit := make(chan struct{})
	over := make(chan struct{})
	go func() {
		defer close(over)
		for {
			select {
			case <-quit:
				return
			default:
			}
			ts := tests()
			active.Store(len(ts) > 0)
			if len(ts) == 0 || *stop == 0 {
				time.Sleep(4 * time.Millisecond)
				continue
			}
			time.Sleep(time.Duration(float64(*run) * (0.5 + rand.Float64())))
			for _, p := range ts {
				syscall.Kill(p, syscall.SIGSTOP)
			}
			time.Sleep(*stop)
			for _, p := range ts {
				syscall.Kill(p, syscall.SIGCONT)
			}
		}
	}()

	sig := make(chan os.Signal, 1)
	signal.Notify(sig, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	code := 0
	select {
	case err := <-done:
		if err != nil {
			code = 1
			if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() >= 0 {
				code = cmd.ProcessState.ExitCode()
			}
		}
	case <-time.After(*limit):
		fmt.Fprintln(os.Stderr, "disturb: time limit, killing")
		code = 124
	case s := <-sig:
		code = 128 + int(s.(syscall.Signal))
	}
	active.Store(false)
	close(quit)
	<-over
	// Orphans come to us (subreaper): no descendant escapes.
	for i := 0; i < 50; i++ {
		left := 0
		for _, p := range descendants(os.Getpid(), nil) {
			if b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p)); !bytes.Contains(b, []byte(") Z ")) {
				syscall.Kill(p, syscall.SIGKILL)
				left++
			}
		}
		if left == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	os.Exit(code)
}

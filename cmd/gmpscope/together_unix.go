//go:build unix

package main

import (
	"os/exec"
	"syscall"

	"github.com/gmpscope/gmpscope/internal/term"
)

// together makes the end of cmd's context interrupt cmd with all that it started:
// go test passes no signal on, and a test that outlives it goes on writing. What
// is left after that is killed by reap, which is called when cmd has ended.
//
// A terminal interrupts everything on its own, and keeps a group of processes
// that is not its own from reading: there, cmd stays in ours.
func together(cmd *exec.Cmd) (reap func()) {
	cmd.WaitDelay = graceTime
	if term.Is(cmd.Stdin) {
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
		return func() {}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	return func() {
		if cmd.Process != nil {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // mostly nothing is left
		}
	}
}

// Package usage answers: what did a program take?
package usage

import (
	"bytes"
	"os/exec"
	"strings"
	"time"
)

// Usage is what a run took.
type Usage struct {
	Exit      int // -1: it was not started, or a signal ended it
	CPU, Wall time.Duration
	Memory    int64  // peak, bytes
	Said      string // the last line on standard error
}

// Run runs a command, whose standard error it takes.
func Run(cmd *exec.Cmd) Usage {
	var said bytes.Buffer
	cmd.Stderr = &said
	start := time.Now()
	err := cmd.Run()
	u := Usage{Exit: -1, Wall: time.Since(start)}
	s := cmd.ProcessState
	if s == nil {
		u.Said = err.Error()
		return u
	}
	lines := strings.Split(strings.TrimSpace(said.String()), "\n")
	u.Exit, u.CPU, u.Memory, u.Said = s.ExitCode(), s.UserTime()+s.SystemTime(), peak(s), lines[len(lines)-1]
	return u
}

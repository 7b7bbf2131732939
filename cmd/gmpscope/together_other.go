//go:build !unix

package main

import "os/exec"

// together is for systems where processes form no groups: the end of cmd's
// context kills it.
func together(cmd *exec.Cmd) (reap func()) {
	cmd.WaitDelay = graceTime
	return func() {}
}

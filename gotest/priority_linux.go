package gotest

import "syscall"

// raisePriority has the thread run before others, if it may.
func raisePriority() { _ = syscall.Setpriority(syscall.PRIO_PROCESS, syscall.Gettid(), -10) }

package main

import (
	"os"
	"syscall"
)

// peakMemory returns the most resident memory that a process had, in bytes.
func peakMemory(s *os.ProcessState) int64 {
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss << 10
	}
	return 0
}

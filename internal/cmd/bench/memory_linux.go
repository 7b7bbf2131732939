package main

import (
	"os"
	"syscall"
)

// peakMemory returns the most resident memory that a process had, in bytes.
func peakMemory(s *os.ProcessState) int64 {
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		return int64(u.Maxrss) << 10 // an int32 on 32 bits
	}
	return 0
}

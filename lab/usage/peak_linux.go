package usage

import (
	"os"
	"syscall"
)

// peak returns the most resident memory that a process had, in bytes; 0 where that is not known. It is at least what the
// process had that started it, which must stay small for that.
func peak(s *os.ProcessState) int64 {
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		return int64(u.Maxrss) << 10 // an int32 on 32 bits
	}
	return 0
}

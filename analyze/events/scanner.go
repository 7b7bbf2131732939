package events

import "github.com/gmpscope/gmpscope/analyze/wire"

// Statuses of goroutines, and what they are called here. 0 is none.
var goStatuses = [...]State{1: Runnable, 2: Running, 3: Syscall, 4: Waiting}

// Statuses of processors.
const (
	procRunning   = 1
	procIdle      = 2
	procSyscall   = 3
	procAbandoned = 4 // in a system call, of a thread that is not known
)

// procStatuses are the states that the public reader makes of them.
var procStatuses = [...]State{procRunning: Running, procIdle: Idle, procSyscall: Running, procAbandoned: Idle}

// scanner reads the parts of a batch that come in sequence. After the end, or
// what is no number, it is bad and gives zeros.
type scanner struct {
	p   []byte
	at  int
	bad bool
}

func (s *scanner) done() bool { return s.bad || s.at == len(s.p) }

func (s *scanner) byte() byte {
	if s.at >= len(s.p) {
		s.bad = true
		return 0
	}
	s.at++
	return s.p[s.at-1]
}

func (s *scanner) number() uint64 {
	if s.at < len(s.p) && s.p[s.at] < 0x80 {
		s.at++
		return uint64(s.p[s.at-1])
	}
	x, n := wire.Uvarint(s.p[s.at:])
	if n <= 0 {
		s.bad = true
		return 0
	}
	s.at += n
	return x
}

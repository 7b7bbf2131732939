package events

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
	x, at := longNumber(s.p, s.at)
	if at < 0 {
		s.bad = true
		return 0
	}
	s.at = at
	return x
}

// longNumber reads a varint of at most 64 bits, minimal or not. It returns where
// it ends, or -1.
func longNumber(p []byte, at int) (uint64, int) {
	var x uint64
	for shift := 0; shift < 70 && at < len(p); shift += 7 {
		b := p[at]
		at++
		if shift == 63 && b > 1 {
			return 0, -1
		}
		x |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return x, at
		}
	}
	return 0, -1
}

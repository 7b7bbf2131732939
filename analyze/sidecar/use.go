package sidecar

import (
	"path/filepath"
	"strings"
	"time"
)

// tickNs is the unit of CPU time in /proc: USER_HZ is 100 on all architectures of Go.
const tickNs = int64(10 * time.Millisecond)

// CPUTime returns the CPU time so far, in ns, of all processes, and of the process with an ID, or
// "self", and its ended children, by the files below root, normally /. Unknown times are 0.
func CPUTime(root, pid string) Use {
	u := Use{Ns: time.Now().UnixNano()}
	each(filepath.Join(root, "proc", "stat"), func(line string) {
		if f := strings.Fields(line); len(f) > 8 && f[0] == "cpu" {
			for _, i := range []int{1, 2, 3, 6, 7} { // user, nice, system, irq, softirq
				u.BusyNs += number(f[i]) * tickNs
			}
		}
	})
	// The second field is a name in brackets, which may hold spaces.
	text := first(filepath.Join(root, "proc", pid, "stat"))
	if f := strings.Fields(text[strings.LastIndexByte(text, ')')+1:]); len(f) > 14 {
		for i := 11; i < 15; i++ { // utime, stime, cutime, cstime
			u.OwnNs += number(f[i]) * tickNs
		}
	}
	return u
}

// Since returns the use between an earlier Use and u; nil if unknown.
func (u Use) Since(before Use) *Use {
	d := Use{u.Ns - before.Ns, u.BusyNs - before.BusyNs, u.OwnNs - before.OwnNs}
	if d.Ns <= 0 || d.BusyNs <= 0 || d.OwnNs < 0 {
		return nil
	}
	d.BusyNs = max(d.BusyNs, d.OwnNs) // they are counted one after the other
	return &d
}

// Others returns the mean number of CPUs that other processes used.
func (u *Use) Others() float64 { return float64(u.BusyNs-u.OwnNs) / float64(u.Ns) }

package findings

import "github.com/gmpscope/gmpscope/reference"

// strain reports whether threads seem to have lacked CPUs: a P whose thread the
// operating system does not run looks just so.
type strain struct {
	freakNs, busyNs int64
}

const (
	freakNs    = 1_000_000
	freakTimes = 20 // the median of its class
	freakOneIn = 50 // of the run intervals of its class
)

// pause processes a time in which a P had a thread and work, and yet ran nothing.
func (s *strain) pause(ns int64) {
	if ns >= freakNs {
		s.freakNs += ns
		s.busyNs += ns
	}
}

// interval processes a run interval of a class, before that knows it.
func (s *strain) interval(c *Class, ns int64, why reference.Why) {
	s.busyNs += ns
	if ns >= freakNs && why != reference.WhySlice && c.Runs >= usual && ns >= freakTimes*c.Median() && freakOneIn*c.Over(freakNs) <= c.Runs {
		s.freakNs += ns
	}
}

// Strained reports whether threads seem to have lacked CPUs so far: more than a tenth of the busy
// time, and at least 2 ms, lies in run intervals that are outliers of their class (1 ms and more, 20
// times its median, at most one in 50 that long, and not ended by a preemption), or in pauses of
// 1 ms and more of Ps that had a thread and work.
func (s *strain) Strained() bool {
	return s.freakNs >= 2*freakNs && float64(s.freakNs) > 0.1*float64(s.busyNs)
}

package sim

import "github.com/gmpscope/gmpscope/reference"

// sysmon is the thread without a P that watches over the others.
type sysmon struct {
	gen   uint32
	delay int64
	quiet int  // passes in a row without a retake
	deep  bool // sleeps until there is something to watch
	wakes waitq
}

// forcedGC bounds sysmon's deep sleep: half of forcegcperiod.
const forcedGC = 60_000_000_000

func (s *machine) sysmonStart() {
	s.sysmon.delay = s.r.SysmonMin
	s.sysmonSleep(s.sysmon.delay + s.c.Slack)
}

func (s *machine) sysmonSleep(d int64) {
	s.sysmon.gen++
	s.push(s.now+d, evSysmon, 0, s.sysmon.gen)
}

// sysmonKick ends sysmon's deep sleep (sysmonnote: reentersyscall, exitsyscall,
// startTheWorldWithSema).
func (s *machine) sysmonKick() {
	if s.sysmon.deep {
		s.sysmon.deep = false
		s.sysmon.quiet, s.sysmon.delay = 0, s.r.SysmonMin
		s.sysmonSleep(s.threadWake())
	}
}

// sysmonWake is one pass (sysmon, Go 1.22 to 1.27).
func (s *machine) sysmonWake() {
	y := &s.sysmon
	for g := s.dequeue(&y.wakes); g != noG; g = s.dequeue(&y.wakes) {
		s.inject(s.batchOf(g), none, none, whySystem)
	}
	if !y.deep && (s.stw.waiting || len(s.idleP) == len(s.ps)) {
		next := s.firstTimer()
		if next == 0 || next > s.now {
			y.deep = true
			d := int64(forcedGC)
			if next != 0 {
				d = min(d, next-s.now)
			}
			s.sysmonSleep(d)
			return
		}
	}
	y.deep = false
	if s.nready > 0 && s.poller == none && s.lastPoll+s.r.PollPeriod < s.now {
		s.lastPoll = s.now
		s.inject(s.poll(), none, none, reference.WhyNetwork)
	}
	if s.retake() {
		y.quiet = 0
	} else {
		y.quiet++
	}
	if y.quiet == 0 {
		y.delay = s.r.SysmonMin
	} else if y.quiet > s.r.SysmonPasses {
		y.delay *= 2
	}
	y.delay = min(y.delay, s.r.SysmonMax)
	s.sysmonSleep(y.delay + s.c.Slack)
}

// retake asks goroutines to yield whose slice is over, and takes Ps out of
// system calls; it says whether it took any (retake, Go 1.22 to 1.27).
func (s *machine) retake() bool {
	took, signals := false, int64(0)
	s.search(len(s.ps))
	for i := range s.ps {
		p := &s.ps[i]
		if p.status != pRunning && p.status != pSyscall {
			continue
		}
		late := false
		if p.seen.tick != p.tick {
			p.seen.tick, p.seen.when = p.tick, s.now
		} else if p.seen.when+s.r.Slice <= s.now {
			if s.pol.Preempt == PreemptSysmon {
				signals = s.ask(int32(i), signals)
			}
			late = true
		}
		if p.status != pSyscall || s.pol.Handoff != HandoffRetake {
			continue
		}
		if !late && p.seen.calls != p.calls {
			p.seen.calls, p.seen.callsAt = p.calls, s.now
			continue
		}
		if s.q.Len(int32(i)) == 0 && s.spinners+len(s.idleP) > 0 && p.seen.callsAt+s.r.SyscallGrace > s.now {
			continue
		}
		s.takeFromCall(int32(i), reference.WhyRetakeSlow)
		p.released = reference.WhyRetakeSlow
		s.handoff(int32(i))
		took = true
	}
	return took
}

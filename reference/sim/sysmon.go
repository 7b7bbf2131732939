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

func (sm *sysmon) start(s *scheduler) {
	sm.delay = s.r.SysmonMin
	sm.sleep(s, sm.delay+s.c.Slack)
}

func (sm *sysmon) sleep(s *scheduler, d int64) {
	sm.gen++
	s.push(s.now+d, evSysmon, 0, sm.gen)
}

// kick ends sysmon's deep sleep (sysmonnote: reentersyscall, exitsyscall,
// startTheWorldWithSema).
func (sm *sysmon) kick(s *scheduler) {
	if sm.deep {
		sm.deep = false
		sm.quiet, sm.delay = 0, s.r.SysmonMin
		sm.sleep(s, s.c.threadWake(s.now))
	}
}

// pass is one pass (sysmon, Go 1.22 to 1.27).
func (sm *sysmon) pass(s *scheduler) {
	for g := s.dequeue(&sm.wakes); g != noG; g = s.dequeue(&sm.wakes) {
		injectglist(s, s.batchOf(g), none, none, reference.WhySystem)
	}
	if !sm.deep && (s.stw.waiting || len(s.idleP) == len(s.ps)) {
		next := firstTimer(s)
		if next == 0 || next > s.now {
			sm.deep = true
			d := int64(forcedGC)
			if next != 0 {
				d = min(d, next-s.now)
			}
			sm.sleep(s, d)
			return
		}
	}
	sm.deep = false
	if s.net.nready > 0 && s.net.poller == none && s.net.lastPoll+s.r.PollPeriod < s.now {
		s.net.lastPoll = s.now
		injectglist(s, s.net.poll(s), none, none, reference.WhyNetwork)
	}
	if sm.retake(s) {
		sm.quiet, sm.delay = 0, s.r.SysmonMin
	} else if sm.quiet++; sm.quiet > s.r.SysmonPasses {
		sm.delay *= 2
	}
	sm.delay = min(sm.delay, s.r.SysmonMax)
	sm.sleep(s, sm.delay+s.c.Slack)
}

// retake asks goroutines to yield whose slice is over, and takes Ps out of
// system calls; it reports whether it took any (retake, Go 1.22 to 1.27).
func (sm *sysmon) retake(s *scheduler) bool {
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
				signals = preemptone(s, int32(i), signals)
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
		retakeP(s, int32(i), reference.WhyRetakeSlow)
		p.released = reference.WhyRetakeSlow
		handoffp(s, int32(i))
		took = true
	}
	return took
}

package sim

import "github.com/gmpscope/gmpscope/reference"

// order is a way around all Ps: from pos in steps of inc, which has no divisor
// in common with their number (randomOrder, stealOrder).
type order struct{ pos, inc, left uint32 }

func coprimes(n uint32) []uint32 {
	var list []uint32
	for i := uint32(1); i <= n; i++ {
		a, b := i, n
		for b != 0 {
			a, b = b, a%b
		}
		if a == 1 {
			list = append(list, i)
		}
	}
	return list
}

func newOrder(s *scheduler) order {
	n, r := uint32(len(s.ps)), uint32(s.c.rnd.Uint64()>>32)
	return order{pos: r % n, inc: s.coprimes[r/n%uint32(len(s.coprimes))], left: n}
}

// visit returns the next P on the way, or none.
func (o *order) visit(n uint32) int32 {
	if o.left == 0 {
		return none
	}
	o.left--
	p := o.pos
	o.pos = (o.pos + o.inc) % n
	return int32(p)
}

// beginPass begins one of the passes over the other Ps; what it finds shows at
// its end.
func beginPass(s *scheduler, m int32) {
	s.ms[m].order = newOrder(s)
	after(s, m, max(1, s.c.Look*int64(len(s.ps)-1)), stSteal)
}

// stealWork is one pass: rings only, but in the last one timers and runnext too
// (stealWork, Go 1.22 to 1.27).
func stealWork(s *scheduler, m int32) {
	t := s.ms[m]
	p := t.p
	last := int(t.pass) >= s.r.StealTries-1
	for {
		if s.stw.waiting {
			findRunnable(s, m)
			return
		}
		v := t.order.visit(uint32(len(s.ps)))
		if v == none {
			break
		}
		if v == p {
			continue
		}
		if last {
			if n := checkTimers(s, v, m); n > 0 && len(s.c.Timers) > 0 {
				after(s, m, n*s.c.draw(s.now, s.c.Timers, 0), stOwn)
				return
			}
			if s.q.Len(p) > 0 {
				findLocal(s, m)
				return
			}
		}
		if s.pol.Steal == StealNone || s.ps[v].status == pIdle {
			continue
		}
		if runqsteal(s, m, v) {
			return
		}
		if g := s.q.Runnext(v); last && g != reference.None {
			t.victim, t.prey = v, g
			if s.ps[v].status == pRunning {
				// It sleeps, so that the victim's thread may take it itself.
				after(s, m, s.r.StealBackoff+s.c.Slack, stBackoff)
			} else {
				stealRunnext(s, m)
			}
			return
		}
	}
	if !last {
		t.pass++
		beginPass(s, m)
		return
	}
	t.looked = true
	stopSearch(s, m)
}

// runqsteal steals from a ring: of what it takes the newest runs, the others
// become the thief's ring (runqgrab, runqsteal).
func runqsteal(s *scheduler, m, v int32) bool {
	n := s.q.RingLen(v)
	if n == 0 {
		return false
	}
	k := s.r.StealBatch(n)
	if s.pol.Steal == StealOne {
		k = 1
	}
	p := s.ms[m].p
	g := s.q.Head(v)
	for i := 1; i < k; i++ {
		g = s.q.Next(g)
	}
	s.emitBatch(reference.KindSteal, g, p, v, k)
	s.q.Steal(p, v, g, func(x int32) { s.emitMove(x, p, v, reference.QueueLocal, reference.WhySteal) })
	s.res.Steals++
	s.res.Stolen += int64(k)
	execute(s, m, g, take{src: reference.SrcSteal, victim: v, batch: int32(k)})
	return true
}

// stealRunnext steals a runnext, if it is still the one that the thief saw, and
// else looks at that victim again (runqgrab).
func stealRunnext(s *scheduler, m int32) {
	t := s.ms[m]
	v := t.victim
	if s.stw.waiting {
		findRunnable(s, m)
		return
	}
	g := s.q.Runnext(v)
	switch {
	case g == t.prey:
		s.emitBatch(reference.KindSteal, g, t.p, v, 1)
		s.q.Remove(g)
		s.res.Steals++
		s.res.Stolen++
		execute(s, m, g, take{src: reference.SrcStealRunnext, victim: v, batch: 1})
	case runqsteal(s, m, v):
	case g != reference.None && s.ps[v].status == pRunning:
		t.prey = g
		after(s, m, s.r.StealBackoff+s.c.Slack, stBackoff)
	case g != reference.None:
		t.prey = g
		stealRunnext(s, m)
	default:
		stealWork(s, m) // goes on with the next victim
	}
}

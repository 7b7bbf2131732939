package sim

import (
	"slices"

	"github.com/gmpscope/gmpscope/reference"
)

// sleep adds a timer to p's heap. Somebody must wake up for it if it is the
// first (time.go: timers.addHeap, wakeNetPoller).
func (s *machine) sleep(g, p int32, ns int64) {
	x := &s.ps[p]
	s.seq++
	when := max(s.now+ns, 1)
	x.timers.push(event{at: when, seq: s.seq, id: g})
	if x.timers[0].id == g {
		s.wakePoller(when)
	}
}

// fire runs the due timers of P of, on thread m with P p: whom they wake is
// queued there (time.go: timers.check). It returns their number.
func (s *machine) fire(of, p, m int32) (n int64) {
	h := &s.ps[of].timers
	for ; len(*h) > 0 && (*h)[0].at <= s.now; n++ {
		s.wakeUp(h.pop().id, m, noG, true, reference.WhyTimer)
	}
	return n
}

// firstTimer returns when the earliest timer of all is due, or 0.
func (s *machine) firstTimer() int64 {
	s.search(len(s.ps))
	first := int64(0)
	for i := range s.ps {
		if t := s.ps[i].timers.first(); t != 0 && (first == 0 || t < first) {
			first = t
		}
	}
	return first
}

// netReady has the network answer a goroutine: it becomes runnable when a
// thread polls.
func (s *machine) netReady(g int32) {
	if s.resume(g, noG, reference.WhyNetwork) {
		return
	}
	s.enqueue(&s.ready, g)
	s.nready++
	s.breakPoll()
}

// A packet is under way through the network.
type packet struct {
	to *Chan // nil: a free place
	by int32 // thread that sent it
}

// transmit has what is sent on a channel of the network arrive in ns.
func (s *machine) transmit(c *Chan, ns int64) {
	s.search(len(s.sent))
	i := slices.Index(s.sent, packet{})
	if i < 0 {
		i = len(s.sent)
		s.sent = append(s.sent, packet{})
	}
	s.sent[i] = packet{c, s.on}
	s.push(s.now+max(0, ns), evSent, int32(i), 0)
}

// transmitted has one arrive.
func (s *machine) transmitted(i int32) {
	x := s.sent[i]
	s.sent[i] = packet{}
	s.on = x.by
	switch g, _ := s.transfer(noG, x.to, true); {
	case g == noG:
	case s.fluid != nil:
		s.fluidRun(g)
	default:
		s.netReady(g)
	}
}

// poll returns those whom the network has answered, the latest first, as many
// as one call gives (netpoll_epoll.go: netpoll pushes onto a list).
func (s *machine) poll() batch {
	var b batch
	for s.nready > 0 && b.n < s.r.PollBatch {
		g := s.dequeue(&s.ready)
		s.nready--
		s.gs[g].next = b.head
		b.head = g
		if b.tail == noG {
			b.tail = g
		}
		b.n++
	}
	return b
}

// pollOrPark has a thread without P sleep in the network poller, up to the time
// of a timer if there is one; unless another thread does, which is then told
// of the timer (end of findRunnable, Go 1.22 to 1.27).
func (s *machine) pollOrPark(m int32, until int64) {
	if s.poller != none {
		if until != 0 && (s.pollUntil == 0 || s.pollUntil > until) {
			s.breakPoll()
		}
		s.park(m)
		return
	}
	if s.netWaiters+s.nready == 0 && until == 0 {
		s.park(m)
		return
	}
	s.poller, s.pollUntil, s.broken = m, until, false
	t := s.ms[m]
	t.gen++
	t.next, t.due = stPoll, Forever
	s.sleeps(m)
	switch {
	case s.nready > 0:
		s.after(m, 0, stPoll)
	case until != 0:
		d := max(0, until-s.now)
		if grain := s.r.PollResolution; grain > 0 && d > 0 {
			d = max(d/grain, 1) * grain
		}
		s.after(m, d+s.c.Slack, stPoll)
	}
}

// breakPoll wakes the thread that sleeps in the poller, if there is one
// (netpollBreak, or what it waits for).
func (s *machine) breakPoll() {
	if s.poller == none || s.broken {
		return
	}
	if d := s.threadWake(); s.ms[s.poller].due > s.now+d {
		s.broken = true
		s.ms[s.poller].waker = s.on
		s.after(s.poller, d, stPoll)
	}
}

// wakePoller sees to it that somebody wakes up at when (wakeNetPoller).
func (s *machine) wakePoller(when int64) {
	if s.poller == none {
		s.wakeP()
	} else if s.pollUntil == 0 || s.pollUntil > when {
		s.breakPoll()
	}
}

// polled has a thread come out of the poller. Without an idle P it can only
// hand on what it found.
func (s *machine) polled(m int32) {
	s.poller, s.pollUntil = none, 0
	s.lastPoll = s.now
	b := s.poll()
	p := s.popIdle()
	s.res.Locks++
	if p == none {
		s.inject(b, none, m, reference.WhyNetwork)
		s.park(m)
		return
	}
	s.acquire(m, p)
	if b.n > 0 {
		g := s.dequeue(&b.waitq)
		b.n--
		s.inject(b, p, m, reference.WhyNetwork)
		s.sayReady(g, p, m, noG, reference.QueueDirect, reference.WhyNetwork)
		s.start(m, g, take{src: reference.SrcNetpoll})
		return
	}
	if s.ms[m].wasSpin {
		s.spin(m)
	}
	s.find(m)
}

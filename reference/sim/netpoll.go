package sim

import "github.com/gmpscope/gmpscope/reference"

// netpoller is the network poller: what has been answered, and the thread that
// sleeps in it.
type netpoller struct {
	ready    waitq // in the kernel, not yet polled
	nready   int
	poller   int32 // thread that sleeps in the poller, or none
	until    int64 // time of the timer for which that wakes up; 0 is none
	broken   bool  // that sleep was ended (netpollWakeSig)
	lastPoll int64
}

// addTimer adds a timer to p's heap. If it is the first, a thread has to wake up for it
// (time.go: timers.addHeap, wakeNetPoller).
func addTimer(s *scheduler, g, p int32, ns int64) {
	x := &s.ps[p]
	s.seq++
	when := max(s.now+ns, 1)
	x.timers.push(event{at: when, seq: s.seq, id: g})
	if x.timers[0].id == g {
		s.net.wakeBy(s, when)
	}
}

// checkTimers runs the due timers of P of, on thread m: whom they wake is queued on
// its P (time.go: timers.check). It returns their number.
func checkTimers(s *scheduler, of, m int32) (n int64) {
	h := &s.ps[of].timers
	for ; len(*h) > 0 && (*h)[0].at <= s.now; n++ {
		ready(s, h.pop().id, m, noG, true, reference.WhyTimer)
	}
	return n
}

// firstTimer returns when the earliest timer of all is due, or 0.
func firstTimer(s *scheduler) int64 {
	s.search(len(s.ps))
	first := int64(0)
	for i := range s.ps {
		if t := s.ps[i].timers.first(); t != 0 && (first == 0 || t < first) {
			first = t
		}
	}
	return first
}

// answer has the network answer a goroutine: it becomes runnable when a
// thread polls.
func (n *netpoller) answer(s *scheduler, g int32) {
	if resumeHeld(s, g, noG, reference.WhyNetwork) {
		return
	}
	s.enqueue(&n.ready, g)
	n.nready++
	n.interrupt(s)
}

// poll returns those whom the network has answered, the latest first, as many
// as one call gives (netpoll_epoll.go: netpoll pushes onto a list).
func (n *netpoller) poll(s *scheduler) batch {
	var b batch
	for n.nready > 0 && b.n < s.r.PollBatch {
		g := s.dequeue(&n.ready)
		n.nready--
		s.gs[g].next = b.head
		b.head = g
		if b.tail == noG {
			b.tail = g
		}
		b.n++
	}
	return b
}

// block has a thread without P sleep in the network poller, up to the time
// of a timer if there is one. If another thread sleeps there, it is woken for an earlier
// timer instead (end of findRunnable, Go 1.22 to 1.27).
func (n *netpoller) block(s *scheduler, m int32, until int64) {
	if n.poller != none {
		if until != 0 && (n.until == 0 || n.until > until) {
			n.interrupt(s)
		}
		stopm(s, m)
		return
	}
	if s.netWaiters+n.nready == 0 && until == 0 {
		stopm(s, m)
		return
	}
	n.poller, n.until, n.broken = m, until, false
	t := s.ms[m]
	t.gen++
	t.next, t.due = stPoll, Forever
	notesleep(s, m)
	switch {
	case n.nready > 0:
		after(s, m, 0, stPoll)
	case until != 0:
		d := max(0, until-s.now)
		if grain := s.r.PollResolution; grain > 0 && d > 0 {
			d = max(d/grain, 1) * grain
		}
		after(s, m, d+s.c.Slack, stPoll)
	}
}

// interrupt wakes the thread that sleeps in the poller, if there is one
// (netpollBreak, or what it waits for).
func (n *netpoller) interrupt(s *scheduler) {
	if n.poller == none || n.broken {
		return
	}
	if d := s.c.threadWake(s.now); s.ms[n.poller].due > s.now+d {
		n.broken = true
		s.ms[n.poller].waker = s.on
		after(s, n.poller, d, stPoll)
	}
}

// wakeBy ensures that a thread wakes up at when (wakeNetPoller).
func (n *netpoller) wakeBy(s *scheduler, when int64) {
	if n.poller == none {
		wakep(s)
	} else if n.until == 0 || n.until > when {
		n.interrupt(s)
	}
}

// polled has a thread come out of the poller. Without an idle P it can only
// hand on what it found.
func polled(s *scheduler, m int32) {
	s.net.poller, s.net.until = none, 0
	s.net.lastPoll = s.now
	b := s.net.poll(s)
	p := pidleget(s)
	s.res.Locks++
	if p == none {
		injectglist(s, b, none, m, reference.WhyNetwork)
		stopm(s, m)
		return
	}
	acquirep(s, m, p)
	if b.n > 0 {
		runPolled(s, m, b)
		return
	}
	if s.ms[m].wasSpin {
		becomeSpinning(s, m)
	}
	findRunnable(s, m)
}

// runPolled has a thread run the first of those that a poll gave, and puts the others into
// the queues (findRunnable).
func runPolled(s *scheduler, m int32, b batch) {
	p := s.ms[m].p
	g := s.dequeue(&b.waitq)
	b.n--
	injectglist(s, b, p, m, reference.WhyNetwork)
	s.emitReady(g, p, m, noG, reference.QueueDirect, reference.WhyNetwork)
	execute(s, m, g, take{src: reference.SrcNetpoll})
}

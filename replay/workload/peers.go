package workload

import "github.com/gmpscope/gmpscope/reference"

// manyCalls bounds how many system calls are remembered that may have sent something.
const manyCalls = 1 << 10

// A call is a system call of a goroutine of the program, which may have been what another
// one waits for in the network poller: both ends of a connection can be in one process.
type call struct {
	g    int32
	at   int64 // when it began
	prev int32 // the step before; none if it is the first
	step int32 // none while it lasts
	used bool  // somebody was woken by it
}

// peers finds who sends what goroutines wait for in the network poller.
type peers struct {
	calls []call          // the last ones, a ring
	next  int             // in calls
	of    map[int32]int32 // who sent what a goroutine waited for last
}

// polls are the last looks at what the network has (findRunnable, netpoll). Each takes all that
// is there.
type polls struct {
	m      int64 // thread that hands out what it found; NoM if none does
	last   int64
	before int64 // of the one before
}

// add looks at a decision: what a poll found, or that a P found nothing, and is idle.
func (p *polls) add(d *reference.Decision, now int64) {
	found := d.Kind == reference.KindReady && d.Why == reference.WhyNetwork
	switch {
	case found && d.M == p.m:
		return
	case found, d.Kind == reference.KindPStop && d.Why == reference.WhyIdle:
		p.before, p.last = p.last, now
	case d.M != p.m:
		return
	}
	p.m = reference.NoM
	if found {
		p.m = d.M
	}
}

func (p *peers) enter(g int32, now int64, prev int32) {
	c := call{g: g, at: now, prev: prev, step: none}
	if len(p.calls) < manyCalls {
		p.calls = append(p.calls, c)
		return
	}
	p.calls[p.next] = c
	p.next = (p.next + 1) % manyCalls
}

// latest returns the place of the i-th latest call, from 0 on.
func (p *peers) latest(i int) *call {
	return &p.calls[(p.next+2*len(p.calls)-1-i)%len(p.calls)]
}

// exit notes the step that a goroutine's system call has become.
func (p *peers) exit(g, step int32) {
	for i := range p.calls {
		if c := p.latest(i); c.g == g {
			if c.step == none {
				c.step = step
			}
			return
		}
	}
}

// sender returns the system call that has most likely sent what g has waited for since
// some time: of who did last time, or of who waited for g's own last, and then they are
// peers; else the latest. Nil if nobody was in one, or what it sent had been seen before.
func (e *Extractor) sender(g int32, since int64) (best *call, peers bool) {
	p := &e.peers
	rank := func(c *call) int {
		if last, ok := p.of[g]; ok && last == c.g {
			return 2
		}
		if last, ok := p.of[c.g]; ok && last == g {
			return 1
		}
		return 0
	}
	for i := range p.calls {
		c := p.latest(i)
		if c.at < since && c.step != none {
			break
		}
		if c.used || c.g == g || c.at < since || c.step != none && c.at+e.w.steps.at(c.step).ns < e.polls.before {
			continue
		}
		if best == nil || rank(c) > rank(best) {
			best = c
		}
	}
	return best, best != nil && rank(best) > 0
}

// sent has the system call that may have sent it wake a goroutine that waited for the
// network since some time, and reports whether there is one. seen is when the answer was seen.
// What is sent on loopback is there when the system call is done, at the latest; that
// somebody looks later is the scheduler's doing.
func (e *Extractor) sent(g int32, since, seen int64) bool {
	c, peers := e.sender(g, since)
	if c == nil {
		return false
	}
	if peers {
		e.w.Peers++
	}
	c.used = true
	if e.peers.of == nil {
		e.peers.of = map[int32]int32{}
	}
	e.peers.of[g] = c.g
	e.w.Sent++
	if c.step != none {
		seen = min(seen, c.at+e.w.steps.at(c.step).ns)
	}
	x := &e.gs[c.g]
	i := e.behind(c.g, c.prev, step{kind: kNetSend, arg: g, ns: max(0, seen-c.at)})
	if x.last == c.prev { // it still lasts
		x.last, x.cut = i, i
	}
	return true
}

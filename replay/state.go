package replay

import (
	"math"

	"github.com/gmpscope/gmpscope/reference"
)

// gstate is what a goroutine does.
type gstate uint8

const (
	unseen gstate = iota
	blocked
	runnable
	running
	inSyscall
)

func (s gstate) String() string {
	return [...]string{"not seen before", "blocked or ended", "runnable", "running", "in a system call"}[s]
}

// apart is where a runnable goroutine is that is in no queue.
type apart uint8

const (
	nowhere   apart = iota
	direct          // it was never put into a queue: it is run at once
	displaced       // a newcomer took its runnext; its move follows
	inHand          // a batch from the global queue has begun with it
	takenAway       // a thread has taken it and not started it yet
)

// goroutine is what the decisions say about one goroutine.
type goroutine struct {
	id     int64
	state  gstate
	apart  apart
	at     int32   // index of the P: that it runs on, or that displaced it; none
	loose  Race    // its position within its queue is not known, and why
	putM   int64   // thread that put it
	put    int64   // decision that put it
	putEnd int64   // the next decision of that thread: the put was done before
	took   dequeue // of takenAway
	began  int64   // of its run interval
}

// forever is the end of a put that is under way.
const forever = int64(math.MaxInt64)

// proc is what the decisions say about one P.
type proc struct {
	id      int32
	thread  bool
	m       int64
	g       int32 // running or in a system call on it; reference.None
	calls   bool  // g is in a system call
	ran     int64 // ns, run intervals that ended here
	since   int64 // when the P began to run g
	busy    int64 // ns, time that it ran goroutines, by the P's own account
	tick    int64 // starts that did not inherit the time slice
	phase   int64 // tick%61 at a certain pick of the 61st tick, -1 if not known
	differs int32 // by how much its length in decisions differs from that of the queues
}

// thread is what is known of one thread.
type thread struct {
	last    int64 // its newest decision
	pending []pending
}

// pending is a put that is under way.
type pending struct {
	g, put int64
	why    reference.Why
}

func (a *Auditor) gor(id int64) int32 {
	if index, ok := a.gix[id]; ok {
		return index
	}
	index := int32(len(a.gs))
	if n := len(a.free); n > 0 {
		index, a.free = a.free[n-1], a.free[:n-1]
	} else {
		a.gs = append(a.gs, goroutine{})
		a.q.Grow(len(a.gs), 0)
	}
	a.gs[index] = goroutine{id: id, at: reference.None}
	a.gix[id] = index
	return index
}

// drop forgets a goroutine that ended.
func (a *Auditor) drop(index int32) {
	delete(a.gix, a.gs[index].id)
	a.free = append(a.free, index)
}

func (a *Auditor) proc(id int32) int32 {
	if id < 0 {
		return reference.None
	}
	if index, ok := a.pix[id]; ok {
		return index
	}
	index := int32(len(a.ps))
	a.ps = append(a.ps, proc{id: id, m: reference.NoM, g: reference.None, phase: -1})
	a.pix[id] = index
	a.q.Grow(0, len(a.ps))
	return index
}

func (a *Auditor) thread(id int64) *thread {
	t, ok := a.ms[id]
	if !ok {
		t = &thread{}
		a.ms[id] = t
	}
	return t
}

// went notes that a thread made a decision: the puts before it are done.
// injectglist writes the events of a whole list before it puts the first.
func (a *Auditor) went(d *reference.Decision) {
	switch d.Kind {
	case reference.KindRetake, reference.KindSteal, reference.KindGlobalBatch, reference.KindOverflow, reference.KindMove:
		return // told of a thread, not by an event of it
	}
	if d.M < 0 {
		return
	}
	t := a.thread(d.M)
	t.last = a.n
	list := d.Kind == reference.KindReady && (d.Why == reference.WhyNetwork || d.Why == reference.WhySystem)
	keep := t.pending[:0]
	for _, p := range t.pending {
		if list && p.why == d.Why || p.put == a.n {
			keep = append(keep, p)
			continue
		}
		if index, ok := a.gix[p.g]; ok && a.gs[index].put == p.put {
			a.gs[index].putEnd = a.n
		}
	}
	t.pending = keep
}

// puts notes who puts a goroutine into a queue, from now on.
func (a *Auditor) puts(index int32, m int64, why reference.Why) {
	g := &a.gs[index]
	g.put, g.putM, g.putEnd = a.n, m, a.n
	if m >= 0 {
		g.putEnd = forever
		t := a.thread(m)
		t.pending = append(t.pending, pending{g.id, a.n, why})
	}
}

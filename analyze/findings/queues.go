package findings

import (
	"github.com/gmpscope/gmpscope/analyze/ids"
	"github.com/gmpscope/gmpscope/reference"
)

const (
	inNone    = int32(-1)
	inGlobal  = int32(-2)
	inNowhere = int32(-3)
)

// list is a queue as the program's goroutines in it, the earliest first.
type list struct {
	head, tail int32
	n, nself   int64
	// The times at which goroutines left, less those at which they came: with
	// n x now the waiting in it, in goroutine-ns. self: of those that asked for it.
	// They may wrap.
	sum, self int64
}

// ns is the waiting in it up to now, and waited that of those that did not yield.
func (l *list) ns(now int64) int64     { return l.sum + l.n*now }
func (l *list) waited(now int64) int64 { return l.ns(now) - (l.self + l.nself*now) }

// queues are the run queues as the program's goroutines in them.
type queues struct {
	gs       ids.Parts[Goroutine] // by slot
	local    []list               // by P
	global   list
	nowhere  list  // waiting, but in no queue, or an unknown one
	localLen int64 // goroutines in local queues
	filled   int64 // local queues that hold any
	yielded  int64 // goroutines that had asked to wait
	stealers stealable
}

// list returns P p's queue, or the global one for NoP; nil for a P that is not known.
func (q *queues) list(p int32) *list {
	switch {
	case uint(p) < uint(len(q.local)):
		return &q.local[p]
	case p < 0:
		return &q.global
	}
	return nil
}

// Queued returns how many goroutines of the program stand in P p's queue, or in
// the global one for NoP.
func (q *queues) Queued(p int32) int64 {
	if l := q.list(p); l != nil {
		return l.n
	}
	return 0
}

// QueuedLocally returns how many goroutines of the program stand in queues of
// Ps, and how many of these queues are not empty.
func (q *queues) QueuedLocally() (n, queues int64) { return q.localLen, q.filled }

// Yielded returns how many of the runnable ones wait because they asked for it,
// by runtime.Gosched.
func (q *queues) Yielded() int64 { return q.yielded }

// Stealable returns how many goroutines of the program stand in queues from
// which any idle P could take them: those wired to a thread, and those that
// yielded, left out. since is from when on there was at least one.
func (q *queues) Stealable() (n, since int64) { return q.stealers.n, q.stealers.since }

// Waiting calls f for the goroutines of the program in P's queue, or in the
// global one for NoP, the earliest first, until it returns false.
func (q *queues) Waiting(p int32, f func(*Goroutine) bool) {
	l := q.list(p)
	if l == nil {
		return
	}
	for i := l.head; i != 0; {
		g := q.gs.At(i)
		if !f(g) {
			return
		}
		i = g.next
	}
}

// put puts g, whose list is chosen, to the end of it.
func (q *queues) put(g *Goroutine, now int64, runnext bool) *list {
	l := q.of(g)
	g.prev, g.next = l.tail, 0
	if l.tail != 0 {
		q.gs.At(l.tail).next = g.slot
	} else {
		l.head = g.slot
	}
	l.tail = g.slot
	l.n++
	l.sum -= now
	if g.list >= 0 && l.n == 1 {
		q.filled++
	}
	if g.Self {
		l.nself++
		l.self -= now
		q.yielded++
	}
	if g.list != inNowhere && !g.Self && !g.Locked {
		g.stealable = true
		q.stealers.add(now, runnext)
	}
	return l
}

// remove takes g out of its list, which it returns.
func (q *queues) remove(g *Goroutine, now int64) *list {
	l := q.of(g)
	if g.prev != 0 {
		q.gs.At(g.prev).next = g.next
	} else {
		l.head = g.next
	}
	if g.next != 0 {
		q.gs.At(g.next).prev = g.prev
	} else {
		l.tail = g.prev
	}
	l.n--
	l.sum += now
	if g.list >= 0 {
		q.localLen--
		if l.n == 0 {
			q.filled--
		}
	}
	if g.Self {
		l.nself--
		l.self += now
		q.yielded--
	}
	if g.stealable {
		g.stealable = false
		q.stealers.n--
	}
	g.next, g.prev, g.watched = 0, 0, false
	return l
}

// of returns the list that g is in.
func (q *queues) of(g *Goroutine) *list {
	switch {
	case g.list >= 0:
		return &q.local[g.list]
	case g.list == inGlobal:
		return &q.global
	}
	return &q.nowhere
}

// Residency is the time for which a goroutine of the program stands in one queue.
type Residency struct {
	G    *Goroutine
	P    int32 // NoP: the global queue
	From int64 // when it was put there
	To   int64
	// Later is how many goroutines of the program were started from local queues
	// meanwhile, less those that stood there before; LaterWait how long they had
	// waited, on average.
	Later     int64
	LaterWait int64
	Start     bool // it left to run
	Src       reference.Source
	Open      bool // it was there when the trace ended
}

func (w *World) move(d *reference.Decision) {
	w.g = nil
	if w.note.G == 0 {
		return
	}
	g := w.gs.At(w.note.G)
	if g.ReadyAt < 0 {
		return
	}
	w.g = g
	w.residencyOver(g, d, false)
	w.leave(g)
	w.enter(g, d.To, d.P)
}

// enter puts a waiting goroutine of the program into a queue.
func (w *World) enter(g *Goroutine, to reference.Queue, p int32) {
	g.QueuedAt = w.now
	if g.System {
		return
	}
	g.list, g.P = inNowhere, reference.NoP
	switch to {
	case reference.QueueRunnext, reference.QueueLocal:
		if w.p(p) != nil {
			g.list, g.P = p, p
			w.localLen++
			g.watched = w.leftBits>>(g.ReadyWhy%masks)&1 != 0
		}
	case reference.QueueGlobal:
		g.list = inGlobal
		g.watched = true
	}
	if g.watched {
		g.mark, g.markLen, g.markWait = w.totals.LocalStarts, int32(w.localLen), w.localWait
	}
	if l := w.put(g, w.now, to == reference.QueueRunnext); g.list >= 0 && l.n == w.longQueue {
		w.setLong(w.long + 1)
	}
}

// leave takes a goroutine out of the queue that it is in, if any.
func (w *World) leave(g *Goroutine) {
	if g.list == inNone {
		return
	}
	if l := w.remove(g, w.now); g.list >= 0 && l.n == w.longQueue-1 {
		w.setLong(w.long - 1)
	}
	g.list = inNone
}

// residencyOver emits that a goroutine is about to leave its queue, if somebody
// subscribed.
func (w *World) residencyOver(g *Goroutine, d *reference.Decision, start bool) {
	if g.watched {
		w.emitResidency(g, d, start)
	}
}

func (w *World) emitResidency(g *Goroutine, d *reference.Decision, start bool) {
	w.residency = Residency{G: g, P: reference.NoP, From: g.QueuedAt, To: w.now, Start: start}
	if n := w.totals.LocalStarts - g.mark; n > 0 {
		w.residency.Later = n - int64(g.markLen)
		w.residency.LaterWait = (w.localWait - g.markWait) / n
	}
	if g.list >= 0 {
		w.residency.P = g.list
	}
	if d == nil {
		w.residency.Open = true
	} else if start {
		w.residency.Src = d.Src
	}
	if g.list == inGlobal {
		w.leftGlobal.emit(&w.residency)
	}
	w.left[g.ReadyWhy%masks].emit(&w.residency)
}

// stealable counts goroutines that an idle P could take.
type stealable struct {
	n, since int64
}

// youngRunnext is how long a goroutine in runnext is left to its own P: a thief
// sleeps that long first (runqgrab).
const youngRunnext = 3_000

func (s *stealable) add(now int64, runnext bool) {
	if s.n == 0 {
		s.since = now
		if runnext {
			s.since += youngRunnext
		}
	} else if !runnext {
		s.since = min(s.since, now)
	}
	s.n++
}

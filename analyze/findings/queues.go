package findings

import (
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
	l := &w.nowhere
	g.list, g.P = inNowhere, reference.NoP
	switch to {
	case reference.QueueRunnext, reference.QueueLocal:
		if pp := w.p(p); pp != nil {
			l, g.list, g.P = &pp.queue, p, p
			w.localLen++
			g.watched = w.leftBits>>(g.ReadyWhy%masks)&1 != 0
		}
	case reference.QueueGlobal:
		l, g.list = &w.global, inGlobal
		g.watched = true
	}
	if g.watched {
		g.mark, g.markLen, g.markWait = w.localStarts, int32(w.localLen), w.localWait
	}
	g.prev, g.next = l.tail, 0
	if l.tail != 0 {
		w.gs.At(l.tail).next = g.slot
	} else {
		l.head = g.slot
	}
	l.tail = g.slot
	l.n++
	l.sum -= w.now
	if g.list >= 0 {
		if l.n == 1 {
			w.filled++
		}
		w.lengthened(l.n)
	}
	if g.Self {
		l.nself++
		l.self -= w.now
		w.yielded++
	}
	if g.list != inNowhere && !g.Self && !g.Locked {
		g.stealable = true
		w.stealers.add(w.now, to == reference.QueueRunnext)
	}
}

// leave takes a goroutine out of the queue that it is in, if any.
func (w *World) leave(g *Goroutine) {
	if g.list != inNone {
		w.leaveQueue(g)
	}
}

func (w *World) leaveQueue(g *Goroutine) {
	var l *list
	switch {
	case g.list >= 0:
		l = &w.ps[g.list].queue
		w.localLen--
	case g.list == inGlobal:
		l = &w.global
	default:
		l = &w.nowhere
	}
	if g.prev != 0 {
		w.gs.At(g.prev).next = g.next
	} else {
		l.head = g.next
	}
	if g.next != 0 {
		w.gs.At(g.next).prev = g.prev
	} else {
		l.tail = g.prev
	}
	l.n--
	l.sum += w.now
	if g.list >= 0 {
		if l.n == 0 {
			w.filled--
		}
		w.shortened(l.n)
	}
	if g.Self {
		l.nself--
		l.self += w.now
		w.yielded--
	}
	if g.stealable {
		g.stealable = false
		w.stealers.n--
	}
	g.list, g.next, g.prev, g.watched = inNone, 0, 0, false
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
	if n := w.localStarts - g.mark; n > 0 {
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

package findings

import (
	"iter"

	"github.com/gmpscope/gmpscope/analyze/ids"
	"github.com/gmpscope/gmpscope/reference"
)

const (
	inNone    = int32(-1)
	inGlobal  = int32(-2)
	inNowhere = int32(-3)
)

// turn is what is kept of a goroutine while it waits for a P: of a million, few do at a time.
type turn struct {
	queuedAt   int64   // since when it is in its present queue
	mark       int64   // Totals.LocalStarts when it was queued, if it is watched
	markWait   int64   // localWait then
	loadAt     float64 // loadSum when it became runnable
	wanted     int32   // goroutines that wanted a P when it became runnable
	usable     int32   // Ps then
	markLen    int32   // localLen when it was queued
	slot       int32   // of the goroutine
	next, prev int32   // turns
	list       int32   // P, or inNone, inGlobal, inNowhere
	stealable  bool
	watched    bool // somebody subscribed to the end of its queue residency
}

// loadBefore is Load when its goroutine became runnable.
func (t *turn) loadBefore() float32 { return float32(load(int64(t.wanted), int64(t.usable))) }

// turn returns that of g.
func (q *queues) turn(g *Goroutine) *turn { return q.turns.At(g.turn) }

// beginTurn gives g a turn, if it has none.
func (q *queues) beginTurn(g *Goroutine) *turn {
	if g.turn == 0 {
		if q.freeTurn == 0 {
			q.numTurns++
			q.freeTurn = q.numTurns
			q.turns.Make(q.freeTurn)
		}
		g.turn = q.freeTurn
		t := q.turn(g)
		q.freeTurn = t.next
		*t = turn{slot: g.slot, list: inNone}
	}
	return q.turn(g)
}

// endTurn removes t, if it is one, from g, which is in no queue.
func (q *queues) endTurn(g *Goroutine, t *turn) {
	if g.turn != 0 {
		t.next, q.freeTurn = q.freeTurn, g.turn
		g.turn = 0
	}
}

// list is a queue as the program's goroutines in it, the earliest first.
type list struct {
	head, tail int32 // turns
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
	goroutines
	turns    ids.Parts[turn] // index 0 is of no goroutine, and in no queue
	numTurns int32
	freeTurn int32  // the first that is free, or 0
	local    []list // by P
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

// Queued returns the number of goroutines of the program in P p's run queue, runnext included, or
// in the global one if p is reference.NoP.
func (q *queues) Queued(p int32) int64 {
	if l := q.list(p); l != nil {
		return l.n
	}
	return 0
}

// QueuedLocally returns n, the number of goroutines of the program in local run queues, runnext
// included, and the number of Ps whose queue is not empty.
func (q *queues) QueuedLocally() (n, queues int64) { return q.localLen, q.filled }

// Yielded returns the number of goroutines of the program that wait for a P because they called
// runtime.Gosched.
func (q *queues) Yielded() int64 { return q.yielded }

// Stealable returns n, the number of queued goroutines of the program that any idle P could take:
// those that are neither locked to a thread nor there after runtime.Gosched. since is the time,
// in ns, from which on there has been at least one; it means nothing if n is 0.
func (q *queues) Stealable() (n, since int64) { return q.stealers.n, q.stealers.since }

// Waiting yields the goroutines of the program in P p's run queue, or in the global one if p is
// reference.NoP: at most most of them, the one that has been there longest first.
func (q *queues) Waiting(p int32, most int) iter.Seq[*Goroutine] {
	return func(yield func(*Goroutine) bool) {
		l := q.list(p)
		if l == nil {
			return
		}
		for i, n := l.head, 0; i != 0 && n < most; n++ {
			t := q.turns.At(i)
			if !yield(q.gs.At(t.slot)) {
				return
			}
			i = t.next
		}
	}
}

// QueuedAt returns the time, in ns since the first event of the trace, at which g came to the
// queue that it is in. g must wait for a P.
func (q *queues) QueuedAt(g *Goroutine) int64 { return q.turn(g).queuedAt }

// put puts g, whose list is chosen, to the end of it.
func (q *queues) put(g *Goroutine, t *turn, now int64, runnext bool) *list {
	l := q.of(t)
	t.prev, t.next = l.tail, 0
	if l.tail != 0 {
		q.turns.At(l.tail).next = g.turn
	} else {
		l.head = g.turn
	}
	l.tail = g.turn
	l.n++
	l.sum -= now
	if t.list >= 0 && l.n == 1 {
		q.filled++
	}
	if g.Self {
		l.nself++
		l.self -= now
		q.yielded++
	}
	if t.list != inNowhere && !g.Self && !g.Locked {
		t.stealable = true
		q.stealers.add(now, runnext)
	}
	return l
}

// remove removes g from its list, which it returns.
func (q *queues) remove(g *Goroutine, t *turn, now int64) *list {
	l := q.of(t)
	if t.prev != 0 {
		q.turns.At(t.prev).next = t.next
	} else {
		l.head = t.next
	}
	if t.next != 0 {
		q.turns.At(t.next).prev = t.prev
	} else {
		l.tail = t.prev
	}
	l.n--
	l.sum += now
	if t.list >= 0 {
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
	if t.stealable {
		t.stealable = false
		q.stealers.n--
	}
	t.next, t.prev, t.watched = 0, 0, false
	return l
}

// of returns the list that a turn is in.
func (q *queues) of(t *turn) *list {
	switch {
	case t.list >= 0:
		return &q.local[t.list]
	case t.list == inGlobal:
		return &q.global
	}
	return &q.nowhere
}

// Residency is an interval [From, To), ns, in which a goroutine of the program stood in one run
// queue. [View.Residencies] reports them.
type Residency struct {
	G    *Goroutine // that stood there
	P    int32      // whose queue it was; reference.NoP: the global one, or an unknown one
	From int64      // ns: it was put there
	To   int64      // ns: it left
	// Later is the number of goroutines of the program that were started from local queues
	// meanwhile, less the number of those in such queues at From. LaterWait is how long all that
	// were started so had waited for a P, on average, in ns. Both are 0 if none was.
	Later     int64
	LaterWait int64
	Start     bool             // it left to run, rather than for another queue
	Src       reference.Source // with Start: where the P took it from
	Open      bool             // it was still there when the trace ended
}

func (w *follower) move(d *reference.Decision) {
	w.g = nil
	if w.note.G == 0 {
		return
	}
	g := w.gs.At(w.note.G)
	if g.ReadyAt < 0 {
		return
	}
	w.g = g
	t := w.turn(g)
	w.residencyOver(g, t, d, false)
	w.leave(g, t)
	w.enter(g, t, d.To, d.P)
}

// enter puts a waiting goroutine of the program into a queue.
func (w *follower) enter(g *Goroutine, t *turn, to reference.Queue, p int32) {
	t.queuedAt = w.now
	if g.System {
		return
	}
	t.list, g.P = inNowhere, reference.NoP
	switch to {
	case reference.QueueRunnext, reference.QueueLocal:
		if w.p(p) != nil {
			t.list, g.P = p, p
			w.localLen++
			t.watched = w.leftBits>>(g.ReadyWhy%masks)&1 != 0
		}
	case reference.QueueGlobal:
		t.list = inGlobal
		t.watched = true
	}
	if t.watched {
		t.mark, t.markLen, t.markWait = w.totals.LocalStarts, int32(w.localLen), w.localWait
	}
	if l := w.put(g, t, w.now, to == reference.QueueRunnext); t.list >= 0 && l.n == w.longQueue {
		w.setLong(w.long + 1)
	}
}

// leave removes a goroutine from the queue that it is in, if any.
func (w *follower) leave(g *Goroutine, t *turn) {
	if t.list == inNone {
		return
	}
	if l := w.remove(g, t, w.now); t.list >= 0 && l.n == w.longQueue-1 {
		w.setLong(w.long - 1)
	}
	t.list = inNone
}

// residencyOver emits that a goroutine is about to leave its queue, if a goroutine
// subscribed.
func (w *follower) residencyOver(g *Goroutine, t *turn, d *reference.Decision, start bool) {
	if t.watched {
		w.emitResidency(g, t, d, start)
	}
}

func (w *follower) emitResidency(g *Goroutine, t *turn, d *reference.Decision, start bool) {
	w.residency = Residency{G: g, P: reference.NoP, From: t.queuedAt, To: w.now, Start: start}
	if n := w.totals.LocalStarts - t.mark; n > 0 {
		w.residency.Later = n - int64(t.markLen)
		w.residency.LaterWait = (w.localWait - t.markWait) / n
	}
	if t.list >= 0 {
		w.residency.P = t.list
	}
	if d == nil {
		w.residency.Open = true
	} else if start {
		w.residency.Src = d.Src
	}
	if t.list == inGlobal {
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

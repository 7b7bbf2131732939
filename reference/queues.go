package reference

import (
	"fmt"
	"iter"
)

// Queues is the state of all run queues: for each P a runnext slot and a ring,
// and the global queue. The methods take goroutines and Ps as small indices, from
// 0, that the caller gives to them, not as IDs; [None] is no goroutine. No
// goroutine is ever in two places.
//
// The operations are those of runtime/proc.go. The runtime does each at one
// point in time; so does Queues. It is not safe for concurrent use.
//
// All queues are doubly linked lists through one array, so that a goroutine
// can also be taken from the middle: an observer learns of a steal only when
// the stolen goroutine runs.
//
// An operation that would break a queue panics with a [Violation] and changes nothing, so that
// each list ends after as many links as its length says, whatever the caller does.
type Queues struct {
	rules  Rules
	node   []node
	local  []runq
	global list
	hidden int   // goroutines that are
	first  int64 // order of the newest at the head of the global queue
	last   int64 // and of the newest at its tail
	links  int64 // followed by Next and Prev
}

// Violation is the panic of an operation of [Queues] whose precondition does not hold: a mistake of
// the caller.
type Violation struct {
	Op    string // name of the method, such as "PutTail"
	G     int32  // index of the goroutine that it was given; None for no goroutine
	Place Place  // where G is
}

// Error returns what was done to which goroutine, and where that goroutine is.
func (v Violation) Error() string {
	if v.G == None {
		return fmt.Sprintf("%s of no goroutine", v.Op)
	}
	return fmt.Sprintf("%s of goroutine %d, which is in %s of P %d", v.Op, v.G, v.Place.Queue, v.Place.P)
}

// Place is the queue that holds a goroutine, and the P that has that queue.
type Place struct {
	Queue Queue // QueueUnknown if it is in no queue
	P     int32 // index of the P whose queue it is, for QueueRunnext and QueueLocal
}

// node is a goroutine. There can be a million, so the parts of its Place are
// packed.
type node struct {
	order      int64 // global queue: larger than that of those in front
	next, prev int32
	p          int32
	queue      Queue
	hidden     bool
}

func (n *node) place() Place      { return Place{n.queue, n.p} }
func (n *node) setPlace(pl Place) { n.queue, n.p = pl.Queue, pl.P }

type list struct {
	head, tail int32
	n          int
	hidden     int // of n
}

type runq struct {
	runnext int32
	ring    list
}

// orderStep is the distance of the orders of two that were put into the global
// queue one after the other, so that there is room between them.
const orderStep = 1 << 20

// None is the index that the methods of [Queues] take and return where there is no goroutine.
const None = int32(-1)

// NewQueues returns empty queues.
func NewQueues(r Rules) *Queues {
	return &Queues{rules: r, global: list{head: None, tail: None}}
}

// Grow makes room for goroutines with indices below gs and Ps with indices below ps: other methods
// take no larger ones. It keeps what is queued.
func (q *Queues) Grow(gs, ps int) {
	if cap(q.node) < gs {
		q.node = append(make([]node, 0, 2*gs), q.node...) // append would copy it three times as often
	}
	for len(q.node) < gs {
		q.node = append(q.node, node{next: None, prev: None})
	}
	for len(q.local) < ps {
		q.local = append(q.local, runq{runnext: None, ring: list{head: None, tail: None}})
	}
}

// CopyFrom makes q equal to o, in memory of its own.
func (q *Queues) CopyFrom(o *Queues) {
	node, local := append(q.node[:0], o.node...), append(q.local[:0], o.local...)
	*q = *o
	q.node, q.local = node, local
}

// Place returns the queue that holds the goroutine with index g, and the P whose queue that is.
func (q *Queues) Place(g int32) Place { return q.node[g].place() }

// Runnext returns the goroutine in p's runnext, or None.
func (q *Queues) Runnext(p int32) int32 { return q.local[p].runnext }

// Head returns the oldest goroutine in p's ring, or None.
func (q *Queues) Head(p int32) int32 { return q.local[p].ring.head }

// Tail returns the newest goroutine in p's ring, or None.
func (q *Queues) Tail(p int32) int32 { return q.local[p].ring.tail }

// RingLen returns the number of goroutines in p's ring.
func (q *Queues) RingLen(p int32) int { return q.local[p].ring.n }

// Len returns the length of p's local run queue, ring plus runnext.
func (q *Queues) Len(p int32) int {
	n := q.local[p].ring.n
	if q.local[p].runnext != None {
		n++
	}
	return n
}

// GlobalHead returns the oldest goroutine in the global queue, or None.
func (q *Queues) GlobalHead() int32 { return q.global.head }

// GlobalTail returns the newest goroutine in the global queue, or None.
func (q *Queues) GlobalTail() int32 { return q.global.tail }

// GlobalLen returns the length of the global queue.
func (q *Queues) GlobalLen() int { return q.global.n }

// Hide leaves the goroutine with index g, which must be in no queue, out of what
// [Queues.ShownLen] and [Queues.ShownGlobalLen] return until [Queues.Unhide].
func (q *Queues) Hide(g int32) {
	if n := &q.node[g]; !n.hidden {
		n.hidden = true
		q.hidden++
	}
}

// Unhide ends what [Queues.Hide] began for g, wherever g is now.
func (q *Queues) Unhide(g int32) {
	n := &q.node[g]
	if !n.hidden {
		return
	}
	n.hidden = false
	q.hidden--
	switch n.queue {
	case QueueLocal:
		q.local[n.p].ring.hidden--
	case QueueGlobal:
		q.global.hidden--
	}
}

// ShownLen returns the length of p's local run queue, ring plus runnext, without the
// goroutines that [Queues.Hide] left out.
func (q *Queues) ShownLen(p int32) int {
	l := &q.local[p]
	n := l.ring.n - l.ring.hidden
	if l.runnext != None && (q.hidden == 0 || !q.node[l.runnext].hidden) {
		n++
	}
	return n
}

// ShownGlobalLen returns the length of the global queue without the goroutines that
// [Queues.Hide] left out.
func (q *Queues) ShownGlobalLen() int { return q.global.n - q.global.hidden }

// AheadGlobal reports whether g stands in front of h, two goroutines, by their indices, that must
// both be in the global queue.
func (q *Queues) AheadGlobal(g, h int32) bool { return q.node[g].order < q.node[h].order }

// outside panics unless g is a goroutine that is in no queue.
func (q *Queues) outside(op string, g int32) {
	if uint(g) >= uint(len(q.node)) || q.node[g].queue != QueueUnknown {
		q.violated(op, g)
	}
}

// inside panics unless g is in that place.
func (q *Queues) inside(op string, g int32, queue Queue, p int32) {
	if uint(g) >= uint(len(q.node)) || q.node[g].queue != queue || q.node[g].p != p {
		q.violated(op, g)
	}
}

func (q *Queues) violated(op string, g int32) {
	v := Violation{Op: op, G: None}
	if uint(g) < uint(len(q.node)) {
		v.G, v.Place = g, q.Place(g)
	}
	panic(v)
}

// Next returns the goroutine behind g in the ring or the global queue that g is in, or [None].
func (q *Queues) Next(g int32) int32 {
	if countLinks {
		q.links++
	}
	return q.node[g].next
}

// Prev returns the goroutine in front of g in the ring or the global queue that g is in, or
// [None].
func (q *Queues) Prev(g int32) int32 {
	if countLinks {
		q.links++
	}
	return q.node[g].prev
}

// Links returns how many links Next and Prev have followed, in a program built with the tag checked.
func (q *Queues) Links() int64 { return q.links }

// Local yields what is in p's local run queue in the order in which p runs it, runnext first. Who is
// yielded may be removed.
func (q *Queues) Local(p int32) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		g, n := q.Head(p), q.RingLen(p)
		if first := q.Runnext(p); first != None && !yield(first) {
			return
		}
		for ; g != None && n > 0; n-- { // the rest may have been moved meanwhile
			next := q.Next(g)
			if !yield(g) {
				return
			}
			g = next
		}
	}
}

// PutRunnext puts g into p's runnext and returns the goroutine that it
// displaced, or None; the caller puts that one at the ring's tail (runqput with
// next=true).
func (q *Queues) PutRunnext(p, g int32) (displaced int32) {
	q.outside("PutRunnext", g)
	l := &q.local[p]
	displaced = l.runnext
	if displaced != None {
		q.node[displaced].setPlace(Place{})
	}
	l.runnext = g
	q.node[g].setPlace(Place{Queue: QueueRunnext, P: p})
	return displaced
}

// TakeRunnext removes the goroutine from p's runnext, which must hold one.
func (q *Queues) TakeRunnext(p int32) {
	l := &q.local[p]
	q.inside("TakeRunnext", l.runnext, QueueRunnext, p)
	q.node[l.runnext].setPlace(Place{})
	l.runnext = None
}

// Full reports whether p's ring has no room, so that a put on it moves half of it to the
// global queue.
func (q *Queues) Full(p int32) bool { return q.local[p].ring.n >= q.rules.RingSize }

// PutTail puts g at the tail of p's ring, whether or not it is full (runqput).
func (q *Queues) PutTail(p, g int32) {
	q.outside("PutTail", g)
	l := &q.local[p].ring
	q.insert(l, l.tail, g, Place{Queue: QueueLocal, P: p})
}

// PutGlobal puts g at the tail of the global queue (globrunqput).
func (q *Queues) PutGlobal(g int32) {
	q.outside("PutGlobal", g)
	q.last += orderStep
	q.node[g].order = q.last
	q.insert(&q.global, q.global.tail, g, Place{Queue: QueueGlobal, P: NoP})
}

// PutGlobalHead puts g at the head of the global queue (globrunqputhead).
func (q *Queues) PutGlobalHead(g int32) {
	q.outside("PutGlobalHead", g)
	q.first -= orderStep
	q.node[g].order = q.first
	q.insert(&q.global, None, g, Place{Queue: QueueGlobal, P: NoP})
}

// PutGlobalAfter puts g behind after, which is in the global queue: an observer
// learns late that a put came later than another.
func (q *Queues) PutGlobalAfter(after, g int32) {
	q.outside("PutGlobalAfter", g)
	q.inside("PutGlobalAfter", after, QueueGlobal, NoP)
	if after == q.global.tail {
		q.PutGlobal(g)
		return
	}
	a := &q.node[after]
	b := &q.node[a.next]
	if b.order-a.order < 2 {
		q.renumber()
	}
	q.node[g].order = a.order + (b.order-a.order)/2
	q.insert(&q.global, after, g, Place{Queue: QueueGlobal, P: NoP})
}

// renumber makes room between all that is in the global queue.
func (q *Queues) renumber() {
	q.first, q.last = 0, 0
	for x := q.global.head; x != None; x = q.node[x].next {
		q.last += orderStep
		q.node[x].order = q.last
	}
}

// Promote moves g to the head of its ring or of the global queue.
func (q *Queues) Promote(g int32) {
	pl := q.node[g].place()
	switch pl.Queue {
	case QueueGlobal:
		q.Remove(g)
		q.PutGlobalHead(g)
	case QueueLocal:
		q.Remove(g)
		q.InsertAfter(pl.P, None, g)
	}
}

// InsertAfter puts g into p's ring behind after, or at its head if after is
// None.
func (q *Queues) InsertAfter(p, after, g int32) {
	q.outside("InsertAfter", g)
	if after != None {
		q.inside("InsertAfter", after, QueueLocal, p)
	}
	q.insert(&q.local[p].ring, after, g, Place{Queue: QueueLocal, P: p})
}

// Remove removes g from wherever it is, if it is in a queue.
func (q *Queues) Remove(g int32) {
	n := &q.node[g]
	switch n.queue {
	case QueueRunnext:
		q.TakeRunnext(n.p)
	case QueueLocal:
		q.unlink(&q.local[n.p].ring, g)
	case QueueGlobal:
		q.unlink(&q.global, g)
	}
}

// insert puts g into a list behind after, or at its head if after is None.
func (q *Queues) insert(l *list, after, g int32, at Place) {
	n := &q.node[g]
	n.setPlace(at)
	n.prev = after
	if after == None {
		n.next, l.head = l.head, g
	} else {
		a := &q.node[after]
		n.next, a.next = a.next, g
	}
	if n.next == None {
		l.tail = g
	} else {
		q.node[n.next].prev = g
	}
	l.n++
	if q.hidden != 0 && n.hidden {
		l.hidden++
	}
}

func (q *Queues) unlink(l *list, g int32) {
	n := &q.node[g]
	if n.prev != None {
		q.node[n.prev].next = n.next
	} else {
		l.head = n.next
	}
	if n.next != None {
		q.node[n.next].prev = n.prev
	} else {
		l.tail = n.prev
	}
	n.next, n.prev = None, None
	n.setPlace(Place{})
	l.n--
	if n.hidden {
		l.hidden--
	}
}

// Check returns an error if a queue is not as long as its links say, or has a goroutine that is
// elsewhere: for tests, since it looks at all that is queued.
func (q *Queues) Check() error {
	queued := 0
	for p := range int32(len(q.local)) {
		if g := q.Runnext(p); g != None {
			queued++
			if q.Place(g) != (Place{QueueRunnext, p}) {
				return fmt.Errorf("the runnext of P %d is goroutine %d, which is in %v", p, g, q.Place(g))
			}
		}
		queued += q.RingLen(p)
		if err := q.check(&q.local[p].ring, Place{QueueLocal, p}); err != nil {
			return fmt.Errorf("the ring of P %d: %w", p, err)
		}
	}
	queued += q.GlobalLen()
	if err := q.check(&q.global, Place{QueueGlobal, NoP}); err != nil {
		return fmt.Errorf("the global queue: %w", err)
	}
	for g := q.global.head; g != None && q.Next(g) != None; g = q.Next(g) {
		if !q.AheadGlobal(g, q.Next(g)) {
			return fmt.Errorf("the global queue: the order of goroutines %d and %d is not that of their links", g, q.Next(g))
		}
	}
	for g := range q.node {
		if q.node[g].queue != QueueUnknown {
			queued--
		}
	}
	if queued != 0 {
		return fmt.Errorf("the queues have %d goroutines more than are queued", queued)
	}
	return nil
}

func (q *Queues) check(l *list, at Place) error {
	n, hidden, prev := 0, 0, None
	for g := l.head; g != None; g = q.Next(g) {
		if n++; n > l.n {
			return fmt.Errorf("more links than its length, %d", l.n)
		}
		if q.node[g].hidden {
			hidden++
		}
		if q.Place(g) != at || q.Prev(g) != prev {
			return fmt.Errorf("goroutine %d is in %v, behind %d; the links have it behind %d", g, q.Place(g), q.Prev(g), prev)
		}
		prev = g
	}
	if n != l.n || hidden != l.hidden || l.tail != prev {
		return fmt.Errorf("length %d, %d of it hidden, up to %d; the links have %d, %d, %d", l.n, l.hidden, l.tail, n, hidden, prev)
	}
	return nil
}

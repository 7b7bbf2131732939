package waits

import "math/bits"

// A queue keeps, for each class that waits in it, how many goroutines of that
// class do and the integral of that number over the service clock. So a run
// interval is charged to all goroutines that waited under it at the cost of one
// step per class, not per goroutine.
//
// Sixteen classes have a slot of their own, first come, first served, and keep
// it while one of them waits; further ones share slot 0 meanwhile. The last
// slots count user, self-inflicted and system waits.
const (
	slotOthers = 0
	numNamed   = 17
	slotKinds  = numNamed // + Kind
	numSlots   = slotKinds + int(numKinds)
)

// Kind selects the [Summary] of a [Result] in which a wait counts, besides All.
type Kind uint8

// The kinds of waits.
const (
	KindUser   Kind = iota // of the program's goroutines, except those in KindSelf: Result.User
	KindSelf               // of the program's goroutines, just after a call of runtime.Gosched: Result.Self
	KindSystem             // of the runtime's and the tracer's goroutines: Result.System
	numKinds
)

// integrals of the number of waiting goroutines, by slot.
type integrals [numSlots]int64

type queue struct {
	order order
	named int32 // slots in use
	len   int32
	used  slotSet   // slots whose gauge is good; others count no goroutine, and their integral is zero
	class [32]int32 // by slot, as slots
	last  [16]uint8 // the slot that a class with these low bits had last
	slots [32]gauge // the first numSlots; 32, so that an index that is masked needs no check
}

// slotSet is a set of slots, a bit for each.
type slotSet uint32

const kindSlots = slotSet(1<<numKinds-1) << slotKinds

// first is the first slot of a set that is not empty.
func (s slotSet) first() int { return bits.TrailingZeros32(uint32(s)) & 31 }

func (q *queue) init() { q.named = 1; q.class[slotOthers] = classOthers }

// Of a P's queue, only that P runs goroutines or is held while others wait in it. So
// the integrals are those since its present interval of either began, over the
// service clock if it runs one, over the time if it is held. Else they mean nothing.

// begin begins an interval, at x on its clock.
func (q *queue) begin(x int64) {
	if q.len == 0 {
		q.used = 0
		return
	}
	for s := q.used; s != 0; s &= s - 1 {
		g := &q.slots[s.first()]
		g.base = -g.n * x
	}
}

// count adds d goroutines to a slot and to their kind, at x on the clock. Both are in
// use.
func (q *queue) count(slot uint8, k Kind, d, x int64) {
	q.len += int32(d)
	q.slots[slot&31].add(d, x)
	q.slots[(slotKinds+k)&31].add(d, x)
}

// use puts a slot and that of a kind into use.
func (q *queue) use(slot uint8, k Kind) {
	if s := slotSet(1)<<(slot&31) | 1<<((slotKinds+k)&31); q.used&s != s {
		q.useNew(s)
	}
}

func (q *queue) useNew(s slotSet) {
	for u := s &^ q.used; u != 0; u &= u - 1 {
		q.slots[u.first()].base = 0
	}
	q.used |= s
}

// The global queue is served by all Ps at once, so its integrals are those since the
// beginning, over the service clock, and each P has a reading of them.

// read stores all integrals at service clock c.
func (q *queue) read(to *integrals, c int64) {
	for i := range q.named {
		to[i] = q.slots[i&31].at(c)
	}
	for i := slotKinds; i < numSlots; i++ {
		to[i] = q.slots[i].at(c)
	}
}

// A queueReading is what the integrals were when an interval began. As long as the
// queue stays empty they do not change, so then they are read only when the
// first goroutine comes, and never if none does. Most queues are empty most of
// the time.
type queueReading struct {
	at      integrals
	pending bool // q has been empty since, and is
}

// read notes all integrals at service clock c.
func (r *queueReading) read(q *queue, c int64) {
	if r.pending = q.len == 0; !r.pending {
		q.read(&r.at, c)
	}
}

// slotFor returns the slot of a class in queue qi, and gives it one if it can.
func (m *machine) slotFor(qi int32, q *queue, class int32) uint8 {
	if last := q.last[uint32(class)%16]; last != slotOthers && q.class[last&31] == class {
		return last
	}
	return m.findSlot(qi, q, class)
}

// findSlot is slotFor for a class whose slot is not at hand.
func (m *machine) findSlot(qi int32, q *queue, class int32) uint8 {
	free := int32(0)
	for i := int32(1); i < q.named; i++ {
		if q.class[i] == class {
			q.last[uint32(class)%16] = uint8(i)
			return uint8(i)
		}
		if q.slots[i&31].n == 0 {
			free = i
		}
	}
	switch {
	case q.named < numNamed:
		free = q.named
		q.named++
	case free == 0:
		return slotOthers
	default: // charge the run intervals in progress to the former class
		m.flushSlot(qi, q, int(free))
	}
	q.class[free], q.slots[free&31] = class, gauge{}
	if qi < 0 {
		for _, p := range m.procs { // its integral is zero, for the intervals that run, too
			p.poolAt.at[free] = 0
		}
		m.pool.stopped[free] = 0
	}
	return uint8(free)
}

// flushSlot charges the intervals that run now to one slot of queue qi.
func (m *machine) flushSlot(qi int32, q *queue, slot int) {
	c := m.clk.service()
	if qi >= 0 {
		p := m.procs[qi]
		if p.state == pRun {
			m.charge(q.class[slot], p.runClass, q.grown(&integrals{}, slot, c), false)
		}
		if p.hold != 0 {
			m.chargeHold(q.class[slot], p.hold, q.grown(&integrals{}, slot, m.now), false, p.stack)
		}
		return
	}
	for _, r := range m.running {
		p := r.p
		m.charge(q.class[slot], p.runClass, q.since(&p.poolAt, slot, c), true)
	}
	for _, p := range m.procs {
		if p.hold != 0 && p.usable {
			m.chargeHold(q.class[slot], p.hold, q.since(&p.poolAt, slot, c), true, p.stack)
		}
	}
	if m.mode == modeStopped {
		m.chargeHold(q.class[slot], culpritSTW|culprit(m.stwReason), m.pool.stopped[slot], false, 0)
	}
}

// since is the growth of a slot's integral since a reading.
func (q *queue) since(r *queueReading, slot int, c int64) int64 {
	if r.pending {
		return 0
	}
	return q.grown(&r.at, slot, c)
}

// grown is since for integrals.
func (q *queue) grown(at *integrals, slot int, c int64) int64 {
	if q.used>>slot&1 == 0 {
		return 0
	}
	return q.slots[slot&31].at(c) - at[slot]
}

// firstInPool reads what is pending of the global queue, which is empty now and will
// not be.
func (m *machine) firstInPool() {
	q := &m.pool.q
	for _, p := range m.poolPending {
		p.inPending = false
		if p.poolAt.pending {
			p.poolAt.pending = false
			q.read(&p.poolAt.at, 0)
			if p.state == pRun && p.usable && p.runPos == none {
				m.serve(p)
			}
		}
	}
	m.poolPending = m.poolPending[:0]
}

// readPool notes the integrals of the global queue for p.
func (m *machine) readPool(p *proc, c int64) {
	p.poolAt.read(&m.pool.q, c)
	if p.poolAt.pending && !p.inPending {
		p.inPending = true
		m.poolPending = append(m.poolPending, p)
	}
}

// creditPool charges a run interval of a class to all who waited in the global queue,
// which all usable Ps serve, so that one of them stands for its share only. since is
// what the integrals were when the interval began; it must not be pending.
func (m *machine) creditPool(since *queueReading, class int32, c int64) {
	q := &m.pool.q
	for i := range int(q.named) {
		if ns := q.slots[i&31].at(c) - since.at[i]; ns != 0 {
			m.charge(q.class[i&31], class, ns, true)
		}
	}
}

// longRun adds a run interval that was longer than a time slice to what waited under
// such ones.
func (a *accounts) longRun(q *queue, since *integrals, c int64, shared bool) {
	for i := range int(q.named) {
		a.classes[q.class[i&31]].long.add(q.grown(since, i, c), shared)
	}
	for k := range numKinds {
		a.totals[k].long.add(q.grown(since, slotKinds+int(k), c), shared)
	}
}

// pooled is a time of which a part is still to be divided by the number of Ps.
type pooled struct{ ns, shared int64 }

// cell is the waiting time of a class under a culprit.
type cell struct {
	pooled
	most  int64 // the most that was charged at once, and the stack then
	stack int32
}

func (p *pooled) add(ns int64, shared bool) {
	if shared {
		p.shared += ns
	} else {
		p.ns += ns
	}
}

func (p *pooled) fold(n int64) {
	p.ns += (p.shared + n/2) / n
	p.shared = 0
}

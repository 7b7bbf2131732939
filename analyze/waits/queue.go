package waits

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
	slotKinds  = numNamed // + waitKind
	numSlots   = slotKinds + int(numKinds)
)

// waitKind says in which totals a wait counts, besides that of all waits.
type waitKind uint8

const (
	kindUser waitKind = iota
	kindSelf
	kindSystem
	numKinds
)

// integrals of the number of waiting goroutines, by slot.
type integrals [numSlots]int64

type queue struct {
	order order
	named int32 // slots in use
	len   int32
	class [numNamed]int32
	last  [16]uint8 // the slot that a class with these low bits had last
	slots [numSlots]slot
}

// slot counts waiting goroutines.
type slot struct {
	n    int64
	base int64 // the integral at service clock c is base + n*c
	wall int64 // and over the time, at t, wall + n*t; for classes only
}

func (q *queue) init() { q.named = 1; q.class[slotOthers] = classOthers }

func (q *queue) integral(slot int, c int64) int64 {
	s := &q.slots[slot]
	return s.base + s.n*c
}

func (q *queue) wallIntegral(slot int, t int64) int64 {
	s := &q.slots[slot]
	return s.wall + s.n*t
}

// readWall stores the integrals over the time, at t, of all classes.
func (q *queue) readWall(to *integrals, t int64) {
	for i := range q.named {
		to[i] = q.wallIntegral(int(i), t)
	}
}

// read stores all integrals at service clock c.
func (q *queue) read(to *integrals, c int64) {
	for i := range q.named {
		to[i] = q.integral(int(i), c)
	}
	for i := slotKinds; i < numSlots; i++ {
		to[i] = q.integral(i, c)
	}
}

// A reading is what the integrals were when an interval began. As long as the
// queue stays empty they do not change, so then they are read only when the
// first goroutine comes, and never if none does. Most queues are empty most of
// the time.
type reading struct {
	at      integrals
	pending bool // q has been empty since
}

// read notes all integrals at service clock c.
func (r *reading) read(q *queue, c int64) {
	if r.pending = q.len == 0; !r.pending {
		q.read(&r.at, c)
	}
}

// readWall notes the integrals over the time, at t, of all classes.
func (r *reading) readWall(q *queue, t int64) {
	if r.pending = q.len == 0; !r.pending {
		q.readWall(&r.at, t)
	}
}

// count adds d goroutines to a slot and to their kind, at service clock c and
// time t.
func (q *queue) count(slot uint8, k waitKind, d, c, t int64) {
	q.len += int32(d)
	s := &q.slots[slot]
	s.n += d
	s.base -= d * c
	s.wall -= d * t
	s = &q.slots[slotKinds+int(k)]
	s.n += d
	s.base -= d * c
}

// slotFor returns the slot of a class in queue qi, and gives it one if it can.
func (a *Accumulator) slotFor(qi int32, q *queue, class int32) uint8 {
	last := &q.last[uint32(class)%16]
	if *last != slotOthers && q.class[*last] == class {
		return *last
	}
	free := int32(0)
	for i := int32(1); i < q.named; i++ {
		if q.class[i] == class {
			*last = uint8(i)
			return uint8(i)
		}
		if q.slots[i].n == 0 {
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
		a.flushSlot(qi, q, int(free))
	}
	q.class[free], q.slots[free] = class, slot{}
	a.startSlot(qi, int(free))
	return uint8(free)
}

// flushSlot charges the intervals that run now to one slot of queue qi.
func (a *Accumulator) flushSlot(qi int32, q *queue, slot int) {
	c := a.clk.service()
	if qi >= 0 {
		p := a.procs[qi]
		if p.state == pRun {
			a.charge(q.class[slot], p.runClass, q.since(&p.ownAt, slot, c), false)
		}
		if p.hold != 0 {
			a.chargeHold(q.class[slot], p.hold, q.wallSince(&p.heldAt, slot, a.now), false, p.unavailStack)
		}
		return
	}
	for _, r := range a.running {
		p := a.procs[r.p]
		a.charge(q.class[slot], p.runClass, q.since(&p.poolAt, slot, c), true)
	}
	for _, p := range a.procs {
		if p.hold != 0 && p.usable {
			a.chargeHold(q.class[slot], p.hold, q.since(&p.poolAt, slot, c), true, p.unavailStack)
		}
	}
	if a.mode == modeStopped {
		a.chargeHold(q.class[slot], culpritSTW|culprit(a.stwReason), q.wallIntegral(slot, a.now)-a.stoppedAt[slot], false, 0)
	}
}

// since is the growth of a slot's integral since a reading, wallSince that of the
// one over the time.
func (q *queue) since(r *reading, slot int, c int64) int64 {
	if r.pending {
		return 0
	}
	return q.integral(slot, c) - r.at[slot]
}

func (q *queue) wallSince(r *reading, slot int, t int64) int64 {
	if r.pending {
		return 0
	}
	return q.wallIntegral(slot, t) - r.at[slot]
}

// firstComes reads what is pending of queue qi, which is empty now and will not
// be.
func (a *Accumulator) firstComes(qi int32, q *queue) {
	if qi >= 0 {
		p := a.procs[qi]
		if p.ownAt.pending {
			p.ownAt.pending = false
			q.read(&p.ownAt.at, 0)
		}
		if p.heldAt.pending {
			p.heldAt.pending = false
			q.readWall(&p.heldAt.at, 0)
		}
		return
	}
	for _, pi := range a.poolPending {
		p := a.procs[pi]
		p.inPending = false
		if p.poolAt.pending {
			p.poolAt.pending = false
			q.read(&p.poolAt.at, 0)
			if p.state == pRun && p.usable && p.runPos == none {
				a.serve(pi, p)
			}
		}
	}
	a.poolPending = a.poolPending[:0]
}

// readPool notes the integrals of the global queue for p.
func (a *Accumulator) readPool(pi int32, p *proc, c int64) {
	p.poolAt.read(&a.pool.q, c)
	if p.poolAt.pending && !p.inPending {
		a.expectPool(pi, p)
	}
}

// expectPool notes that p's reading of the global queue is pending.
func (a *Accumulator) expectPool(pi int32, p *proc) {
	p.inPending = true
	a.poolPending = append(a.poolPending, pi)
}

// startSlot begins a slot, whose integral is zero, for the intervals that run.
func (a *Accumulator) startSlot(qi int32, slot int) {
	if qi >= 0 {
		a.procs[qi].ownAt.at[slot], a.procs[qi].heldAt.at[slot] = 0, 0
		return
	}
	for _, p := range a.procs {
		p.poolAt.at[slot] = 0
	}
	a.stoppedAt[slot] = 0
}

// credit charges a run interval of a class, which began when q's integrals were
// since, to all who waited in q. shared says that q is the global queue, which
// all usable Ps serve, so that one of them stands for its share only. since must
// not be pending.
func (a *Accumulator) credit(q *queue, since *reading, class int32, c int64, long, shared bool) {
	for i := range int(q.named) {
		ns := q.integral(i, c) - since.at[i]
		if ns == 0 {
			continue
		}
		a.charge(q.class[i], class, ns, shared)
		if long {
			a.classes[q.class[i]].long.add(ns, shared)
		}
	}
	if long {
		for k := range numKinds {
			i := slotKinds + int(k)
			a.totals[k].long.add(q.integral(i, c)-since.at[i], shared)
		}
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

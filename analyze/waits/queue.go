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
	root  int32 // treap of its waiting goroutines
	named int32 // slots in use
	class [numNamed]int32
	n     [numSlots]int64
	base  integrals // integral at service clock c is base + n*c
	wall  integrals // and over the time, at t, wall + n*t
}

func (q *queue) init() { q.named = 1; q.class[slotOthers] = classOthers }

func (q *queue) integral(slot int, c int64) int64 { return q.base[slot] + q.n[slot]*c }

func (q *queue) wallIntegral(slot int, t int64) int64 { return q.wall[slot] + q.n[slot]*t }

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

// count adds d goroutines to a slot and to their kind, at service clock c and
// time t.
func (q *queue) count(slot uint8, k waitKind, d, c, t int64) {
	q.n[slot] += d
	q.base[slot] -= d * c
	q.wall[slot] -= d * t
	q.n[slotKinds+int(k)] += d
	q.base[slotKinds+int(k)] -= d * c
}

// slotFor returns the slot of a class in queue qi, and gives it one if it can.
func (a *Accumulator) slotFor(qi int32, q *queue, class int32) uint8 {
	free := int32(0)
	for i := int32(1); i < q.named; i++ {
		if q.class[i] == class {
			return uint8(i)
		}
		if q.n[i] == 0 {
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
	q.class[free], q.n[free], q.base[free], q.wall[free] = class, 0, 0, 0
	a.startSlot(qi, int(free))
	return uint8(free)
}

// flushSlot charges the intervals that run now to one slot of queue qi.
func (a *Accumulator) flushSlot(qi int32, q *queue, slot int) {
	c := a.clk.service()
	if qi >= 0 {
		p := a.procs[qi]
		if p.state == pRun {
			a.charge(q.class[slot], p.runClass, q.integral(slot, c)-p.ownAt[slot], false)
		}
		if p.hold != 0 {
			a.chargeHold(q.class[slot], p.hold, q.wallIntegral(slot, a.now)-p.heldAt[slot], false, p.unavailStack)
		}
		return
	}
	for _, r := range a.running {
		p := a.procs[r.p]
		a.charge(q.class[slot], p.runClass, q.integral(slot, c)-p.poolAt[slot], true)
	}
	for _, p := range a.procs {
		if p.hold != 0 && p.usable {
			a.chargeHold(q.class[slot], p.hold, q.integral(slot, c)-p.poolAt[slot], true, p.unavailStack)
		}
	}
	if a.mode == modeStopped {
		a.chargeHold(q.class[slot], culpritSTW|culprit(a.stwReason), q.wallIntegral(slot, a.now)-a.stoppedAt[slot], false, 0)
	}
}

// startSlot begins a slot, whose integral is zero, for the intervals that run.
func (a *Accumulator) startSlot(qi int32, slot int) {
	if qi >= 0 {
		a.procs[qi].ownAt[slot], a.procs[qi].heldAt[slot] = 0, 0
		return
	}
	for _, p := range a.procs {
		p.poolAt[slot] = 0
	}
	a.stoppedAt[slot] = 0
}

// credit charges a run interval of a class, which began when q's integrals were
// since, to all who waited in q. shared says that q is the global queue, which
// all usable Ps serve, so that one of them stands for its share only.
func (a *Accumulator) credit(q *queue, since *integrals, class int32, c int64, long, shared bool) {
	for i := range int(q.named) {
		ns := q.integral(i, c) - since[i]
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
			a.totals[k].long.add(q.integral(i, c)-since[i], shared)
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

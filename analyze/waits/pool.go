package waits

import "math/bits"

// The global queue is served by all usable Ps together, so a goroutine in it
// waits for each of them by its share. pool sums up, over the usable Ps, the
// time in each state; the clock is that of service, since in the other modes
// the mode alone decides.
type pool struct {
	in  [8]gauge // Ps in each state
	all gauge    // usable Ps, those never seen included
	q   queue
	// While the world is stopped: the integral of those in q over the time since, by
	// class, without that of those who are in it now.
	stopped [numNamed]int64
}

// gauge is a number of Ps or of goroutines and its integral over the service clock,
// which is base + n*c at c.
type gauge struct{ n, base int64 }

func (l *gauge) add(d, c int64) {
	l.n += d
	l.base -= d * c
}

func (l *gauge) at(c int64) int64 { return l.base + l.n*c }

// poolMark is a time-stamp of the pool: P-ns by state, and the total. That of
// idle Ps is what the others leave of the total; it occurs only while the world
// is stopping. It is as long as shares, and takes their place in a mark.
type poolMark = shares

const poolTotal = numStates

// turn goes on from a state of a usable P to another, at service clock c.
func (b *pool) turn(from, to pstate, c int64) {
	was, is := &b.in[from&7], &b.in[to&7]
	was.n--
	was.base += c
	is.n++
	is.base -= c
}

func (b *pool) mark(m *poolMark, c int64) {
	for s := pUnavail; s < numStates; s++ {
		m[s] = b.in[s].at(c)
	}
	m[poolTotal] = b.all.at(c)
}

// serving is a usable P that runs a goroutine.
type serving struct {
	seq  int64
	from int64 // service clock
	p    *proc
}

// joinPool and leavePool begin and end the part of a usable P's state.
func (a *Accumulator) joinPool(p *proc) {
	c := a.clk.service()
	a.pool.in[p.state].add(1, c)
	if p.state != pIdle {
		a.busy++
	}
	if p.state == pRun {
		a.beginServing(p, c)
	}
}

// beginServing begins the part in the global queue of a run interval of p, which is
// usable. As long as that queue stays empty nobody needs to know; mostly it does.
func (a *Accumulator) beginServing(p *proc, c int64) {
	p.servesFrom = c
	if !p.poolAt.pending {
		a.readPool(p, c)
		if !p.poolAt.pending {
			a.serve(p)
		}
	}
}

// serve puts p among those that run.
func (a *Accumulator) serve(p *proc) {
	p.runPos = int32(len(a.running))
	a.running = append(a.running, serving{seq: p.runSeq, from: p.servesFrom, p: p})
}

func (a *Accumulator) leavePool(p *proc) {
	c := a.clk.service()
	a.pool.in[p.state].add(-1, c)
	if p.state != pIdle {
		a.busy--
	}
	if p.runPos != none {
		a.endServing(p, c)
	}
}

// endServing ends the part in the global queue of the run interval of p, which is in
// Accumulator.running.
func (a *Accumulator) endServing(p *proc, c int64) {
	r := a.running[p.runPos]
	if q := &a.pool.q; q.len > 0 {
		q.order.addBefore(a.nodes, r.seq, c-r.from)
	}
	if !p.poolAt.pending {
		a.creditPool(&p.poolAt, p.runClass, c)
		if a.now-p.runFrom > a.opt.SliceNs {
			a.longRun(&a.pool.q, &p.poolAt.at, c, true)
		}
	}
	last := len(a.running) - 1
	if int(p.runPos) != last {
		a.running[p.runPos] = a.running[last]
		a.running[p.runPos].p.runPos = p.runPos
	}
	a.running = a.running[:last]
	p.runPos = none
}

// foldPool divides what was charged so far by the number of usable Ps, which is
// about to change.
func (a *Accumulator) foldPool() {
	c := a.clk.service()
	for _, r := range a.running {
		p := r.p
		if !p.poolAt.pending {
			a.creditPool(&p.poolAt, p.runClass, c)
		}
		a.readPool(p, c)
	}
	for _, p := range a.procs {
		if p.hold != 0 && p.usable {
			if !p.poolAt.pending {
				a.creditPoolHold(p)
			}
			a.readPool(p, c)
		}
	}
	if a.usable <= 0 {
		return
	}
	for i := range a.cells {
		a.cells[i].fold(a.usable)
	}
	for i := range a.classes {
		a.classes[i].long.fold(a.usable)
	}
	for k := range a.totals {
		a.totals[k].long.fold(a.usable)
	}
}

// overtakenNow is the part of the runs in progress on all usable Ps that
// overtakes a goroutine ready at seq.
func (a *Accumulator) overtakenNow(seq int64) (ns int64) {
	c := a.clk.service()
	for i := range a.running {
		if r := &a.running[i]; r.seq > seq {
			ns += c - r.from
		}
	}
	return ns
}

// divide splits ns by weights, into whole ns that sum to it: each gets its part
// rounded down, and the largest remainders, the first among equals, get what is
// left. It reports false if the weights are no basis for that.
func divide(ns int64, weights *[numCauses]int64, to *[numCauses]int64) bool {
	var sum uint64
	for _, w := range weights {
		if w < 0 {
			return false
		}
		sum += uint64(w)
	}
	if sum == 0 || sum > 1<<63 || ns < 0 {
		return false
	}
	var rest [numCauses]uint64
	left := ns
	for i, w := range weights {
		if w == 0 {
			continue
		}
		hi, lo := bits.Mul64(uint64(ns), uint64(w))
		q, r := bits.Div64(hi, lo, sum)
		to[i] += int64(q)
		rest[i] = r
		left -= int64(q)
	}
	for ; left > 0; left-- {
		best := 0
		for i := range rest {
			if rest[i] > rest[best] {
				best = i
			}
		}
		to[best]++
		rest[best] = 0
	}
	return true
}

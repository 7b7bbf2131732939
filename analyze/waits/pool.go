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
func (m *machine) joinPool(p *proc) {
	c := m.clk.service()
	m.pool.in[p.state].add(1, c)
	if p.state != pIdle {
		m.busy++
	}
	if p.state == pRun {
		m.beginServing(p, c)
	}
}

// beginServing begins the part in the global queue of a run interval of p, which is
// usable. As long as that queue stays empty nobody needs to know; mostly it does.
func (m *machine) beginServing(p *proc, c int64) {
	p.servesFrom = c
	if !p.poolAt.pending {
		m.readPool(p, c)
		if !p.poolAt.pending {
			m.serve(p)
		}
	}
}

// serve puts p among those that run.
func (m *machine) serve(p *proc) {
	p.runPos = int32(len(m.running))
	m.running = append(m.running, serving{seq: p.runSeq, from: p.servesFrom, p: p})
}

func (m *machine) leavePool(p *proc) {
	c := m.clk.service()
	m.pool.in[p.state].add(-1, c)
	if p.state != pIdle {
		m.busy--
	}
	if p.runPos != none {
		m.endServing(p, c)
	}
}

// endServing ends the part in the global queue of the run interval of p, which is in
// Accumulator.running.
func (m *machine) endServing(p *proc, c int64) {
	r := m.running[p.runPos]
	if q := &m.pool.q; q.len > 0 {
		q.order.addBefore(m.nodes, r.seq, c-r.from)
	}
	if !p.poolAt.pending {
		m.creditPool(&p.poolAt, p.runClass, c)
		if m.now-p.runFrom > m.opt.SliceNs {
			m.longRun(&m.pool.q, &p.poolAt.at, c, true)
		}
	}
	last := len(m.running) - 1
	if int(p.runPos) != last {
		m.running[p.runPos] = m.running[last]
		m.running[p.runPos].p.runPos = p.runPos
	}
	m.running = m.running[:last]
	p.runPos = none
}

// foldPool divides what was charged so far by the number of usable Ps, which is
// about to change.
func (m *machine) foldPool() {
	c := m.clk.service()
	for _, r := range m.running {
		p := r.p
		if !p.poolAt.pending {
			m.creditPool(&p.poolAt, p.runClass, c)
		}
		m.readPool(p, c)
	}
	for _, p := range m.procs {
		if p.hold != 0 && p.usable {
			if !p.poolAt.pending {
				m.creditPoolHold(p)
			}
			m.readPool(p, c)
		}
	}
	if m.usable <= 0 {
		return
	}
	for i := range m.cells {
		m.cells[i].fold(m.usable)
	}
	m.eachLong(func(_ int, x *pooled) { x.fold(m.usable) })
}

// overtakenNow is the part of the runs in progress on all usable Ps that
// overtakes a goroutine ready at seq.
func (m *machine) overtakenNow(seq int64) (ns int64) {
	c := m.clk.service()
	for i := range m.running {
		if r := &m.running[i]; r.seq > seq {
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

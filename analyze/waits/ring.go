package waits

import "github.com/gmpscope/gmpscope/reference"

// stint is one interval of one P in one state, from its start to the next
// stint's start.
type stint struct {
	at     clocks // at its start
	seq    int64  // of the goroutine that it ran, if it ran one, or ran last
	g      int64
	class  int32         // index
	by     culprit       // why it ran no goroutine
	stack  int32         // of the last system call
	why    reference.Why // why its goroutine stopped
	state  pstate
	usable bool // P below GOMAXPROCS
}

// ring is a P's recent past. It serves two questions that reach back only a
// little: what happened while a P was being started, and who ran ahead of a
// goroutine that had one of the longest waits. The last stint is the current
// one.
type ring struct {
	buf  []stint
	next int64 // number of stints ever begun
	tell int64 // that number when stories have to be told next
	last int64 // time of the last one
}

// first is the number of the oldest stint that is kept.
func (r *ring) first() int64 { return max(0, r.next-int64(len(r.buf))) }

func (r *ring) stint(i int64) *stint { return &r.buf[i&int64(len(r.buf)-1)] }

const ringStart = 64 // stints; a power of two

// record begins a stint of p. A stint of length zero is overwritten.
func (a *Accumulator) record(p *proc) {
	r := &p.past
	begins := r.last != a.now
	if begins {
		if r.next == int64(len(r.buf)) {
			a.grow(r)
			if len(r.buf) == 0 {
				return
			}
		}
		r.last = a.now
		r.next++
	}
	s := r.stint(r.next - 1)
	a.clk.copyTo(&s.at)
	s.seq, s.g, s.class = p.runSeq, p.runG, p.runClass
	s.by, s.stack = p.hold, p.unavailStack
	s.why, s.state, s.usable = reference.WhyUnknown, p.state, p.usable
	if begins && r.next == r.tell {
		a.tellSoonLost(p)
	}
}

// tellSoonLost tells the stories that need a part of p's past that soon reaches back
// less than half a ring.
func (a *Accumulator) tellSoonLost(p *proc) {
	r, n := &p.past, int64(len(p.past.buf))
	if r.next == n {
		a.tellAhead(p.index, n) // all: with a longer ring they would reach back further
	} else {
		a.tellAhead(p.index, r.next+n/8-1-n/2)
	}
	r.tell += n / 8
}

// grow makes a ring that is full longer, if that is allowed.
func (a *Accumulator) grow(r *ring) {
	n := len(r.buf)
	if n >= a.opt.PastPerP || a.pastLen+max(n, ringStart) > a.opt.Past {
		return
	}
	grown := make([]stint, max(2*n, ringStart))
	copy(grown, r.buf)
	r.buf, r.tell = grown, int64(len(grown))
	a.pastLen += len(grown) - n
}

// lastWhy is why the last goroutine stopped, if it is among the last few stints.
func (r *ring) lastWhy() reference.Why {
	for i := r.next - 1; i >= max(r.first(), r.next-4); i-- {
		if t := r.stint(i); t.why != reference.WhyUnknown {
			return t.why
		}
	}
	return reference.WhyUnknown
}

// ended notes why goroutine gi, if p runs it, stops.
func (p *proc) ended(gi int32, why reference.Why) {
	if r := &p.past; p.runner == gi && r.next > 0 {
		r.stint(r.next - 1).why = why
	}
}

// window returns what a goroutine that waits, ready at seq, saw of p from the
// instant at until now: the time of p by share, and the part of the run time
// that goroutines had that became runnable later; of that, inPool is the part
// in which p was usable. Where the past does not reach back so far, it begins
// later. It costs a step for each stint in between.
func (a *Accumulator) window(p *proc, at *clocks, seq int64) (s shares, over, inPool int64) {
	end := &a.clk
	for i := p.past.next - 1; i >= p.past.first(); i-- {
		t := p.past.stint(i)
		from, last := &t.at, false
		if from.time() <= at.time() {
			from, last = at, true
		}
		s.add(t.state, from, end)
		if t.state == pRun && t.seq > seq {
			ns := end.service() - from.service()
			over += ns
			if t.usable {
				inPool += ns
			}
		}
		if last {
			break
		}
		end = from
	}
	return s, over, inPool
}

// ahead adds up who held p from a time on, back from stint last, at most for
// half of p's ring, in runs, intervals and holds. self and seq are the goroutine
// that waits. It returns the time from which on the account is complete.
func (a *Accumulator) ahead(p *proc, last, from, to, self, seq int64) int64 {
	a.runs, a.intervals, a.holds = a.runs[:0], a.intervals[:0], a.holds[:0]
	r := &p.past
	oldest := max(r.first(), last-int64(len(r.buf)/2)+1)
	end := to
	if last+1 < r.next {
		end = min(end, r.stint(last+1).at.time())
	}
	for i := last; i >= oldest; i-- {
		t := r.stint(i)
		begin := max(t.at.time(), from)
		if end > begin && t.g != self && t.state.running() {
			a.addRun(t.class, end-begin)
			a.intervals = append(a.intervals, interval{from: begin, to: end, g: t.g, class: t.class, why: t.why, later: t.seq > seq})
		}
		if end > begin && t.by != 0 {
			a.addHold(t.by, end-begin, t.stack)
		}
		end = min(end, t.at.time())
		if end <= from {
			return from
		}
	}
	return end
}

func (a *Accumulator) addRun(class int32, ns int64) {
	for i := range a.runs {
		if a.runs[i].class == class {
			a.runs[i].ns += ns
			a.runs[i].n++
			return
		}
	}
	a.runs = append(a.runs, run{class: class, ns: ns, n: 1})
}

func (a *Accumulator) addHold(by culprit, ns int64, stack int32) {
	for i := range a.holds {
		h := &a.holds[i]
		if h.by == by {
			h.ns += ns
			if ns > h.most {
				h.most, h.stack = ns, stack
			}
			return
		}
	}
	a.holds = append(a.holds, hold{by: by, ns: ns, most: ns, stack: stack})
}

// interval is a run interval.
type interval struct {
	from, to, g int64
	class       int32
	why         reference.Why // it ended; WhyUnknown: not yet
	later       bool          // its goroutine became runnable after the one that waits
}

// hold sums up the time under one culprit.
type hold struct {
	by       culprit
	stack    int32 // of the longest
	ns, most int64
}

// run sums up the run intervals of a class.
type run struct {
	class int32
	ns, n int64
}

// runState is the state of a P that runs a goroutine with these flags.
func runState(f reference.Flags) pstate {
	switch {
	case f&reference.FlagGC != 0:
		return pGC
	case f&reference.FlagTracer != 0:
		return pTracer
	}
	return pRun
}

package waits

import (
	"slices"

	"github.com/gmpscope/gmpscope/reference"
)

// pInterval is one interval of one P in one state, from its start to the next
// interval's start.
type pInterval struct {
	at       clocks        // at its start
	runSeq   int64         // of the goroutine that the P runs, if it runs one, or ran last
	runG     int64         // its id
	runClass int32         // index
	hold     culprit       // keeps the P from running anyone; 0: nothing that is shown
	stack    int32         // of the last system call
	why      reference.Why // its goroutine stopped; known of the past only
	state    pstate
	usable   bool // P below GOMAXPROCS
}

// ring is a P's recent past. It serves two questions that reach back only a little: what
// happened while a P was being started, and who ran ahead of a goroutine that
// had one of the longest waits. The last interval is the current one.
type ring struct {
	buf      []pInterval
	at       int   // of the last one, -1: there is none
	before   int64 // number of intervals in the rounds before this one
	lookUpAt int   // when waits have to be looked up next
	last     int64 // time of the last one
}

func (r *ring) init() { r.at, r.last = -1, -1 }

// next is the number of intervals ever begun.
func (r *ring) next() int64 { return r.before + int64(r.at) + 1 }

// first is the number of the oldest interval that is kept.
func (r *ring) first() int64 { return max(0, r.next()-int64(len(r.buf))) }

func (r *ring) interval(i int64) *pInterval { return &r.buf[i&int64(len(r.buf)-1)] }

const ringStart = 64 // intervals; a power of two

// record begins an interval of p. An interval of length zero is overwritten.
func (m *machine) record(p *proc) {
	r := &p.past
	at := r.at
	if r.last != m.now {
		if at++; at == len(r.buf) {
			at = m.nextRound(r)
		}
		r.at, r.last = at, m.now
	}
	if uint(at) >= uint(len(r.buf)) {
		return // there is no room for any
	}
	// OPT: one by one, as most were written just before: a wider load, of several at once,
	// would have to wait until those writes are through.
	s, clk := &r.buf[at], &m.clk
	s.at[0], s.at[1], s.at[2], s.at[3] = clk[0], clk[1], clk[2], clk[3]
	s.runSeq, s.runG, s.runClass, s.hold = p.runSeq, p.runG, p.runClass, p.hold
	s.stack, s.why, s.state, s.usable = p.stack, reference.WhyUnknown, p.state, p.usable
	if at == r.lookUpAt {
		m.lookUpSoonLost(p)
	}
}

// lookUpSoonLost looks up the waits that need a part of p's past that soon reaches back
// less than half a ring.
func (m *machine) lookUpSoonLost(p *proc) {
	r, n := &p.past, len(p.past.buf)
	if next := r.next(); next == int64(n) {
		m.worst.lookUp(m.procs, p.index, next) // all: with a longer ring they would reach back further
	} else {
		m.worst.lookUp(m.procs, p.index, next+int64(n/8-1-n/2))
	}
	r.lookUpAt = (r.lookUpAt + n/8) % n
}

// nextRound returns where the next interval goes in a ring that is full: behind the
// others if it may become longer, else at the begin, or nowhere.
func (m *machine) nextRound(r *ring) int {
	n := len(r.buf)
	if r.before > 0 || n >= m.opt.PastPerP || m.pastLen+max(n, ringStart) > m.opt.Past {
		r.before += int64(n)
		return min(0, n-1)
	}
	longer := max(2*n, ringStart)
	if cap(r.buf) < longer {
		// Room for the next two rounds, too, which then copy nothing.
		room := make([]pInterval, longer, max(longer, min(4*longer, m.opt.PastPerP)))
		copy(room, r.buf)
		r.buf = room
	}
	r.buf, r.lookUpAt = r.buf[:longer], longer-1
	m.pastLen += longer - n
	return n
}

// lastWhy is why the last goroutine stopped, if it is among the last few intervals.
func (r *ring) lastWhy() reference.Why {
	for i := r.next() - 1; i >= max(r.first(), r.next()-4); i-- {
		if t := r.interval(i); t.why != reference.WhyUnknown {
			return t.why
		}
	}
	return reference.WhyUnknown
}

// ended notes why the goroutine that runs stops.
func (r *ring) ended(why reference.Why) {
	if uint(r.at) < uint(len(r.buf)) {
		r.buf[r.at].why = why
	}
}

// window returns what a goroutine that waits, ready at seq, saw of p from the
// instant at until now: the time of p by share, and the part of the run time
// that goroutines had that became runnable later; of that, inPool is the part
// in which p was usable. Where the past does not reach back so far, it begins
// later. It costs a step for each interval in between.
func (c *clocks) window(p *proc, at *clocks, seq int64) (s shares, over, inPool int64) {
	end := c
	for i := p.past.next() - 1; i >= p.past.first(); i-- {
		t := p.past.interval(i)
		from, last := &t.at, false
		if from.time() <= at.time() {
			from, last = at, true
		}
		s.add(t.state, from, end)
		if t.state == pRun && t.runSeq > seq {
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

// sumAhead adds up who held p during a wait of a goroutine that was ready at seq, back from interval
// last, at most for half of p's ring. It returns the time from which on the account is complete.
func (a *ahead) sumAhead(p *proc, last int64, w *WaitDetail, seq int64) int64 {
	a.byClass, a.runs, a.holds = a.byClass[:0], a.runs[:0], a.holds[:0]
	r := &p.past
	oldest := max(r.first(), last-int64(len(r.buf)/2)+1)
	from, end := w.FromNs, w.ToNs
	if last+1 < r.next() {
		end = min(end, r.interval(last+1).at.time())
	}
	for i := last; i >= oldest; i-- {
		t := r.interval(i)
		begin := max(t.at.time(), from)
		if end > begin && t.runG != w.G && t.state.running() {
			run := Run{G: t.runG, Class: t.runClass, FromNs: begin, ToNs: end, Later: t.runSeq > seq}
			if t.why != reference.WhyUnknown {
				run.End = t.why.String()
			}
			a.addRun(run)
		}
		if end > begin && t.hold != 0 {
			a.addHold(t.hold, end-begin, t.stack)
		}
		end = min(end, t.at.time())
		if end <= from {
			return from
		}
	}
	return end
}

func (a *ahead) addRun(r Run) {
	a.runs = append(a.runs, r)
	i := slices.IndexFunc(a.byClass, func(x RanAhead) bool { return x.Class == r.Class })
	if i < 0 {
		i = len(a.byClass)
		a.byClass = append(a.byClass, RanAhead{Class: r.Class})
	}
	a.byClass[i].Ns += r.ns()
	a.byClass[i].Runs++
}

func (r *Run) ns() int64 { return r.ToNs - r.FromNs }

func (a *ahead) addHold(by culprit, ns int64, stack int32) {
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

// hold sums up the time under one culprit.
type hold struct {
	by       culprit
	stack    int32 // of the longest
	ns, most int64
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

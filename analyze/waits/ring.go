package waits

import "github.com/gmpscope/gmpscope/reference"

// stint is one interval of one P in one state, from its start to the next
// stint's start.
type stint struct {
	at     clocks // at its start
	seq    int64  // of its goroutine
	g      int64
	class  int32 // index
	state  pstate
	usable bool // P below GOMAXPROCS
}

// ring is a P's recent past. It serves two questions that reach back only a
// little: what happened while a P was being started, and who ran ahead of a
// goroutine that had one of the longest waits. The last stint is the current
// one.
type ring struct {
	buf   []stint
	next  int64 // number of stints ever begun
	since int64 // begun since the stories were last told
}

// first is the number of the oldest stint that is kept.
func (r *ring) first() int64 { return max(0, r.next-int64(len(r.buf))) }

func (r *ring) stint(i int64) *stint { return &r.buf[i&int64(len(r.buf)-1)] }

const ringStart = 64 // stints; a power of two

// record begins a stint of p. A stint of length zero is overwritten.
func (a *Accumulator) record(pi int32, p *proc) {
	r := &p.past
	s := stint{at: a.clk, state: p.state, usable: p.usable}
	if p.state == pRun || p.state == pGC || p.state == pTracer {
		s.seq, s.g, s.class = p.runSeq, p.runG, p.runClass
	}
	if r.next > 0 {
		if last := r.stint(r.next - 1); last.at == a.clk {
			*last = s
			return
		}
	}
	if n := len(r.buf); r.next == int64(n) && n < a.opt.PastPerP && a.pastLen+max(n, ringStart) <= a.opt.Past {
		grown := make([]stint, max(2*n, ringStart))
		copy(grown, r.buf)
		r.buf = grown
		a.pastLen += len(grown) - n
	}
	if len(r.buf) == 0 {
		return
	}
	*r.stint(r.next) = s
	r.next++
	if r.since++; r.since >= int64(len(r.buf)/2) {
		r.since = 0
		a.tellAhead(pi)
	}
}

// window returns what a goroutine that waits, ready at seq, saw of p from the
// instant at until now: the time of p by share, and the part of the run time
// that goroutines had that became runnable later; of that, inPool is the part
// in which p was usable. Where the past does not reach back so far, it begins
// later. It costs a step for each stint in between.
func (a *Accumulator) window(p *proc, at *clocks, seq int64) (s shares, over, inPool int64) {
	end := a.clk
	for i := p.past.next - 1; i >= p.past.first(); i-- {
		t := p.past.stint(i)
		from, last := &t.at, false
		if from.time() <= at.time() {
			from, last = at, true
		}
		d := end.minus(from)
		s.add(t.state, &d)
		if t.state == pRun && t.seq > seq {
			over += d.service()
			if t.usable {
				inPool += d.service()
			}
		}
		if last {
			break
		}
		end = *from
	}
	return s, over, inPool
}

// ahead adds up who held p from a time on, back from stint last, at most for
// half of p's ring. It returns the time from which on the account is complete.
func (a *Accumulator) ahead(p *proc, last, from, to, self int64) int64 {
	a.runs = a.runs[:0]
	r := &p.past
	oldest := max(r.first(), last-int64(len(r.buf)/2)+1)
	end := to
	if last+1 < r.next {
		end = min(end, r.stint(last+1).at.time())
	}
	for i := last; i >= oldest; i-- {
		t := r.stint(i)
		begin := max(t.at.time(), from)
		if end > begin && t.g != self && (t.state == pRun || t.state == pGC || t.state == pTracer) {
			a.addRun(t.class, end-begin)
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

package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/reference"
)

// workload is what is to be scheduled, with the clock and the account of the run:
// what Go's scheduler and ideal fair sharing have in common.
type workload struct {
	o      Options
	now    int64
	end    int64 // when the last thing happened
	events heap
	seq    uint64
	atOnce int // events in a row at one instant
	before int64

	gs    []gor
	freeG []int32
	auto  int64 // last ID given
	live  int

	load    Arrivals
	arrival Arrival // the next
	last    bool    // there is none

	netWaiters int // goroutines that wait for the network (netpollWaiters)
	sent       []packet

	pTime  int64 // of all Ps, up to when their number changed last
	pSince int64
	res    Result
	err    error

	ctx   context.Context
	steps int64 // taken; what is searched counts in part
	most  int64 // of them
	next  int64 // at so many ctx is looked at again
}

var errStuck = errors.New("no progress: the goroutines go on without using time")

// ErrTooLong reports that a run exceeded its budget of steps.
var ErrTooLong = errors.New("it takes more steps than are allowed for a trace of that size: its times may be damaged")

const (
	lookEvery  = 1 << 10 // steps between two looks at the context
	searched   = 16      // entries of a list that can be looked at in the time of a step
	stuckAfter = 1 << 22 // events that may happen at one instant
)

func newWorkload(o Options, load Arrivals) (*workload, error) {
	switch {
	case o.Procs < 1 || o.Procs > MaxProcs:
		return nil, fmt.Errorf("sim: %d Ps", o.Procs)
	case o.Policy.Rules.RingSize < 2:
		return nil, fmt.Errorf("sim: policy %q has no rules", o.Policy.Name)
	}
	w := &workload{o: o, load: load, gs: make([]gor, 1), before: -1, most: math.MaxInt64}
	w.res.Procs = o.Procs
	if o.Budget != nil {
		w.most = *o.Budget
	}
	return w, nil
}

// ended counts a step, and reports whether the run has to end, for which w.err is the reason.
func (w *workload) ended() bool {
	if w.steps++; w.steps >= w.next && w.err == nil {
		w.next = w.steps + lookEvery
		switch {
		case w.ctx.Err() != nil:
			w.err = w.ctx.Err()
		case w.steps > w.most:
			w.err = ErrTooLong
		}
	}
	return w.err != nil
}

// search counts a search through n entries.
func (w *workload) search(n int) { w.steps += int64(n / searched) }

// stuck counts an event, and reports whether too many have happened at this instant.
func (w *workload) stuck() bool {
	if w.now != w.before {
		w.before, w.atOnce = w.now, 0
		return false
	}
	w.atOnce++
	return w.atOnce > stuckAfter
}

func (w *workload) push(at int64, kind evKind, id int32, gen uint32) {
	w.seq++
	w.events.push(event{at: at, seq: w.seq, kind: kind, id: id, gen: gen})
}

// newG makes a goroutine that is in no state yet.
func (w *workload) newG(id int64, class int32, flags reference.Flags, script Script) int32 {
	g := int32(len(w.gs))
	if n := len(w.freeG); n > 0 {
		g, w.freeG = w.freeG[n-1], w.freeG[:n-1]
	} else {
		w.gs = append(w.gs, gor{})
	}
	if id == 0 {
		w.auto++
		id = w.auto
	}
	if p, ok := script.(*Program); ok {
		own := *p
		script = &own
	}
	w.gs[g] = gor{id: id, class: class, flags: flags, script: script, p: none, m: none, lockedM: none}
	w.live++
	w.res.Goroutines++
	w.res.MaxLive = max(w.res.MaxLive, w.live)
	w.class(class).Goroutines++
	return g
}

func (w *workload) endG(g int32) {
	w.live--
	w.gs[g] = gor{}
	w.freeG = append(w.freeG, g)
}

// class returns the account of a class.
func (w *workload) class(c int32) *Class {
	for int(c) >= len(w.res.Classes) {
		w.res.Classes = append(w.res.Classes, Class{})
	}
	return &w.res.Classes[c]
}

func (w *workload) nextArrival() {
	a, ok := w.load.Next()
	if !ok {
		w.arrival, w.last = Arrival{}, true
		return
	}
	w.arrival = a
	w.push(max(a.At, w.now), evArrival, 0, 0)
}

// waitq is a list of blocked goroutines, linked through gor.next.
type waitq struct{ head, tail int32 }

func (w *workload) enqueue(q *waitq, g int32) {
	w.gs[g].next = noG
	if q.tail != noG {
		w.gs[q.tail].next = g
	} else {
		q.head = g
	}
	q.tail = g
}

func (w *workload) dequeue(q *waitq) int32 {
	g := q.head
	if g != noG {
		q.head = w.gs[g].next
		if q.head == noG {
			q.tail = noG
		}
		w.gs[g].next = noG
	}
	return g
}

// transfer does g's send or receive. It returns the goroutine that this wakes,
// or noG, and whether g has to wait.
func (w *workload) transfer(g int32, c *Chan, send bool) (woken int32, blocks bool) {
	if send {
		if to := w.dequeue(&c.recv); to != noG {
			if c.network {
				w.netWaiters--
			}
			return to, false
		}
		if c.cap == Unlimited || c.n < c.cap {
			c.n++
			return noG, false
		}
		w.enqueue(&c.send, g)
		return noG, true
	}
	switch from := w.dequeue(&c.send); {
	case from != noG: // its value takes the place in the buffer, if there is one
		return from, false
	case c.n > 0:
		c.n--
		return noG, false
	}
	w.enqueue(&c.recv, g)
	if c.network {
		w.netWaiters++
	}
	return noG, true
}

// packet is a send under way through the network.
type packet struct {
	to *Chan // nil: a free place
	by int32 // thread that sent it
}

// transmit has thread m's send on a channel of the network arrive in ns.
func (w *workload) transmit(c *Chan, ns int64, m int32) {
	w.search(len(w.sent))
	i := slices.Index(w.sent, packet{})
	if i < 0 {
		i = len(w.sent)
		w.sent = append(w.sent, packet{})
	}
	w.sent[i] = packet{c, m}
	w.push(w.now+max(0, ns), evSent, int32(i), 0)
}

// arrived removes a packet from the network.
func (w *workload) arrived(i int32) packet {
	p := w.sent[i]
	w.sent[i] = packet{}
	return p
}

// emit emits a decision at the present time.
func (w *workload) emit(d *reference.Decision) {
	w.steps++
	d.Time = w.now
	d.Basis = reference.Known(reference.Observed, reference.RuleNone)
	w.o.Emit(d)
}

// emitProcs emits that there are n Ps from now on.
func (w *workload) emitProcs(n, global int) {
	if w.o.Emit != nil {
		w.emit(&reference.Decision{Kind: reference.KindProcs, G: reference.NoG, P: reference.NoP, M: reference.NoM, Batch: int32(n), Why: reference.WhyProcs, Global: int32(global)})
	}
}

// addPTime books the time of n Ps since their number changed last.
func (w *workload) addPTime(n int, at int64) {
	w.pTime += int64(n) * (at - w.pSince)
	w.pSince = at
}

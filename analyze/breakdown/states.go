package breakdown

import (
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/reference"
)

// state is what a goroutine does: one part of a [TimeByState].
type state uint8

const (
	unseen    state = iota // the goroutine has no record
	running                // on a P
	runnable               // waits for a P
	inSyscall              // with a P or without
	unknown
	blocked // the first of Reasons states: blocked + its Reason
)

// record is what is kept of a live goroutine. It has no pointers and 40 bytes: most
// goroutines block for one reason only, if at all, so that running and runnable time
// have a place of their own, and further states a list, of which the first entry is
// here.
type record struct {
	since    int64 // when it came into state
	running  int64
	runnable int64
	first    entry
	more     int32 // index in Accumulator.more, 0 for none
	state    state
}

// entry is the time in a state other than running and runnable: the state in the low 8
// bits, the time in ns above them. 0 is none.
type entry uint64

func entryOf(in state, ns int64) entry { return entry(ns)<<8 | entry(in) }

func (e entry) state() state { return state(e & 0xff) }
func (e entry) ns() int64    { return int64(e >> 8) }

// entries are further ones.
type entries struct {
	of   [3]entry
	next int32 // index, 0 for none
}

// turn books what the goroutine of a decision did until then.
func (a *Accumulator) turn(d *reference.Decision, n *ledger.Note) *record {
	a.now = max(a.now, min(d.Time, reference.MaxTime))
	r := a.gors.At(n.G)
	// OPT: the note is at hand where the record is not in the cache.
	if n.Was == ledger.Unseen {
		a.begins(r, d, n)
	} else if r.state == unknown {
		a.meet(r, d, n)
	}
	a.book(r, r.since, a.now)
	r.since, r.state = a.now, states[n.Now]
	if n.Now == ledger.Waiting {
		r.state = waits(d, n)
	}
	return r
}

// begins begins the record of a goroutine with its first decision.
func (a *Accumulator) begins(r *record, d *reference.Decision, n *ledger.Note) {
	r.since = a.begin
	if n.Now == ledger.Runnable && (d.Why == reference.WhyCreate || d.Why == reference.WhyCoroutine) {
		r.since = a.now
	}
	a.meet(r, d, n)
}

// meet goes on with the record of a goroutine of which nothing is known: its decision says
// what it did before.
func (a *Accumulator) meet(r *record, d *reference.Decision, n *ledger.Note) {
	was := before(d, n)
	if was != unknown && r.since < a.begin {
		r.state = unknown
		a.book(r, r.since, a.begin)
		r.since = a.begin
	}
	r.state = was
}

// before is what a goroutine did before its first decision.
func before(d *reference.Decision, n *ledger.Note) state {
	switch {
	case n.Changed&ledger.Returned != 0, n.Now == ledger.Runnable && d.Why == reference.WhySyscallExit:
		return inSyscall
	case n.Now == ledger.Runnable && d.Flags&reference.FlagFirst == 0:
		return blocked + state(ReasonUnrecorded)
	}
	return unknown
}

// book adds the interval [from, to) to what a goroutine has done, in its present state.
func (a *Accumulator) book(r *record, from, to int64) {
	switch ns := a.part.Within(from, to); {
	case ns == 0:
	case r.state == running:
		r.running += ns
	case r.state == runnable:
		r.runnable += ns
	case r.first.state() == r.state:
		r.first += entryOf(0, ns)
	default:
		a.bookFurther(r, ns)
	}
}

// bookFurther is book for a state that is not the first in the list.
func (a *Accumulator) bookFurther(r *record, ns int64) {
	if r.first == 0 {
		r.first = entryOf(r.state, ns)
		return
	}
	last := int32(0)
	for at := r.more; at != 0; at = a.more[at].next {
		if a.more[at].add(r.state, ns) {
			return
		}
		last = at
	}
	at := a.newEntries()
	a.more[at].add(r.state, ns)
	if last == 0 {
		r.more = at
	} else {
		a.more[last].next = at
	}
}

// add adds time in a state, and reports whether there was room for it.
func (e *entries) add(in state, ns int64) bool {
	for i := range e.of {
		switch e.of[i].state() {
		case in:
			e.of[i] += entryOf(0, ns)
			return true
		case unseen:
			e.of[i] = entryOf(in, ns)
			return true
		}
	}
	return false
}

// newEntries returns the index of entries that are empty.
func (a *Accumulator) newEntries() int32 {
	at := a.free
	if at == 0 {
		if len(a.more) == 0 {
			a.more = append(a.more, entries{})
		}
		a.more = append(a.more, entries{})
		return int32(len(a.more) - 1)
	}
	a.free = a.more[at].next
	a.more[at] = entries{}
	return at
}

// addTo adds what is booked of a goroutine to s.
func (a *Accumulator) addTo(s *TimeByState, r *record) {
	s.RunningNs += r.running
	s.RunnableNs += r.runnable
	if r.first != 0 {
		s.add(r.first.state(), r.first.ns())
	}
	for at := r.more; at != 0; at = a.more[at].next {
		for _, e := range a.more[at].of {
			if e != 0 {
				s.add(e.state(), e.ns())
			}
		}
	}
}

// lifetime is how long all that is booked of a goroutine took, ns. begun says that none of it
// lies before the stream, or in a gap.
func (a *Accumulator) lifetime(r *record) (ns int64, begun bool) {
	ns, begun = r.running+r.runnable+r.first.ns(), r.first.begun()
	for at := r.more; at != 0; at = a.more[at].next {
		for _, e := range a.more[at].of {
			ns += e.ns()
			begun = begun && e.begun()
		}
	}
	return ns, begun
}

// begun reports whether it is known what e is time of.
func (e entry) begun() bool {
	return e.state() != unknown && e.state() != blocked+state(ReasonUnrecorded) || e.ns() == 0
}

func (a *Accumulator) end(r *record) {
	for at := r.more; at != 0; {
		next := a.more[at].next
		a.more[at].next, a.free = a.free, at
		at = next
	}
	*r = record{}
}

// lose is for a gap in the trace. Those that ran or were runnable have been stopped; of
// the others nothing is known any more.
func (a *Accumulator) lose(d *reference.Decision) {
	a.now = max(a.now, min(d.Time, reference.MaxTime))
	for slot := range a.slots {
		if r := a.gors.At(slot); r.state != unseen {
			a.book(r, r.since, a.now)
			r.since, r.state = a.now, unknown
		}
	}
	a.begin = min(a.now+max(0, min(d.Wait, reference.MaxTime)), reference.MaxTime)
}

// states are those of the activities but ledger.Waiting.
var states = [...]state{ledger.Unseen: unseen, ledger.Runnable: runnable, ledger.Running: running, ledger.InSyscall: inSyscall}

// waits is the state of a goroutine that does nothing from a decision on.
func waits(d *reference.Decision, n *ledger.Note) state {
	switch {
	case n.Changed&ledger.Returned != 0, d.Why == reference.WhySyscall:
		return inSyscall
	case d.Why == reference.WhyBlock, d.Why == reference.WhySuspend, d.Why == reference.WhyCoroutine:
		return blocked + state(ReasonOf(d.Why, d.Reason))
	}
	return runnable // it is queued at once
}

package input

import (
	"bytes"
	"math"

	"github.com/gmpscope/gmpscope/analyze/wire"
)

// A Repaired is a trace of Go 1.21 or older without what the reader, which reads all or nothing of
// such a trace, would refuse.
type Repaired struct {
	Data            []byte       // the trace as a whole input for trace.NewReader
	Stacks, Strings wire.Entries // entries of the tables that were found and lost
	Lost            int64        // bytes of the trace that are not in Data
	Cut             bool         // the events end early: a P's next ones could not be read
	CutNames        int          // names behind the first damage that were longer than others may be
}

// resumeFactor bounds the search for where events go on: it ends when as many bytes and numbers as
// this, for each byte of the trace, were looked at. Traces damaged at random take less than one.
const resumeFactor = 16

// v1Args is how many numbers an event of the old format has, with its time and its stack.
var v1Args = [evCountV1]int{
	evBatchV1: 2, evFrequencyV1: 1, 4: 3, 5: 2, 6: 1, 7: 3, 8: 1, 9: 2, 10: 1, 11: 2, 12: 3, evGoCreateV1: 4, 14: 3, 15: 1, 16: 2,
	17: 2, 18: 2, 19: 2, 20: 2, 21: 4, 22: 2, 23: 2, 24: 2, 25: 2, 26: 2, 27: 2, 28: 2, evSysExitV1: 4, 30: 1, 31: 2, 32: 2, 33: 2,
	34: 2, evTimerGoroutineV1: 1, 36: 1, 38: 2, 39: 3, 40: 3, evGoStartLabelV1: 4, 42: 2, 43: 2, 44: 1, evTaskCreateV1: 5, 46: 3,
	evRegionV1: 5, evUserLogV1: 4, evCPUSampleV1: 5,
}

// v1Stacks are the events whose last number is a stack.
const v1Stacks uint64 = 1<<4 | 1<<7 | 1<<11 | 1<<evGoCreateV1 | 0x1fff<<16 | 1<<39 | 1<<42 | 1<<43 | 1<<evTaskCreateV1 | 1<<46 |
	1<<evRegionV1 | 1<<evUserLogV1 | 1<<evCPUSampleV1

// v1Names is which number of an event is a string; 0 is none.
var v1Names = [evCountV1]int{evGoStartLabelV1: 3, evTaskCreateV1: 3, evRegionV1: 3, evUserLogV1: 2}

// Repair returns a trace of Go 1.21 or older without what is damaged: entries of its tables,
// with what refers to them, and all that follows the first thing that is no event. It returns
// nil if the trace does not say how long a tick is, which the runtime writes after all events,
// or if there is too much to read.
func (g *Generation) Repair() *Repaired {
	data := g.Data
	r := &repairer{data: data, minor: g.minor, horizon: math.MaxUint64}
	r.each(r.learn)
	if r.clock == nil || r.events > g.maxEvents {
		return nil
	}
	r.out = append(make([]byte, 0, len(data)), data[:headerSize]...)
	r.each(r.copy)
	c := compactor{at: headerSize, ps: map[uint64]struct{}{}}
	r.out = c.compact(r.out) // up to the first damage that has been done
	if c.events > g.maxEvents || v1Steps*c.events*int64(len(c.ps)) > Steps(g.Stored) {
		return nil
	}
	return &Repaired{CutNames: c.long, Data: r.out, Stacks: r.stacks.Entries, Strings: r.strings.Entries, Lost: r.lost, Cut: r.horizon != math.MaxUint64}
}

type repairer struct {
	data    []byte
	minor   int
	events  int64
	clock   []byte // the event that tells the frequency: the last, as the runtime writes it behind all others
	horizon uint64 // ticks; events after it are left out

	stacks, strings table

	out  []byte
	lost int64
	at   uint64 // time of the last event of the present batch
	left int    // bytes and numbers that may still be looked at
}

// table is one that events refer to. Of the IDs of stacks, the reader takes 32 bits.
type table struct {
	wire.Entries
	raw map[uint64][]byte // the event of each; nil if several differ
}

func (t *table) learn(id uint64, raw []byte) {
	switch other, known := t.raw[id]; {
	case t.raw == nil:
		t.raw = map[uint64][]byte{id: raw}
	case !known:
		t.raw[id] = raw
	case !bytes.Equal(other, raw):
		t.raw[id] = nil
		t.Damaged++
	}
}

// each calls f with every event that the reader would read. Between two of them there may be bytes
// that are none, which f gets as an event of kind 0.
func (r *repairer) each(f func(e *eventV1)) {
	var e eventV1
	before := byte(0) // kind of the event before
	r.left = resumeFactor * len(r.data)
	for at := headerSize; at < len(r.data); {
		if r.read(&e, at) {
			f(&e)
			before = e.kind
			at += len(e.raw)
			continue
		}
		to := r.resume(at + 1)
		e = eventV1{raw: r.data[at:to], args: e.args[:0]}
		if before == evStackV1 && (to == len(r.data) || r.data[to] == evStackV1|3<<6) {
			e.kind = evStackV1 // amid the stacks there are no events
		}
		f(&e)
		at = to
	}
}

// read reads the event at a place, if there is one that the reader would take. An entry of the stack
// table that cannot be read has no numbers.
func (r *repairer) read(e *eventV1, at int) bool {
	kind := r.data[at] & 0x3f
	if kind == 0 || kind >= evCountV1 || kind == evCPUSampleV1 && r.minor < 19 {
		return false
	}
	v := e.read(r.data[at:])
	r.left -= 1 + len(e.args)
	if e.torn {
		e.args = e.args[:0]
	}
	switch want := v1Args[kind]; {
	case v != good, e.torn && kind != evStackV1, want > 0 && len(e.args) != want:
		return false
	case kind == evBatchV1:
		return !e.long && (e.args[0] <= math.MaxInt32 || e.args[0] == math.MaxUint64)
	}
	return true
}

// resume returns where events go on behind something that is none: at a batch or at an entry of the
// stack table, with others behind it; or else, or where it takes too long to find that, the end.
func (r *repairer) resume(at int) int {
	const enough = 8
	var e eventV1
	for ; at < len(r.data); at++ {
		r.left--
		if b := r.data[at]; b != evBatchV1|1<<6 && b != evStackV1|3<<6 {
			continue
		}
		if r.left < 0 {
			return len(r.data)
		}
		n := 0
		for to := at; n < enough; n++ {
			if to == len(r.data) {
				n = enough
				break
			}
			if !r.read(&e, to) || e.kind == evStackV1 && !soundStack(&e) {
				break
			}
			to += len(e.raw)
		}
		if n >= enough {
			return at
		}
	}
	return at
}

func soundStack(e *eventV1) bool {
	return len(e.args) >= 2 && e.args[0] != 0 && e.args[1] <= 1000 && uint64(len(e.args)) == 2+4*e.args[1]
}

// learn looks at the tables, and for how long the events hold.
func (r *repairer) learn(e *eventV1) {
	r.events++
	switch e.kind {
	case 0:
		r.horizon = min(r.horizon, r.at)
	case evBatchV1:
		r.at = e.args[1]
	case evFrequencyV1:
		if e.args[0] > 0 {
			r.clock = e.raw
		}
	case evStackV1:
		r.stacks.Found++
		if !soundStack(e) {
			r.stacks.Damaged++
		} else if e.args[1] > 0 { // else the reader does not know it afterwards
			r.stacks.learn(uint64(uint32(e.args[0])), e.raw)
		}
	case evStringV1:
		r.strings.Found++
		if e.args[0] == 0 || len(e.text) == 0 {
			r.strings.Damaged++
		} else {
			r.strings.learn(e.args[0], e.raw)
		}
	default:
		r.pass(e)
	}
}

// pass lets the time of an event pass, if it has one.
func (r *repairer) pass(e *eventV1) {
	if e.kind != evTimerGoroutineV1 && e.kind != evCPUSampleV1 {
		r.at += e.args[0]
	}
}

// copy copies what is sound of an event.
func (r *repairer) copy(e *eventV1) {
	changed := false
	none := func(i int, t *table, id uint64) {
		if e.args[i] != 0 && t.raw[id] == nil {
			t.Miss(e.args[i])
			e.args[i], changed = 0, true
		}
	}
	noString := func(i int) { none(i, &r.strings, e.args[i]) }
	noStack := func(i int) { none(i, &r.stacks, uint64(uint32(e.args[i]))) }
	keep := true
	switch e.kind {
	case 0:
		keep = false
	case evBatchV1:
		r.at = e.args[1]
	case evFrequencyV1:
		keep = &e.raw[0] == &r.clock[0]
	case evTimerGoroutineV1:
	case evStackV1:
		keep = soundStack(e) && (r.stacks.raw[uint64(uint32(e.args[0]))] != nil || e.args[1] == 0)
		for i := 3; keep && i < len(e.args); i += 4 {
			noString(i)
			noString(i + 1)
		}
	case evStringV1:
		first := r.strings.raw[e.args[0]]
		keep = first != nil && &first[0] == &e.raw[0] // the reader refuses another
	default:
		r.pass(e)
		keep = r.at <= r.horizon && (e.kind != evCPUSampleV1 || e.args[1] <= r.horizon)
		if v1Stacks>>e.kind&1 != 0 {
			noStack(len(e.args) - 1)
		}
		if e.kind == evGoCreateV1 {
			noStack(2)
		}
		if i := v1Names[e.kind]; i > 0 {
			noString(i)
		}
	}
	switch {
	case !keep:
		r.lost += int64(len(e.raw))
	case !changed:
		r.out = append(r.out, e.raw...)
	default:
		r.out = e.append(r.out)
	}
}

package stretch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/gmpscope/gmpscope/analyze/wire"
)

const headerSize = 16

const header = "go 1.26 trace\x00\x00\x00"

// goArg reports which argument of an event is a goroutine; 0: none.
var goArg = [256]int{
	wire.GoCreate: 1, wire.GoCreateSyscall: 1, wire.GoStart: 1, wire.GoUnblock: 1, wire.GoStatus: 1, wire.GCMarkAssistActive: 1,
	wire.GoSwitch: 1, wire.GoSwitchDestroy: 1, wire.GoCreateBlocked: 1, wire.GoStatusStack: 1,
}

const maxArgs = 5

// event is one event of a thread's batch.
type event struct {
	kind byte
	args [maxArgs]uint64
}

// batch is what one thread wrote in a row.
type batch struct {
	thread, time uint64 // time in ticks
	data         []byte
}

// generation is all batches between two ends of a generation.
type generation struct {
	number  uint64
	start   uint64 // earliest time of a batch, in ticks
	bytes   int
	batches []batch
}

// split cuts a trace into generations. They share its memory.
func split(trace []byte) ([]generation, error) {
	if len(trace) < headerSize || string(trace[:headerSize]) != header {
		return nil, errors.New("not a trace of Go 1.26 or newer")
	}
	var (
		gens []generation
		cur  = generation{start: math.MaxUint64}
		d    = decoder{rest: trace[headerSize:]}
	)
	for len(d.rest) > 0 {
		before := len(d.rest)
		switch kind := d.byte(); kind {
		case wire.EndOfGeneration:
			cur.bytes++
			gens = append(gens, cur)
			cur = generation{start: math.MaxUint64}
			continue
		case wire.EventBatch:
		default:
			return nil, fmt.Errorf("event type %d where a batch must begin", kind)
		}
		cur.number = d.uvarint()
		b := batch{thread: d.uvarint(), time: d.uvarint()}
		b.data = d.take(d.uvarint())
		if d.bad {
			return nil, errors.New("a batch is cut short")
		}
		cur.start = min(cur.start, b.time)
		cur.batches = append(cur.batches, b)
		cur.bytes += before - len(d.rest)
	}
	if len(cur.batches) > 0 {
		return nil, errors.New("the last generation has no end")
	}
	return gens, nil
}

// ofThread reports whether b holds a thread's events, rather than a table or the
// clock.
func (b *batch) ofThread() bool {
	return len(b.data) == 0 || wire.TimedArgs[b.data[0]] > 0
}

// events calls f for each event of a thread's batch.
func (b *batch) events(f func(event)) error {
	d := decoder{rest: b.data}
	for len(d.rest) > 0 {
		e := event{kind: d.byte()}
		if wire.TimedArgs[e.kind] == 0 {
			return fmt.Errorf("event type %d in a batch of events", e.kind)
		}
		for i := range wire.TimedArgs[e.kind] {
			e.args[i] = d.uvarint()
		}
		if d.bad {
			return fmt.Errorf("an event of type %d is cut short", e.kind)
		}
		f(e)
	}
	return nil
}

// decoder reads numbers; bad says that they ended too early.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) byte() byte { return d.take(1)[0] }

func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.rest)) {
		d.bad, d.rest = true, nil
		return []byte{0}
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) uvarint() uint64 {
	x, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.bad, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[n:]
	return x
}

// appendBatch appends a batch of generation gen.
func appendBatch(to []byte, gen, thread, time uint64, data []byte) []byte {
	to = append(to, wire.EventBatch)
	for _, x := range []uint64{gen, thread, time, uint64(len(data))} {
		to = binary.AppendUvarint(to, x)
	}
	return append(to, data...)
}

// appendEvent appends an event of a thread's batch.
func appendEvent(to []byte, e event) []byte {
	to = append(to, e.kind)
	for _, x := range e.args[:wire.TimedArgs[e.kind]] {
		to = binary.AppendUvarint(to, x)
	}
	return to
}

// clock is what the sync batch of a generation says.
type clock struct {
	frequency            uint64 // ticks a second
	delay                uint64 // ticks from the batch's time to the snapshot
	mono, seconds, nanos uint64 // the snapshot: monotonic ns, and wall clock
}

func (b *batch) clock() (clock, error) {
	d := decoder{rest: b.data[1:]}
	var c clock
	if d.byte() == wire.Frequency {
		c.frequency = d.uvarint()
	}
	if d.byte() == wire.ClockSnapshot {
		c.delay, c.mono, c.seconds, c.nanos = d.uvarint(), d.uvarint(), d.uvarint(), d.uvarint()
	}
	if d.bad || len(d.rest) > 0 || c.frequency == 0 || c.seconds == 0 {
		return c, errors.New("a sync batch that is not understood")
	}
	return c, nil
}

func (c clock) append(to []byte) []byte {
	to = append(to, wire.Sync, wire.Frequency)
	to = binary.AppendUvarint(to, c.frequency)
	to = append(to, wire.ClockSnapshot)
	for _, x := range []uint64{c.delay, c.mono, c.seconds, c.nanos} {
		to = binary.AppendUvarint(to, x)
	}
	return to
}

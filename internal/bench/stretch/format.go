package stretch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Numbers of the trace format (internal/trace/tracev2, Go 1.26).
const (
	evEventBatch      = 1
	evStacks          = 2
	evStrings         = 4
	evCPUSamples      = 6
	evFrequency       = 8
	evGoCreate        = 14
	evGoCreateSyscall = 15
	evGCActive        = 28
	evGCBegin         = 29
	evGCEnd           = 30
	evGoCreateBlocked = 47
	evSync            = 50
	evClockSnapshot   = 51
	evEndOfGeneration = 52

	headerSize   = 16
	maxBatchSize = 64 << 10 // tracev2.MaxBatchSize
)

const header = "go 1.26 trace\x00\x00\x00"

// shape is how an event is written: how many numbers follow its type, the first
// of which is always the time since the event before, and which of them is a
// goroutine's (0: none).
type shape struct{ args, g int }

// shapes is indexed by event type; a shape without numbers is no event that
// stands in a thread's batch.
var shapes = [...]shape{
	9: {3, 0}, 10: {3, 0}, 11: {1, 0}, 12: {4, 0}, 13: {3, 0}, // ProcsChange, ProcStart, ProcStop, ProcSteal, ProcStatus
	14: {4, 1}, 15: {2, 1}, 16: {3, 1}, 17: {1, 0}, 18: {1, 0}, // GoCreate, GoCreateSyscall, GoStart, GoDestroy, GoDestroySyscall
	19: {3, 0}, 20: {3, 0}, 21: {4, 1}, // GoStop, GoBlock, GoUnblock
	22: {3, 0}, 23: {1, 0}, 24: {1, 0}, 25: {4, 1}, // GoSyscallBegin, GoSyscallEnd, GoSyscallEndBlocked, GoStatus
	26: {3, 0}, 27: {1, 0}, // STWBegin, STWEnd
	28: {2, 0}, 29: {3, 0}, 30: {2, 0}, // GCActive, GCBegin, GCEnd
	31: {2, 0}, 32: {2, 0}, 33: {3, 0}, // GCSweepActive, GCSweepBegin, GCSweepEnd
	34: {2, 1}, 35: {2, 0}, 36: {1, 0}, // GCMarkAssistActive, GCMarkAssistBegin, GCMarkAssistEnd
	37: {2, 0}, 38: {2, 0}, // HeapAlloc, HeapGoal
	39: {2, 0}, 40: {5, 0}, 41: {3, 0}, 42: {4, 0}, 43: {4, 0}, 44: {5, 0}, // GoLabel, UserTaskBegin, UserTaskEnd, UserRegionBegin, UserRegionEnd, UserLog
	45: {3, 1}, 46: {3, 1}, 47: {4, 1}, 48: {5, 1}, // GoSwitch, GoSwitchDestroy, GoCreateBlocked, GoStatusStack
}

const maxArgs = 5

func hasShape(kind byte) bool { return int(kind) < len(shapes) && shapes[kind].args > 0 }

// event is one event of a thread's batch.
type event struct {
	kind byte
	args [maxArgs]uint64
}

// shape returns how e is written.
func (e *event) shape() shape { return shapes[e.kind] }

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
		case evEndOfGeneration:
			cur.bytes++
			gens = append(gens, cur)
			cur = generation{start: math.MaxUint64}
			continue
		case evEventBatch:
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

// ofThread says whether b holds a thread's events, rather than a table or the
// clock.
func (b *batch) ofThread() bool {
	return len(b.data) == 0 || hasShape(b.data[0])
}

// events calls f for each event of a thread's batch.
func (b *batch) events(f func(event)) error {
	d := decoder{rest: b.data}
	for len(d.rest) > 0 {
		e := event{kind: d.byte()}
		if !hasShape(e.kind) {
			return fmt.Errorf("event type %d in a batch of events", e.kind)
		}
		for i := range e.shape().args {
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
	to = append(to, evEventBatch)
	for _, x := range []uint64{gen, thread, time, uint64(len(data))} {
		to = binary.AppendUvarint(to, x)
	}
	return append(to, data...)
}

// appendEvent appends an event of a thread's batch.
func appendEvent(to []byte, e event) []byte {
	to = append(to, e.kind)
	for _, x := range e.args[:e.shape().args] {
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
	if d.byte() == evFrequency {
		c.frequency = d.uvarint()
	}
	if d.byte() == evClockSnapshot {
		c.delay, c.mono, c.seconds, c.nanos = d.uvarint(), d.uvarint(), d.uvarint(), d.uvarint()
	}
	if d.bad || len(d.rest) > 0 || c.frequency == 0 || c.seconds == 0 {
		return c, errors.New("a sync batch that is not understood")
	}
	return c, nil
}

func (c clock) append(to []byte) []byte {
	to = append(to, evSync, evFrequency)
	to = binary.AppendUvarint(to, c.frequency)
	to = append(to, evClockSnapshot)
	for _, x := range []uint64{c.delay, c.mono, c.seconds, c.nanos} {
		to = binary.AppendUvarint(to, x)
	}
	return to
}

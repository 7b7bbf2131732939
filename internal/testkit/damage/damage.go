// Package damage answers: what does a trace look like to which something bad
// happened? It takes traces of all formats apart into batches and events, and
// puts them together again with pieces missing, out of order, or made up. It
// serves tests.
package damage

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/wire"
)

// headerSize is the length of the header that every trace begins with.
const headerSize = 16

// Trace is a trace that was taken apart.
type Trace struct {
	Minor  int // of "go 1.NN trace"
	Blocks []Block
	Tail   []byte // what could not be taken apart
}

// Block is a batch with its header, or, from Go 1.26 on, the marker that ends a
// generation. In the format before Go 1.22 it is an EvBatch event with what
// follows it.
type Block struct {
	Kind byte // type of the event that begins it: wire.EventBatch, wire.ExperimentalBatch, wire.EndOfGeneration or evBatchV1
	Exp  byte // number of the experiment, of a wire.ExperimentalBatch
	// Gen is the number of the generation, M the ID of the thread, as the header has them.
	Gen, M  uint64
	Time    uint64 // of the header, in ticks of the trace's clock
	Size    int    // added to the size that is written
	Events  []Event
	Rest    []byte // what follows the last event that could be read
	wasSize int    // as it was read; for numbers that are padded
}

// Event is an event of a trace, or an entry of one of its tables, taken apart.
type Event struct {
	Kind byte     // in the format before Go 1.22 without the two bits that count the arguments
	Args []uint64 // in the order of the format
	Text []byte   // of a string, and of a log before Go 1.22
	bits byte     // those two bits, where they do not follow from Args
	long int      // bytes of the length of the arguments, before Go 1.22
	wide bool     // write the arguments as ten bytes each
}

// V1 reports whether the format is that before Go 1.22.
func (t *Trace) V1() bool { return t.Minor < 22 }

// Parse parses an uncompressed trace. It panics if the header is none:
// it is given traces of ours.
func Parse(b []byte) *Trace {
	t := &Trace{}
	if _, err := fmt.Sscanf(string(b[:headerSize]), "go 1.%d trace", &t.Minor); err != nil {
		panic(err)
	}
	r := &cursor{b: b[headerSize:]}
	for len(r.b) > 0 {
		before := r.b
		var blk Block
		if t.V1() {
			blk = r.blockV1()
		} else {
			blk = r.block()
		}
		if r.bad {
			t.Tail = slices.Clone(before)
			break
		}
		t.Blocks = append(t.Blocks, blk)
	}
	return t
}

// Bytes puts the trace together again.
func (t *Trace) Bytes() []byte { return t.bytes(math.MaxInt) }

// bytes leaves out the batches that begin behind that many bytes.
func (t *Trace) bytes(most int) []byte {
	b := make([]byte, headerSize, 1<<16)
	copy(b, fmt.Sprintf("go 1.%d trace", t.Minor))
	for i := range t.Blocks {
		if len(b) > most {
			break
		}
		if t.V1() {
			b = t.Blocks[i].appendV1(b)
		} else {
			b = t.Blocks[i].append(b)
		}
	}
	return append(b, t.Tail...)
}

// Data returns from where to where in Bytes the data stands of the batches that begin with an event
// of this kind, in the formats since Go 1.22.
func (t *Trace) Data(kind byte) (parts [][2]int) {
	at := headerSize
	for i := range t.Blocks {
		blk := &t.Blocks[i]
		at += len(blk.append(nil))
		if len(blk.Events) > 0 && blk.Events[0].Kind == kind {
			parts = append(parts, [2]int{at - len(blk.data()), at})
		}
	}
	return parts
}

// Strings calls f with every text in the trace, which it may change: names of
// functions and files, reasons, names of tasks, regions and logs.
func (t *Trace) Strings(f func(string) string) {
	for i := range t.Blocks {
		for j := range t.Blocks[i].Events {
			if e := &t.Blocks[i].Events[j]; e.Text != nil {
				e.Text = []byte(f(string(e.Text)))
			}
		}
	}
}

// inBatch is the number of arguments of what stands in a batch and is no event of
// a thread: entries of tables, and what begins or ends them.
var inBatch = map[byte]int{
	wire.Stacks: 0, wire.Stack: 2, wire.Strings: 0, wire.String: 1, wire.CPUSamples: 0, wire.CPUSample: 5,
	wire.Frequency: 1, wire.Sync: 0, wire.ClockSnapshot: 4,
}

// cursor reads what the runtime wrote.
type cursor struct {
	b   []byte
	bad bool
}

func (r *cursor) byte() byte {
	if len(r.b) == 0 {
		r.bad = true
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *cursor) uvarint() uint64 {
	x, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return x
}

func (r *cursor) bytes(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.bad = true
		return nil
	}
	p := r.b[:n:n]
	r.b = r.b[n:]
	return p
}

func (r *cursor) block() Block {
	blk := Block{Kind: r.byte()}
	switch blk.Kind {
	case wire.EndOfGeneration:
		return blk
	case wire.ExperimentalBatch:
		blk.Exp = r.byte()
	case wire.EventBatch:
	default:
		r.bad = true
		return blk
	}
	blk.Gen, blk.M, blk.Time = r.uvarint(), r.uvarint(), r.uvarint()
	before := len(r.b)
	size := r.uvarint()
	blk.wasSize = before - len(r.b)
	data := &cursor{b: r.bytes(size)}
	if blk.Kind == wire.ExperimentalBatch {
		blk.Rest = data.b
		return blk
	}
	for len(data.b) > 0 {
		at := data.b
		e := data.event()
		if data.bad {
			blk.Rest = at
			break
		}
		blk.Events = append(blk.Events, e)
	}
	return blk
}

func (r *cursor) event() Event {
	e := Event{Kind: r.byte()}
	n, ok := inBatch[e.Kind]
	if timed := int(wire.TimedArgs[e.Kind]); timed > 0 {
		n, ok = timed, true
	}
	if !ok {
		r.bad = true
		return e
	}
	for range n {
		e.Args = append(e.Args, r.uvarint())
	}
	switch e.Kind {
	case wire.Stack:
		for n := e.Args[1] * 4; n > 0 && !r.bad; n-- {
			e.Args = append(e.Args, r.uvarint())
		}
	case wire.String:
		e.Text = r.bytes(r.uvarint())
	}
	return e
}

func (blk *Block) append(b []byte) []byte {
	b = append(b, blk.Kind)
	if blk.Kind == wire.EndOfGeneration {
		return b
	}
	if blk.Kind == wire.ExperimentalBatch {
		b = append(b, blk.Exp)
	}
	for _, x := range []uint64{blk.Gen, blk.M, blk.Time} {
		b = binary.AppendUvarint(b, x)
	}
	data := blk.data()
	b = appendPadded(b, uint64(len(data)+blk.Size), blk.wasSize)
	return append(b, data...)
}

// data is what stands behind the header.
func (blk *Block) data() []byte {
	var data []byte
	for i := range blk.Events {
		e := &blk.Events[i]
		data = e.appendArgs(append(data, e.Kind))
		if e.Text != nil {
			data = append(binary.AppendUvarint(data, uint64(len(e.Text))), e.Text...)
		}
	}
	return append(data, blk.Rest...)
}

// appendArgs appends the arguments. The runtime writes each in as few bytes as
// it takes.
func (e *Event) appendArgs(b []byte) []byte {
	for _, x := range e.Args {
		if e.wide {
			b = appendPadded(b, x, binary.MaxVarintLen64)
		} else {
			b = binary.AppendUvarint(b, x)
		}
	}
	return b
}

// appendPadded appends x as at least n bytes.
func appendPadded(b []byte, x uint64, n int) []byte {
	for i := 1; i < n || x >= 0x80; i++ {
		b = append(b, byte(x)|0x80)
		x >>= 7
	}
	return append(b, byte(x))
}

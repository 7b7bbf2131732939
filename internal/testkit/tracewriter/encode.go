package tracewriter

import (
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/wire"
)

// noThread is the thread of what no thread wrote.
const noThread = ^uint64(0)

// second is a second in ticks. A tick is a ns: readers order by ns.
const second = 1_000_000_000

// Encoder writes generations: batches of threads, and tables. NewEncoder, then for each
// generation Begin, its events and End.
type Encoder struct {
	w       io.Writer
	err     error
	format  int
	gen     uint64
	last    uint64 // tick of the last event
	batches map[int64]*batch
	strings table
	stacks  table
	pcs     uint64
}

// batch is the events of a thread that were not written yet.
type batch struct {
	start, last uint64
	data        []byte
}

// table is strings or stacks, by name.
type table struct {
	ids     map[string]uint64
	entries [][]byte
}

func (t *table) reset() { *t = table{ids: map[string]uint64{}} }

// NewEncoder returns an Encoder of the format go 1.format.
func NewEncoder(w io.Writer, format int) *Encoder {
	e := &Encoder{w: w, format: format, last: 1} // time 0 is none
	e.write(fmt.Appendf(nil, "go 1.%d trace\x00\x00\x00", format))
	return e
}

// Err returns the first error of the writer.
func (e *Encoder) Err() error { return e.err }

// Generation returns the number of the present generation.
func (e *Encoder) Generation() uint64 { return e.gen }

func (e *Encoder) write(p []byte) {
	if e.err == nil {
		_, e.err = e.w.Write(p)
	}
}

// Begin begins a generation, with its clock.
func (e *Encoder) Begin() {
	e.gen++
	e.batches = map[int64]*batch{}
	e.strings.reset()
	e.stacks.reset()
	e.pcs = 0
	e.String("") // the table of strings comes last, and before Go 1.26 nothing else marks the end
	frequency := binary.AppendUvarint([]byte{wire.Frequency}, second)
	if e.format < 25 {
		e.batch(noThread, e.last, frequency)
		return
	}
	sync := append([]byte{wire.Sync}, frequency...)
	sync = append(sync, wire.ClockSnapshot)
	for _, x := range []uint64{0, e.last, 1_700_000_000, 0} { // since the batch, monotonic, wall s, ns
		sync = binary.AppendUvarint(sync, x)
	}
	e.batch(noThread, e.last, sync)
}

// End ends a generation: what is left of the threads, then the tables.
func (e *Encoder) End() {
	for _, m := range slices.Sorted(maps.Keys(e.batches)) {
		e.flush(m)
	}
	e.table(wire.Stacks, e.stacks.entries)
	e.table(wire.Strings, e.strings.entries)
	if e.format >= 26 {
		e.write([]byte{wire.EndOfGeneration})
	}
}

func (e *Encoder) table(kind byte, entries [][]byte) {
	data := []byte{kind}
	for i, x := range entries {
		data = append(data, x...)
		if i == len(entries)-1 || len(data)+len(entries[i+1]) > wire.MaxBatchSize {
			e.batch(noThread, e.last, data)
			data = []byte{kind}
		}
	}
}

func (e *Encoder) batch(m, at uint64, data []byte) {
	head := []byte{wire.EventBatch}
	for _, x := range []uint64{e.gen, m, at, uint64(len(data))} {
		head = binary.AppendUvarint(head, x)
	}
	e.write(head)
	e.write(data)
}

// Event appends an event to those of a thread, at a time in ns, but after all
// others.
func (e *Encoder) Event(m, at int64, kind byte, args ...uint64) {
	const most = 64 // bytes of an event
	e.last = max(e.last+1, uint64(at)+1)
	b := e.batches[m]
	if b == nil {
		b = &batch{}
		e.batches[m] = b
	}
	if len(b.data)+most > wire.MaxBatchSize {
		e.flush(m)
	}
	if len(b.data) == 0 {
		b.start, b.last = e.last-1, e.last-1
	}
	b.data = binary.AppendUvarint(append(b.data, kind), e.last-b.last)
	b.last = e.last
	for _, x := range args {
		b.data = binary.AppendUvarint(b.data, x)
	}
}

func (e *Encoder) flush(m int64) {
	if b := e.batches[m]; len(b.data) > 0 {
		e.batch(uint64(m), b.start, b.data)
		b.data = b.data[:0]
	}
}

// String returns the number of a string in this generation.
func (e *Encoder) String(s string) uint64 {
	return e.strings.id(s, func(id uint64) []byte {
		x := binary.AppendUvarint([]byte{wire.String}, id)
		return append(binary.AppendUvarint(x, uint64(len(s))), s...)
	})
}

// Stack returns the number of a stack of these functions, the innermost first, in this generation.
func (e *Encoder) Stack(functions ...string) uint64 {
	file := e.String("simulated.go")
	return e.stacks.id(strings.Join(functions, "\n"), func(id uint64) []byte {
		x := binary.AppendUvarint([]byte{wire.Stack}, id)
		x = binary.AppendUvarint(x, uint64(len(functions)))
		for _, fn := range functions {
			e.pcs++
			for _, v := range []uint64{e.pcs, e.String(fn), file, 1} { // pc, function, file, line
				x = binary.AppendUvarint(x, v)
			}
		}
		return x
	})
}

func (t *table) id(name string, entry func(id uint64) []byte) uint64 {
	id, ok := t.ids[name]
	if !ok {
		id = uint64(len(t.ids) + 1)
		t.ids[name] = id
		t.entries = append(t.entries, entry(id))
	}
	return id
}

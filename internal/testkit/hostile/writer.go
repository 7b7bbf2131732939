package hostile

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/gmpscope/gmpscope/analyze/wire"
)

// writer writes a trace until it has its size.
type writer struct {
	out      bytes.Buffer
	zip      io.WriteCloser
	size     Size
	header   string // empty once it is written
	unpacked int
	rand     *rand.Rand

	gen     uint64
	now     uint64 // ticks
	m       uint64 // of the batch
	start   uint64 // of the batch, ticks
	batch   []byte
	strings []byte // the tables of the generation
	nString uint64
	stacks  []byte
	nStack  uint64
}

// second is a second in ticks: one is a ns.
const second = 1e9

func newWriter(size Size) *writer {
	w := &writer{size: size, header: "go 1.26 trace\x00\x00\x00", rand: rand.New(rand.NewPCG(1, 2)), now: second, m: 1}
	zip, err := gzip.NewWriterLevel(&w.out, flate.DefaultCompression)
	if err != nil {
		panic(err) // the level is a constant
	}
	w.zip = zip
	return w
}

// zstd compresses with zstd instead. It is called first.
func (w *writer) zstd() {
	zip, err := zstd.NewWriter(&w.out, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // the options are constants
	}
	w.zip = zip
}

// full reports whether no more fits. The compressor may hold back what it has
// got; so much is kept free.
func (w *writer) full() bool {
	held := 64<<10 + len(w.strings) + len(w.stacks) + len(w.batch)
	return w.out.Len()+held/2 > w.size.Stored || w.unpacked+held > w.size.Unpacked
}

// write writes p, behind the header if it comes first.
func (w *writer) write(p []byte) {
	if header := w.header; header != "" {
		w.header = ""
		w.write([]byte(header))
	}
	w.unpacked += len(p)
	if _, err := w.zip.Write(p); err != nil {
		panic(err) // it goes to a bytes.Buffer
	}
}

func (w *writer) finish(to io.Writer) error {
	if err := w.zip.Close(); err != nil {
		return err
	}
	_, err := to.Write(w.out.Bytes())
	return err
}

// filler makes the input so large that what follows may unpack to the limit: it
// is what no compressor makes smaller and no reader looks at.
func (w *writer) filler() {
	junk := make([]byte, 32<<10)
	for n := w.size.Stored * 5 / 8; n >= len(junk); n -= len(junk) {
		for i := range junk {
			junk[i] = byte(w.rand.Uint32())
		}
		w.batchOf(wire.ExperimentalBatch, w.now, junk)
	}
}

// batchOf writes a batch.
func (w *writer) batchOf(kind byte, at uint64, data []byte) {
	head := append(make([]byte, 0, 64), kind)
	if kind == wire.ExperimentalBatch {
		head = append(head, wire.AllocFree)
	}
	for _, x := range []uint64{w.gen, w.m, at, uint64(len(data))} {
		head = binary.AppendUvarint(head, x)
	}
	w.write(head)
	w.write(data)
}

// begin begins a generation, with its clock.
func (w *writer) begin() {
	w.gen++
	w.m, w.start = 1, w.now
	sync := binary.AppendUvarint([]byte{wire.Sync, wire.Frequency}, second)
	sync = append(sync, wire.ClockSnapshot)
	for _, x := range []uint64{0, w.now, 1_700_000_000, 0} {
		sync = binary.AppendUvarint(sync, x)
	}
	w.batchOf(wire.EventBatch, w.now, sync)
}

// end ends a generation, with its tables.
func (w *writer) end() {
	w.flush()
	w.table(wire.Strings, w.strings)
	w.table(wire.Stacks, w.stacks)
	w.strings, w.stacks, w.nString, w.nStack = w.strings[:0], w.stacks[:0], 0, 0
	w.write([]byte{wire.EndOfGeneration})
}

// table writes entries, each behind its length in four bytes, as batches.
func (w *writer) table(kind byte, entries []byte) {
	data := []byte{kind}
	for len(entries) > 0 {
		n := binary.LittleEndian.Uint32(entries)
		if len(data)+int(n) > wire.MaxBatchSize {
			w.batchOf(wire.EventBatch, w.now, data)
			data = append(data[:0], kind)
		}
		data = append(data, entries[4:4+n]...)
		entries = entries[4+n:]
	}
	if len(data) > 1 {
		w.batchOf(wire.EventBatch, w.now, data)
	}
}

// entry appends an entry of a table behind its length.
func entry(table, data []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(table, uint32(len(data))), data...)
}

// string adds a string to the table of the generation.
func (w *writer) string(s string) uint64 {
	w.nString++
	e := binary.AppendUvarint([]byte{wire.String}, w.nString)
	e = binary.AppendUvarint(e, uint64(len(s)))
	w.strings = entry(w.strings, append(e, s...))
	return w.nString
}

// only returns the one string of the generation.
func (w *writer) only(s string) uint64 {
	if w.nString == 0 {
		return w.string(s)
	}
	return w.nString
}

// frame is a frame of a stack.
type frame struct{ pc, fn, file, line uint64 }

// stack adds a stack to the table of the generation.
func (w *writer) stack(frames ...frame) uint64 {
	w.nStack++
	e := binary.AppendUvarint([]byte{wire.Stack}, w.nStack)
	e = binary.AppendUvarint(e, uint64(len(frames)))
	for _, f := range frames {
		for _, x := range []uint64{f.pc, f.fn, f.file, f.line} {
			e = binary.AppendUvarint(e, x)
		}
	}
	w.stacks = entry(w.stacks, e)
	return w.nStack
}

// on goes on with another thread.
func (w *writer) on(m uint64) {
	w.flush()
	w.m = m
}

// event adds an event of the thread. Its first argument is the time since the
// event before, in ticks.
func (w *writer) event(kind byte, args ...uint64) {
	const most = 64
	if len(w.batch)+most > wire.MaxBatchSize {
		w.flush()
	}
	w.batch = append(w.batch, kind)
	for _, x := range args {
		w.batch = binary.AppendUvarint(w.batch, x)
	}
	w.now += args[0]
}

// flush writes the batch of the thread.
func (w *writer) flush() {
	if len(w.batch) > 0 {
		w.batchOf(wire.EventBatch, w.start, w.batch)
	}
	w.batch, w.start = w.batch[:0], w.now
}

// Statuses.
const (
	goRunnable  = 1
	goRunning   = 2
	goWaiting   = 4
	procRunning = 1
	procIdle    = 2
)

// running reports that goroutine 1 runs on P 0 and the thread.
func (w *writer) running() {
	w.event(wire.ProcStatus, 1, 0, procRunning)
	w.event(wire.GoStatus, 1, 1, w.m, goRunning)
}

// fill writes a generation of filler.
func (w *writer) fill() {
	w.begin()
	w.filler()
	w.end()
}

// generations writes generations until the input is full. Each begins with one
// goroutine that runs; f adds up to n times to it.
func (w *writer) generations(n int, f func(i int)) {
	for i := 0; !w.full(); {
		w.begin()
		w.running()
		for range n {
			if w.full() {
				break
			}
			f(i)
			i++
		}
		w.end()
	}
}

// eventV1 writes an event of the format before Go 1.22.
func (w *writer) eventV1(kind byte, args ...uint64) {
	if len(w.batch) > 64<<10 {
		w.flushV1()
	}
	if len(args) <= 3 {
		w.batch = append(w.batch, kind|byte(len(args)-1)<<6)
		for _, x := range args {
			w.batch = binary.AppendUvarint(w.batch, x)
		}
		return
	}
	var data []byte
	for _, x := range args {
		data = binary.AppendUvarint(data, x)
	}
	w.batch = append(w.batch, kind|3<<6)
	w.batch = append(binary.AppendUvarint(w.batch, uint64(len(data))), data...)
}

// stringV1 writes an entry of the string table.
func (w *writer) stringV1(id uint64, s string) {
	w.batch = binary.AppendUvarint(append(w.batch, stringV1), id)
	w.batch = append(binary.AppendUvarint(w.batch, uint64(len(s))), s...)
	w.flushV1()
}

func (w *writer) flushV1() {
	w.write(w.batch)
	w.batch = w.batch[:0]
}

// Events of the format before Go 1.22: runtime/trace.go, Go 1.21.
const (
	batchV1      = 1
	frequencyV1  = 2
	stackV1      = 3
	gomaxprocsV1 = 4
	procStartV1  = 5
	goCreateV1   = 13
	goStartV1    = 14
	goEndV1      = 15
	heapAllocV1  = 33
	stringV1     = 37
	taskCreateV1 = 45
	regionV1     = 47
	logV1        = 48
)

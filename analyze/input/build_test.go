package input

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/gmpscope/gmpscope/analyze/wire"
)

// file builds traces byte by byte.
type file struct {
	minor int
	b     []byte
	at    []int // offsets of the batches and end markers
}

func newFile(minor int) *file {
	f := &file{minor: minor}
	f.b = fmt.Appendf(nil, "go 1.%d trace", minor)
	f.b = append(f.b, make([]byte, headerSize-len(f.b))...)
	return f
}

// batch appends a batch; its size is padded to ten bytes as the runtime does.
func (f *file) batch(gen, m, time uint64, data []byte) *file {
	f.at = append(f.at, len(f.b))
	f.b = append(f.b, wire.EventBatch)
	f.b = binary.AppendUvarint(f.b, gen)
	f.b = binary.AppendUvarint(f.b, m)
	f.b = binary.AppendUvarint(f.b, time)
	f.b = padded(f.b, uint64(len(data)))
	f.b = append(f.b, data...)
	return f
}

func padded(b []byte, x uint64) []byte {
	for range wire.MaxVarint - 1 {
		b = append(b, byte(x)|0x80)
		x >>= 7
	}
	return append(b, byte(x))
}

func (f *file) experimental(gen uint64, data []byte) *file {
	f.at = append(f.at, len(f.b))
	f.b = append(f.b, wire.ExperimentalBatch, 1)
	for _, x := range []uint64{gen, 1, 1} {
		f.b = binary.AppendUvarint(f.b, x)
	}
	f.b = padded(f.b, uint64(len(data)))
	f.b = append(f.b, data...)
	return f
}

// generation appends one that x/exp/trace can read: a sync batch, n batches of one ProcStatus event
// each, padded with ProcsChange, and strings. The runtime writes in that order.
func (f *file) generation(gen uint64, n int) *file {
	sync := []byte{wire.Frequency, 0x80, 0x94, 0xeb, 0xdc, 0x03} // 1e9 ticks a second
	if f.minor >= 25 {
		sync = append([]byte{wire.Sync}, sync...)
		sync = append(sync, 51, 1, 1, 1, 1) // a clock snapshot
	}
	t := gen * 1000
	f.batch(gen, 1<<64-1, t, sync)
	for i := range n {
		data := []byte{13, 1, byte(i), 2} // ProcStatus dt p idle
		f.batch(gen, uint64(100+i), t+uint64(i), data)
	}
	f.batch(gen, 1<<64-1, t, append([]byte{wire.Strings}, "\x05\x01\x05hello"...))
	if f.minor >= 26 {
		f.at = append(f.at, len(f.b))
		f.b = append(f.b, wire.EndOfGeneration)
	}
	return f
}

// text is the file after some damage.
func (f *file) damage(how func(b []byte) []byte) []byte {
	return how(bytes.Clone(f.b))
}

func gzipped(t testing.TB, b []byte) []byte {
	t.Helper()
	var w bytes.Buffer
	z := gzip.NewWriter(&w)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return w.Bytes()
}

func zstded(t testing.TB, b []byte) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	return z.EncodeAll(b, nil)
}

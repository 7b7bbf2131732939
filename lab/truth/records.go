package truth

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// A Record is one fact written by the instrumented runtime.
type Record struct {
	When int64 // nanotime, the clock of the trace
	G    int64 // 0 if none
	Arg  uint64
	M    uint32 // OS thread, as in the trace
	P    int32  // -1 if none
	LL   int32  // length of P's ring and runnext just then
	GL   int32  // length of the global queue just then
	Kind Kind
	Flag uint16
}

// ErrIncomplete means that the program had more to record than the buffer held.
var ErrIncomplete = errors.New("the truth buffer was too small")

// ReadRecords reads a recording. The order of the records is that in which
// their slots were claimed.
func ReadRecords(r io.Reader) ([]Record, error) {
	var head [headerSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, fmt.Errorf("header of the recording: %w", err)
	}
	if string(head[:len(magic)]) != magic {
		return nil, fmt.Errorf("not a recording: starts with %q, want %q", head[:len(magic)], magic)
	}
	le := binary.LittleEndian
	n, dropped, size := le.Uint64(head[16:]), le.Uint64(head[24:]), le.Uint64(head[32:])
	if size != recordSize {
		return nil, fmt.Errorf("records have %d bytes, want %d", size, recordSize)
	}
	if dropped != 0 {
		return nil, fmt.Errorf("%w: %d of %d records lost", ErrIncomplete, dropped, n+dropped)
	}
	br := bufio.NewReaderSize(r, 1<<20)
	var out []Record
	var b [recordSize]byte
	for i := uint64(0); i < n; i++ {
		if _, err := io.ReadFull(br, b[:]); err != nil {
			return nil, fmt.Errorf("record %d of %d: %w", i, n, err)
		}
		rec := Record{
			When: int64(le.Uint64(b[0:])), G: int64(le.Uint64(b[8:])), Arg: le.Uint64(b[16:]),
			M: uint32(le.Uint64(b[24:])), P: int32(le.Uint32(b[32:])), LL: int32(le.Uint32(b[36:])),
			GL: int32(le.Uint32(b[40:])), Kind: Kind(le.Uint16(b[44:])), Flag: le.Uint16(b[46:]),
		}
		// A slot that was claimed but not yet filled when the program ended has kind 0.
		if rec.Kind != 0 && rec.Kind < kindCount {
			out = append(out, rec)
		}
	}
	return out, nil
}

// ReadRecordsFile is ReadRecords on a named file.
func ReadRecordsFile(name string) ([]Record, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	recs, err := ReadRecords(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return recs, nil
}

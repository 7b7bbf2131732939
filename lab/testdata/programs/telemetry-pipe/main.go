// Telemetry-pipe exports the readings of an IoT backend: they are encoded into
// a pipe, at whose other end they are summed up and stored.
package main

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	exports  = 24
	readings = 1000
)

type reading struct {
	Device uint32
	Kind   uint16
	Flags  uint16
	Value  float64
}

type archive struct {
	sum   uint32
	bytes int
}

func main() {
	data := make([]reading, readings)
	for i := range data {
		data[i] = reading{uint32(i), uint16(i % 7), 0, float64(i) / 3}
	}
	var direct, piped archive
	start := time.Now()
	for range exports {
		encodeReadings(&direct, data)
	}
	alone := time.Since(start)
	var took time.Duration
	rec.Start()
	for range exports {
		start := time.Now()
		exportReadings(&piped, data)
		took += time.Since(start)
		time.Sleep(15 * time.Millisecond)
	}
	rec.Stop()
	if direct != piped {
		panic("the exports differ")
	}
	fmt.Fprintf(os.Stderr, "proof: %d exports of %d readings took %v through the pipe, %v without (%d bytes)\n", exports, readings, took, alone, piped.bytes)
}

// exportReadings encodes readings and archives them at once.
func exportReadings(a *archive, data []reading) {
	r, w := io.Pipe()
	go func() {
		encodeReadings(w, data)
		w.Close()
	}()
	a.store(r)
}

func encodeReadings(w io.Writer, data []reading) {
	field := make([]byte, 0, 8)
	for _, r := range data {
		field = binary.BigEndian.AppendUint32(field[:0], r.Device)
		w.Write(field)
		field = binary.BigEndian.AppendUint16(field[:0], r.Kind)
		field = binary.BigEndian.AppendUint16(field, r.Flags)
		w.Write(field)
		field = binary.BigEndian.AppendUint64(field[:0], uint64(r.Value*1000))
		w.Write(field)
	}
}

// store reads an export to its end.
func (a *archive) store(r io.Reader) {
	block := make([]byte, 32<<10)
	for {
		n, err := r.Read(block)
		a.Write(block[:n])
		if err != nil {
			return
		}
	}
}

// Write adds a piece of an export.
func (a *archive) Write(piece []byte) (int, error) {
	a.sum = crc32.Update(a.sum, crc32.IEEETable, piece)
	a.bytes += len(piece)
	return len(piece), nil
}

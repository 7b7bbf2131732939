// Package modem reads electricity meters over a line that belongs to the
// thread that opened it.
package modem

import (
	"encoding/binary"
	"os"
	"runtime"
	"sync/atomic"
)

type Sample struct {
	Meter uint32
	Watts uint32
}

// A Line hands on what the meters send.
type Line struct {
	Came    atomic.Int64 // how many samples did
	from    *os.File
	samples chan Sample
}

func Open(from *os.File) *Line { return &Line{from: from, samples: make(chan Sample, 64)} }

func (l *Line) Samples() <-chan Sample { return l.samples }

// Run reads until the line ends.
func (l *Line) Run() {
	runtime.LockOSThread() // the line is bound to the thread
	defer close(l.samples)
	var raw [8]byte
	for {
		if _, err := l.from.Read(raw[:]); err != nil {
			return
		}
		l.Came.Add(1)
		l.samples <- Sample{binary.BigEndian.Uint32(raw[:4]), binary.BigEndian.Uint32(raw[4:])}
	}
}

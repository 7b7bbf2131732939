// Package hostile makes traces that cost a careless reader far more than their
// size: each is small as stored, and asks for much memory, time or output. They
// are the same each time.
//
// Command hostile, below it, runs gmpscope on them and holds what each run takes
// against bounds.
package hostile

import (
	"io"

	"github.com/gmpscope/gmpscope/analyze/wire"
)

// Input is a trace that is made to cost a careless reader much more than its size.
type Input struct {
	Name string // the name of its file
	What string // one line: why it is hard
	make func(*writer)
}

// Size bounds what an input may have.
type Size struct {
	Stored   int // bytes as stored, with compression
	Unpacked int // bytes without
}

// Full is the size that the bounds of cost are stated for. What so small a file
// unpacks to beyond it is refused.
var Full = Size{Stored: 1 << 20, Unpacked: 250 << 20}

// Write writes the input, compressed.
func (in Input) Write(to io.Writer, size Size) error {
	w := newWriter(size)
	in.make(w)
	return w.finish(to)
}

// Small returns a sound little trace, as many of which are checked at once: a few
// goroutines that wait for one another.
func Small() Input {
	return Input{"small", "a sound little trace", func(w *writer) {
		w.begin()
		w.running()
		main, worker := w.string("main.main"), w.string("main.worker")
		at := w.stack(frame{1, main, main, 10})
		start := w.stack(frame{2, worker, worker, 20})
		w.event(wire.GoStatus, 1, 1, 1, goRunning)
		w.event(wire.GoCreate, 1, 2, start, at)
		for i := range uint64(1000) {
			w.event(wire.GoBlock, 1000, 0, at)
			w.event(wire.GoStart, 20_000, 2, 2*i+1)
			w.event(wire.GoUnblock, 1000, 1, 2*i+1, start)
			w.event(wire.GoBlock, 1000, 0, start)
			w.event(wire.GoStart, 30_000, 1, 2*i+2)
			w.event(wire.GoUnblock, 1000, 2, 2*i+2, at)
		}
		w.end()
	}}
}

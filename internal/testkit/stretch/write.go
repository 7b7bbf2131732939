package stretch

import (
	"bufio"
	"errors"
	"io"

	"github.com/gmpscope/gmpscope/analyze/wire"
)

// Write writes the trace with n repetitions of the part behind it.
func (l *Loop) Write(to io.Writer, n int) error {
	w := &writer{to: bufio.NewWriterSize(to, 1<<20)}
	w.to.WriteString(header)
	w.generations(l.gens[:l.to])
	for range n {
		w.up.number += l.gens[l.to-1].number - l.gens[l.from-1].number
		w.up.ticks += l.ticks
		w.up.nanos += l.nanos
		w.up.gcs += l.gcs
		w.up.goroutines += l.born.stride()
		w.born = l.born.ids
		w.generations(l.gens[l.from:l.to])
	}
	if w.err != nil {
		return w.err
	}
	return w.to.Flush()
}

// writer writes generations, moved up.
type writer struct {
	to   *bufio.Writer   // which keeps its first error
	born map[uint64]bool // goroutines with a new number in each repetition
	up   struct {
		number, ticks, nanos, gcs, goroutines uint64
	}
	out, data []byte // scratch
	err       error  // of what is read
}

func (w *writer) generations(gens []generation) {
	for _, g := range gens {
		for _, b := range g.batches {
			w.batch(g.number, &b)
		}
		w.to.WriteByte(wire.EndOfGeneration)
	}
}

func (w *writer) batch(number uint64, b *batch) {
	gen, time := number+w.up.number, b.time+w.up.ticks
	flush := func(time uint64, data []byte) {
		w.out = appendBatch(w.out[:0], gen, b.thread, time, data)
		w.to.Write(w.out)
	}
	switch {
	case len(b.data) > 0 && b.data[0] == wire.Sync:
		c, err := b.clock()
		w.err = errors.Join(w.err, err)
		c.mono += w.up.nanos
		nanos := c.nanos + w.up.nanos
		c.seconds, c.nanos = c.seconds+nanos/1e9, nanos%1e9
		flush(time, c.append(w.data[:0]))
	case !b.ofThread() || w.up.number == 0:
		flush(time, b.data)
	default:
		// Larger numbers may need more bytes than a batch may have: it is cut.
		from, now := time, time
		w.data = w.data[:0]
		err := b.events(func(e event) {
			w.move(&e)
			if len(w.data)+maxEvent > wire.MaxBatchSize {
				flush(from, w.data)
				from, w.data = now, w.data[:0]
			}
			w.data = appendEvent(w.data, e)
			now += e.args[0]
		})
		w.err = errors.Join(w.err, err)
		flush(from, w.data)
	}
}

// maxEvent is how many bytes an event can have.
const maxEvent = 1 + maxArgs*10

// move moves the numbers in e up.
func (w *writer) move(e *event) {
	switch e.kind {
	case wire.GCActive, wire.GCBegin, wire.GCEnd:
		e.args[1] += w.up.gcs
	default:
		if g := goArg[e.kind]; g > 0 && w.born[e.args[g]] {
			e.args[g] += w.up.goroutines
		}
	}
}

package findings

import (
	"iter"

	"github.com/gmpscope/gmpscope/reference"
)

// Behind yields the goroutines of the program that stand in P p's run queue, and then those in the
// global one, at most 256 of each, with a Cell that holds how long each has stood there within
// [from, to), in ns. A wait in the global queue is divided by GOMAXPROCS: all Ps serve it.
func (w *View) Behind(p int32, from, to int64) iter.Seq2[*Goroutine, Cell] {
	return func(yield func(*Goroutine, Cell) bool) {
		for _, queue := range [...]int32{p, reference.NoP} {
			by := int64(1)
			if queue == reference.NoP {
				by = w.Procs()
			}
			for g := range w.Waiting(queue, 256) {
				since := max(w.QueuedAt(g), from)
				if !yield(g, Cell{Class: g.Class, Ns: (to - since) / by, From: since, To: to, G: g.ID, P: g.P, Stack: g.Stack}) {
					return
				}
			}
		}
	}
}

package findings

import (
	"iter"

	"github.com/gmpscope/gmpscope/reference"
)

// Behind yields the goroutines that stand in P p's queue, and then those in the global one, up to most of each,
// with their waiting there within a window. Of that in the global queue each P has its part.
func (w *View) Behind(p int32, from, to int64, most int) iter.Seq2[*Goroutine, Cell] {
	return func(yield func(*Goroutine, Cell) bool) {
		for _, queue := range [...]int32{p, reference.NoP} {
			by := int64(1)
			if queue == reference.NoP {
				by = w.Procs()
			}
			for g := range w.Waiting(queue, most) {
				since := max(w.QueuedAt(g), from)
				if !yield(g, Cell{Class: g.Class, Ns: (to - since) / by, From: since, To: to, G: g.ID, P: g.P, Stack: g.Stack}) {
					return
				}
			}
		}
	}
}

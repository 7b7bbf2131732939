package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/ids"
	"github.com/gmpscope/gmpscope/reference"
)

// dequeue is a take that was settled before its start.
type dequeue struct {
	victim     int32
	batch      int32
	src        reference.Source
	basis      reference.Basis
	taint      reference.Rule // why it is ambiguous nevertheless
	missedTick bool           // or because a tick may have been missed before
	pending    bool           // the 61st tick may have taken it, and later evidence may tell
	candidate  uint16         // if so, the candidate
}

// goroutines hands out indices for live goroutines, from 1 on.
type goroutines struct {
	ids.Table[goroutine]
	seen int64
}

// add adds a goroutine that has not become runnable yet.
func (t *goroutines) add(id int64) int32 {
	g := t.Add(id)
	*t.At(g) = goroutine{id: id, newReady: none, wait: wait{readyAt: -1, ready: none, start: none, lastM: nobody, fromGlobal: nobody}}
	t.seen++
	return g
}

package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/ids"
	"github.com/gmpscope/gmpscope/reference"
)

// taken is a take that was settled before its start.
type taken struct {
	victim int32
	batch  int32
	src    reference.Source
	basis  reference.Basis
	doubt  reference.Rule // why it is ambiguous nevertheless
	missed bool           // or because a tick may have been missed before
	open   bool           // the 61st tick may have taken it, and later evidence may tell
	at     uint16         // if so, the candidate
}

// goroutines hands out indices for live goroutines, from 1 on.
type goroutines struct {
	ids.Table[goroutine]
	seen int64
}

func (t *goroutines) find(id int64) int32 {
	if ix := t.Find(id); ix != 0 {
		return ix
	}
	return t.add(id)
}

func (t *goroutines) add(id int64) int32 {
	ix := t.Add(id)
	*t.At(ix) = goroutine{id: id, readyAt: -1, ready: none, start: none, newReady: none, lastM: nobody, fromGlobal: nobody}
	t.seen++
	return ix
}

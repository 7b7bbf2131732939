package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/ids"
	"github.com/gmpscope/gmpscope/reference"
)

// goroutine is what is known of one live goroutine. Its index is reused after
// its death.
//
// None of its fields is a pointer: there can be a million goroutines. It is as long as
// two lines of the cache. What enter needs, and the judge for most events, is in the
// first.
type goroutine struct {
	id       int64
	readyAt  int64 // ns; -1 if not runnable
	ready    int64 // event that made it runnable
	start    int64 // event by which it will start, none if unknown
	newReady int64 // event that made it runnable, at the head of the window
	queued   int64 // event by which it came into its queue
	pending  int32 // events of it in the window
	class    int32

	state   events.State
	flags   reference.Flags
	direct  reference.Source
	isTaken bool // its take was settled before its start
	dead    bool
	late    bool // its put to the global queue comes later than its event
	doubt   bool // the model may have it in the wrong place
	moved   bool // it has been in another queue since it became runnable

	putBy      int64         // event of the thread that made it runnable by which its put is over, none if not in sight
	putAt      int64         // event from which on it may have been in its ring, none if not known
	reason     events.Handle // of the last block
	stack      events.Handle // of the last block
	fromGlobal int32         // P whose take from the global queue moved it to its ring, nobody if none
	lastM      int32         // thread on which it ran last
	readyM     int32         // thread that made it runnable
	putBatch   int32         // number of the overflow that put it into the global queue last, 0 if it came alone
	taken      taken         // if isTaken

	passed   int8  // times that others were taken from behind it in the global queue
	fresh    bool  // direct start with a new time slice
	unsure   bool  // direct start that may be another one, or put that may have been another
	putAgain bool  // it was late, and its put has come
	lock     lock  // whether it is locked to its thread
	lockUses uint8 // times that lock, a conclusion only, was relied on
	hidden   bool  // its first event has not come yet: decisions do not know it
	seeded   bool  // was runnable before the trace began
}

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

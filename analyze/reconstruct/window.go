package reconstruct

import "github.com/gmpscope/gmpscope/analyze/events"

// lookahead is the number of events that are known beyond the one that is
// judged. A steal shows itself only when the stolen goroutine runs, and a
// thread can lose its CPU for milliseconds in between.
const lookahead = 1 << 16

// farEnough bounds what is looked at along a queue or the window for one
// decision, where nothing in the rules does, so that no trace takes more than
// linear time.
const farEnough = 1 << 12

// item is an event in the window, with links to what belongs to it. Links are
// the running numbers of events, none where there is nothing (yet).
type item struct {
	ev    events.Event
	prevM int64 // goroutine or processor transition before it on its thread
	nextM int64 // and after it
	link  int64 // a goroutine made runnable: its start; a start: what made it runnable; a P's transition: the next one of that P
	m     int32 // index of the thread
	p     int32 // index of the processor of the context, or of a start
	rp    int32 // Proc: index of the processor
	g     int32 // index of the goroutine of the context
	rg    int32 // Go: index of the goroutine
	mark  mark
}

type mark uint8

const (
	markWorker    mark = 1 << iota // start of a mark worker: a label follows
	markDedicated                  // which says that it is a dedicated one
)

const none = int64(-1)

// window holds the events from the one under judgement to the newest, in a
// ring; tail and head are running numbers. The ring is made of parts that are
// allocated when they are first needed: most traces are short.
type window struct {
	parts [windowLen / partLen]*[partLen]item
	tail  int64
	head  int64
}

const (
	windowLen = 2 * lookahead
	partLen   = 1 << 10
)

// at returns event i, or nil if it has left the window or is not there yet.
// Events stay for a while after they were judged.
func (w *window) at(i int64) *item {
	if i < 0 || i >= w.head || i < w.head-windowLen {
		return nil
	}
	return &w.parts[uint64(i)/partLen%(windowLen/partLen)][uint64(i)%partLen]
}

// push makes room for the next event.
func (w *window) push() *item {
	part := &w.parts[uint64(w.head)/partLen%(windowLen/partLen)]
	if *part == nil {
		*part = new([partLen]item)
	}
	it := &(*part)[uint64(w.head)%partLen]
	w.head++
	return it
}

package reconstruct

import "github.com/gmpscope/gmpscope/analyze/events"

// lookahead is the number of events that are known beyond the one that is
// judged. A steal shows itself only when the stolen goroutine runs, and a
// thread can lose its CPU for milliseconds in between.
const lookahead = 1 << 16

// item is an event in the window, with links to what belongs to it. Links are
// the running numbers of events, none where there is nothing (yet).
type item struct {
	ev    events.Event
	prevM int64 // goroutine or processor transition before it on its thread
	nextM int64 // and after it
	link  int64 // a goroutine made runnable: its start; a P's transition: the next one of that P
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
// ring; tail and head are running numbers.
type window struct {
	items []item
	tail  int64
	head  int64
}

func newWindow() *window { return &window{items: make([]item, 2*lookahead)} }

// at returns event i, or nil if it has left the window or is not there yet.
// Events stay for a while after they were judged.
func (w *window) at(i int64) *item {
	if i < 0 || i >= w.head || i < w.head-int64(len(w.items)) {
		return nil
	}
	return &w.items[i&int64(len(w.items)-1)]
}

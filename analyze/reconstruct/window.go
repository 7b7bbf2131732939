package reconstruct

import (
	"iter"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/internal/hugepages"
)

// aheadLen is the number of events that are known beyond the present one. A steal shows itself only
// when the stolen goroutine runs, and a thread can lose its CPU for milliseconds in between. Twice as
// many show a little more where thousands are runnable (mixed: ll 87.7 to 88.3, gl 77.5 to 78.6), for
// twice the memory.
const aheadLen = 1 << 16

// farEnough bounds what is looked at along a queue or the window for one decision, where nothing in the
// rules does, so that no trace needs more than linear time. Half or twice: nothing.
const farEnough = 1 << 12

// nearEnough bounds the same in frequent searches, or where what is farther away shows nothing: that is
// a ring's length.
const nearEnough = 1 << 8

// event is what a record keeps of an events.Event; the record has the indices of what that names.
type event struct {
	Time   int64
	Stack  events.Handle
	TStack events.Handle
	Reason events.Handle
	Kind   events.Kind
	From   events.State
	To     events.State
	mark   mark
}

// record is an event in the window, with links to what belongs to it. Links are the running numbers of
// events, none where there is nothing (yet).
//
// It is as long as a line of the cache: there are more of them than a cache holds, and few are looked
// at alone.
type record struct {
	event
	prevM int64 // goroutine or processor transition before it on its thread
	nextM int64 // and after it
	link  int64 // a goroutine made runnable: its start; a start: what made it runnable; a P's transition: the next one of that P
	m     int32 // index of the thread
	p     int32 // index of the processor of the context, or of a start
	of    int32 // index of the goroutine or the processor whose transition it is
	g     int32 // Go, Proc: index of the goroutine of the context
}

type mark uint8

const (
	markWorker    mark = 1 << iota // start of a mark worker: a label follows
	markDedicated                  // which says that it is a dedicated one
)

// isStart reports whether a goroutine starts.
func (rec *record) isStart() bool {
	return rec.Kind == events.Go && rec.From == events.Runnable && rec.To == events.Running
}

// isStop reports whether a goroutine that ran does so no more, or enters a system call.
func (rec *record) isStop() bool { return rec.Kind == events.Go && rec.From == events.Running }

const none = int64(-1)

// An event that is no transition has no links. In their place it has the ids that its events.Event
// names, which have no index.

// setIDs keeps the ids that an event names which is no transition.
func (rec *record) setIDs(e *events.Event) { rec.prevM, rec.link = e.G, e.Res }

// context is the goroutine of the context of an event that is no transition.
func (rec *record) context() int64 { return rec.prevM }

// res is Res of an event that is no transition.
func (rec *record) res() int64 { return rec.link }

// window holds the events from the present one to the newest, and for a while those before, in a ring;
// tail and head are running numbers. Of a short trace, most of the ring is never touched and so needs
// no memory.
type window struct {
	items *[windowLen]record
	tail  int64
	head  int64
	first int64 // the oldest that is there
}

const windowLen = 2 * aheadLen

// at returns event i, or nil if it has left the window or is not there yet.
func (w *window) at(i int64) *record {
	if i < w.first || i >= w.head {
		return nil
	}
	return w.there(i)
}

// there returns event i, which is in the window.
func (w *window) there(i int64) *record { return &w.items[uint64(i)%windowLen] }

// thread yields the events of a thread from event i on, with their numbers, and no more than most.
func (w *window) thread(i int64, most int) iter.Seq2[int64, *record] {
	return func(yield func(int64, *record) bool) {
		for range most {
			rec := w.at(i)
			if rec == nil || !yield(i, rec) {
				return
			}
			i = rec.nextM
		}
	}
}

// push makes room for the next event.
func (w *window) push() *record {
	i := w.head
	if i >= windowLen {
		w.first = i - windowLen + 1
	} else if i == 0 {
		w.items = (*[windowLen]record)(hugepages.Make[record](windowLen))
	}
	w.head = i + 1
	return w.there(i)
}

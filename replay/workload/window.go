package workload

import (
	"github.com/gmpscope/gmpscope/analyze/focus"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/reference"
)

// Window makes a stream of decisions begin later, as a trace does whose
// recording began then: it tells what there is at the beginning, as
// [focus.Snapshot] does; and then goes on with the decisions, their times counted
// from the beginning.
type Window struct {
	from int64
	emit func(*reference.Decision)
	past *focus.Snapshot // nil: it has begun
	feed *ledger.Feed    // of past
}

// NewWindow returns a Window from a time on, in ns. emit gets the stream, and
// must not keep its decisions.
func NewWindow(from int64, emit func(*reference.Decision)) *Window {
	past := focus.NewSnapshot()
	return &Window{from: from, emit: emit, past: past, feed: ledger.NewFeed(func(b *ledger.Block) {
		for i := range b.Decisions {
			past.Follow(&b.Decisions[i], &b.Notes[i])
		}
	})}
}

// Add processes the next decision.
func (w *Window) Add(d *reference.Decision) {
	if w.past != nil {
		if d.Time < w.from {
			w.feed.Add(d)
			return
		}
		w.past.Emit(0, w.emit)
		w.past, w.feed = nil, nil
	}
	x := *d
	x.Time -= w.from
	w.emit(&x)
}

package workload

import (
	"github.com/gmpscope/gmpscope/analyze/focus"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/reference"
)

// Window cuts the beginning off a stream of decisions: it emits the state at its
// beginning, as [focus.Snapshot] does, and then the further decisions, with times from
// its beginning.
type Window struct {
	from int64
	emit func(*reference.Decision)
	past *focus.Snapshot // nil: it has begun
	feed *ledger.Feed    // of past
}

// NewWindow returns a Window from a time on, in ns. emit is called with the stream, and
// must not retain its decisions.
func NewWindow(from int64, emit func(*reference.Decision)) *Window {
	past := focus.NewSnapshot()
	return &Window{from: from, emit: emit, past: past, feed: ledger.NewFeed(func(b *ledger.Block) {
		for i := range b.Decisions {
			past.Follow(&b.Decisions[i], &b.Notes[i])
		}
	})}
}

// Add processes the next decision of the stream.
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

package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/ids"
	"github.com/gmpscope/gmpscope/analyze/reconstruct/class"
	"github.com/gmpscope/gmpscope/analyze/reconstruct/stacks"
	"github.com/gmpscope/gmpscope/reference"
)

// lookahead is the events, those that were handled and those to come, and what they show: each method
// looks at a bounded part of the window.
type lookahead struct {
	ps      processors
	tables  *events.Tables
	rules   reference.Rules // of the release that wrote the trace
	without Set             // hypotheses that it does without
	reduced bool            // queues are not rebuilt
	classes *class.Table    // what goroutines run
	traits  stacks.Traits   // what stacks show of the runtime

	win     window
	gStates ids.Table[goroutine] // those that live, by index from 1 on
	seen    int64                // goroutines
	mStates []thread             // by index
	now     int64                // running number of the present event
	time    int64                // its time
	due     int64                // event from which on something is to be settled
	depth   int                  // dequeues that are being settled
}

// thread is what is known of an M.
type thread struct {
	id    int64
	last  int64 // newest event of the chain, at the head of the window
	next  int64 // oldest event of the chain that has not been handled, none if none
	g     int32 // goroutine that runs on it, nobody if none
	lastG int32 // goroutine that ran on it last, nobody if none
}

// startsOn is the P on which a queued goroutine will start, or nobody.
func (r *lookahead) startsOn(g int32) int32 {
	if start := r.win.at(r.gStates.At(g).start); start != nil {
		return start.p
	}
	return nobody
}

// startOf is the event by which a queued goroutine will start, none if it is not in sight.
func (r *lookahead) startOf(g int32) int64 {
	if g == reference.None {
		return none
	}
	return r.gStates.At(g).start
}

// inFlight reports whether the thread that will start a goroutine has no other event from now until
// then: it may have dequeued it already.
func (r *lookahead) inFlight(g int32) bool {
	gp := r.gStates.At(g)
	if gp.start <= r.now || r.depth > maxDepth {
		return false
	}
	start := r.win.at(gp.start)
	return start != nil && start.p >= 0 && (start.prevM < r.now || r.pickedFor(start) != nil)
}

// startsNext returns the start of a goroutine on p with which its thread goes on, nil if it goes on
// with something else.
func (r *lookahead) startsNext(rec *record, p int32) *record {
	start := r.win.at(rec.nextM)
	if p < 0 || start == nil || start.p != p || !start.isStart() {
		return nil
	}
	return start
}

// pickedFor returns the event by which the thread that looks for work on the P of a start gives that P
// up for the thread to which the goroutine is locked, nil if it does not: it may have picked it
// already.
func (r *lookahead) pickedFor(start *record) *record {
	m := r.ps.pStates[start.p].m
	if m < 0 || m == start.m || r.gStates.At(start.of).lastM != start.m {
		return nil
	}
	stop := r.win.at(r.mStates[m].next)
	if stop == nil || stop.Kind != events.Proc || stop.To != events.Idle || stop.of != start.p || stop.link != start.prevM {
		return nil
	}
	return stop
}

// freeSince is the event from which on the P that starts g had nothing to run.
func (r *lookahead) freeSince(g int32) int64 {
	if start := r.win.at(r.gStates.At(g).start); start != nil {
		return start.prevM
	}
	return none
}

// ranBefore returns the start before start i on its thread, not counting those from runnext and from no
// queue, which were made runnable after the one before them ran. It returns none if that is not in
// sight.
func (r *lookahead) ranBefore(i int64) int64 {
	start := r.win.at(i)
	if start == nil {
		return none
	}
	ready, last := none, none
	for range 128 {
		i = start.prevM
		if start = r.win.at(i); start == nil || start.Kind != events.Go {
			return none
		}
		if !start.isStart() {
			continue
		}
		if last != none && ready < i {
			return last
		}
		if ready, last = start.link, i; ready == none {
			return none
		}
	}
	return none
}

// startsBetween is how many starts a thread has between that of a and that of b, or -1 if there are
// more than one, or it does not start b after a.
func (r *lookahead) startsBetween(a, b int32) int {
	from, to := r.startOf(a), r.startOf(b)
	if from < 0 || to <= from || r.startsOn(a) != r.startsOn(b) {
		return -1
	}
	between := 0
	for i, rec := range r.win.thread(from, nearEnough) {
		switch {
		case i == to:
			return between
		case rec.Kind == events.Go && rec.From == events.Runnable && i != from:
			if between++; between > 1 {
				return -1
			}
		}
	}
	return -1
}

// follows reports whether one thread starts b after a, with no more than one start in between, which is
// that of a pick at the 61st tick.
func (r *lookahead) follows(a, b int32) bool {
	n := r.startsBetween(a, b)
	return n == 0 || n == 1
}

// yieldedHere reports whether the thread that dequeues g put it into the global queue just before: it
// cannot have been anywhere else.
func (r *lookahead) yieldedHere(g, p int32) bool {
	gp := r.gStates.At(g)
	start := r.win.at(gp.start)
	put := r.win.at(gp.ready)
	return start != nil && put != nil && put.Kind == events.Go && put.of == g && put.From == events.Running && put.p == p && start.prevM == gp.ready
}

// procID is the id of a P by its index.
func (r *lookahead) procID(p int32) int32 {
	if p < 0 {
		return reference.NoP
	}
	return r.ps.pStates[p].id
}

// settleSoon has what is due be settled before the next event.
func (r *lookahead) settleSoon() { r.due = r.now }

// bind notes that thread m runs goroutine g.
func (r *lookahead) bind(m, g int32) {
	if mx := uint(m); mx < uint(len(r.mStates)) {
		r.mStates[mx].g = g
	}
}

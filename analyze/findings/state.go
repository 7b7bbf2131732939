package findings

import (
	"github.com/gmpscope/gmpscope/analyze/ids"
	"github.com/gmpscope/gmpscope/analyze/ledger"
)

// goroutines are those that have not ended.
type goroutines struct {
	gs         ids.Parts[Goroutine] // by slot
	slots      int32                // more than any that was seen
	byID       ids.Index            // slots
	g          *Goroutine           // the decision's, nil for none
	ended      int32                // slot of the one that ended last
	waker      *Goroutine           // who made another runnable last, by KindReady; nil for none
	wakerID    int64                // the same, or one that yielded, by its number
	wakerStack int32
}

// processors are the Ps: what each runs, and what was last on it.
type processors struct {
	ps     []proc
	counts [ledger.NumStates]int64
	gomaxp int64 // Procs
	waking int64
}

// ByID returns the live goroutine with an ID; nil if there is none, or it has not been seen yet.
func (q *goroutines) ByID(id int64) *Goroutine {
	if slot := q.byID.Find(id); slot != ids.None {
		return q.gs.At(slot)
	}
	return nil
}

// Running returns the goroutine that runs on P p, or is in a system call that
// keeps it; nil if there is none.
func (m *processors) Running(p int32) *Goroutine {
	if uint(p) < uint(len(m.ps)) {
		return m.ps[uint(p)].g
	}
	return nil
}

// QueuedNs returns how long goroutines of the program have stood in P p's run queue up to
// [View.Now], or in the global one if p is reference.NoP: the sum over all goroutines, in ns.
func (w *View) QueuedNs(p int32) int64 {
	if l := w.list(p); l != nil {
		return l.ns(w.now)
	}
	return 0
}

// Runnable returns the number of goroutines of the program that wait for a P.
func (w *View) Runnable() int64 { return w.runnable }

// Now returns the time of the last decision, in ns.
func (w *View) Now() int64 { return w.now }

// CountPs returns the number of Ps that are in state s now.
func (m *processors) CountPs(s ledger.State) int64 { return m.counts[s] }

// KnownPs returns one more than the highest number of a P seen so far.
func (m *processors) KnownPs() int32 { return int32(len(m.ps)) }

// Changed returns the intervals of Ps, each in one state, that ended with the last decision, in
// order of P; none if it changed no P's state. The slice is valid until the next decision.
func (w *View) Changed() []ledger.PInterval {
	ps := w.block.PIntervals[w.changed:w.changes]
	if len(ps) > 0 && int(ps[0].At) != w.at {
		return nil
	}
	return ps
}

// Procs returns the present GOMAXPROCS; 1 before the trace has told it.
func (m *processors) Procs() int64 { return m.gomaxp }

// TakenNs returns the P-time up to [View.Now], in ns, that runnable goroutines of the program did
// not get because GOMAXPROCS was below the highest value that it has had.
func (w *View) TakenNs() int64 { return w.takenNs }

// GlobalLen returns the number of goroutines in the global run queue, the runtime's included.
func (w *View) GlobalLen() int32 { return w.globalLen }

// Stopping reports whether a stop-the-world is in progress.
func (w *View) Stopping() bool { return w.stw }

// Goroutine returns the goroutine that the last decision is about; nil if there is none, or it has
// just ended. During a call for a Run that ended because the goroutine blocked, its fields Blocked*
// are still those of the time that it was blocked before.
func (q *goroutines) Goroutine() *Goroutine {
	return q.g
}

// Waker returns the goroutine that made another runnable with the last decision of KindReady; nil
// if no goroutine did, or it is not known. It is valid until the next decision.
func (q *goroutines) Waker() *Goroutine { return q.waker }

// Slot returns a small number for the goroutine of the last decision, by which a Watcher can keep
// what it knows of goroutines in a slice; 0 if there is none, or it has just ended. A later
// goroutine may get the same number: compare the ID.
func (q *goroutines) Slot() int32 {
	if q.g == nil {
		return 0
	}
	return q.g.slot
}

// Ended returns the goroutine that ended last, as it was. It is valid until the next decision.
func (q *goroutines) Ended() *Goroutine { return q.gs.At(q.ended) }

// Mark gives the mark m, as returned by [View.NewMark], to the goroutine with a [View.Slot]: from
// now on subscriptions with that mark see its decisions.
func (q *goroutines) Mark(slot int32, m Mark) { q.gs.At(slot).marks |= m }

// Unmark removes the mark m, which [View.Mark] gave to it, from the goroutine with a [View.Slot].
func (q *goroutines) Unmark(slot int32, m Mark) { q.gs.At(slot).marks &^= m }

// WakerID returns the ID of the goroutine that made another runnable with the last decision of
// KindReady, reference.NoG if none did, and the handle of the stack at which it did so. A goroutine
// that called runtime.Gosched made itself runnable.
func (q *goroutines) WakerID() (g int64, stack int32) { return q.wakerID, q.wakerStack }

// Totals are counts of what the goroutines of the program did up to the last decision.
type Totals struct {
	Runs         int64 // run intervals that have ended
	Stops        int64 // run intervals that ended with a KindStop, ends of goroutines left out
	NetworkWakes int64 // times that a goroutine was made runnable by the network poller
	LocalStarts  int64 // starts out of local run queues, stolen goroutines included
	Inherited    int64 // number of LocalStarts that inherited the time slice through runnext
}

// Totals returns counts of what the goroutines of the program did up to the last decision.
func (w *View) Totals() Totals { return w.totals }

// PHistory holds the times at which a P last started and stopped a goroutine. Times are in ns since the first
// event of the trace; -1 if it never did.
type PHistory struct {
	Starts   int64 // number of goroutines that it has started
	StartAt  int64 // time of the last KindStart
	StartRan int64 // RunIntegral.Ns at StartAt, goroutine-ns
	SliceAt  int64 // time of the last KindStart that began a time slice
	StopAt   int64 // time of the last KindStop
}

var noHistory = PHistory{StartAt: -1, SliceAt: -1, StopAt: -1}

// History returns when P p last started and stopped a goroutine.
func (m *processors) History(p int32) PHistory {
	if uint(p) < uint(len(m.ps)) {
		return m.ps[p].PHistory
	}
	return noHistory
}

// LastRun returns the last run interval on P p; nil if there was none since the
// P got its thread. It is valid until the next decision.
func (m *processors) LastRun(p int32) *Run {
	if uint(p) < uint(len(m.ps)) && m.ps[uint(p)].last {
		return &m.ps[uint(p)].run
	}
	return nil
}

// Everyone calls f for each goroutine of the program that waits for a P, in the order of their
// slots, which is the same in each analysis of a trace.
func (q *goroutines) Everyone(f func(*Goroutine)) {
	for i := int32(1); i < q.slots; i++ {
		if g := q.gs.At(i); g.ReadyAt >= 0 && !g.System {
			f(g)
		}
	}
}

// Blocked calls f for each goroutine that is blocked, the runtime's included, in the order of their
// slots.
func (q *goroutines) Blocked(f func(*Goroutine)) {
	for i := int32(1); i < q.slots; i++ {
		if g := q.gs.At(i); g.BlockedAt >= 0 && g.ReadyAt < 0 && g.StartAt < 0 {
			f(g)
		}
	}
}

// Load returns the load of the Ps: the number of goroutines of the program that run or are runnable
// per usable P, and 1 where it would be less.
func (w *View) Load() float64 { return load(w.runnable+w.running, w.usablePs) }

// load is how many goroutines there are for each usable P, at least 1.
func load(n, usable int64) float64 {
	if usable = max(1, usable); n > usable {
		return float64(n) / float64(usable)
	}
	return 1
}

// meanLoad is the mean of Load since g became runnable.
func (w *View) meanLoad(g *Goroutine) float32 {
	if dt := w.now - g.ReadyAt; dt > 0 {
		return float32((w.loadSum - w.turn(g).loadAt) / float64(dt))
	}
	return 1
}

// LoadOf returns the largest of three values of [View.Load]: that when g became runnable, the mean
// since, and the present one. g must wait for a P.
func (w *View) LoadOf(g *Goroutine) float64 {
	return max(float64(max(w.turn(g).loadBefore(), w.meanLoad(g))), w.Load())
}

// Waking returns the number of Ps that have got a thread and run nothing since.
func (m *processors) Waking() int64 { return m.waking }

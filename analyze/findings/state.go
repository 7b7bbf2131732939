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

// ByID returns the goroutine with an ID, or nil.
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

// QueuedNs returns the total goroutine-time in P p's queue, in ns.
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

// CountPs returns the number of Ps in a state.
func (m *processors) CountPs(s ledger.State) int64 { return m.counts[s] }

// KnownPs returns the number of Ps from 0 to the highest known one.
func (m *processors) KnownPs() int32 { return int32(len(m.ps)) }

// Changed returns the intervals of Ps that ended with the last decision, in order of P.
// The slice is valid until the next one.
func (w *View) Changed() []ledger.PInterval {
	ps := w.block.PIntervals[w.changed:w.changes]
	if len(ps) > 0 && int(ps[0].At) != w.at {
		return nil
	}
	return ps
}

// Procs returns GOMAXPROCS, at least 1.
func (m *processors) Procs() int64 { return m.gomaxp }

// TakenNs returns the P-time, in ns, that runnable goroutines of the program did not get
// because GOMAXPROCS was lower than before.
func (w *View) TakenNs() int64 { return w.takenNs }

// GlobalLen returns the length of the global run queue, the runtime's goroutines
// included.
func (w *View) GlobalLen() int32 { return w.globalLen }

// Stopping reports whether a stop-the-world is in progress.
func (w *View) Stopping() bool { return w.stw }

// Goroutine returns that of the last decision, or nil. While the run before a block is handed out, its
// Block* fields are still those of the block before that run.
func (q *goroutines) Goroutine() *Goroutine {
	return q.g
}

// Waker returns the goroutine that the last KindReady names as who made the other one runnable;
// nil if there is none. It is good until the next decision.
func (q *goroutines) Waker() *Goroutine { return q.waker }

// Slot is a small number for the goroutine of the last decision, by which a
// Watcher can keep what it knows of goroutines in a slice; 0: there is none, or
// it has just ended. A later goroutine may get the same one: compare the ID.
func (q *goroutines) Slot() int32 {
	if q.g == nil {
		return 0
	}
	return q.g.slot
}

// Ended is the [View.Slot] of the goroutine that ended last, and what was known of
// it. Both are good until the next decision.
func (q *goroutines) Ended() (int32, *Goroutine) { return q.ended, q.gs.At(q.ended) }

// Mark gives a mark of [View.NewMark] to the goroutine with a slot, and Unmark
// takes it away.
func (q *goroutines) Mark(slot int32, m Mark)   { q.gs.At(slot).marks |= m }
func (q *goroutines) Unmark(slot int32, m Mark) { q.gs.At(slot).marks &^= m }

// WakerID is who made a goroutine runnable last, and where it was; one that yields
// does so itself.
func (q *goroutines) WakerID() (g int64, stack int32) { return q.wakerID, q.wakerStack }

// Totals are counts for the program's goroutines, up to the last decision.
type Totals struct {
	Runs         int64 // run intervals that have ended
	Stops        int64 // of them, by a KindStop other than the goroutine's end
	NetworkWakes int64
	LocalStarts  int64 // out of local queues
	Inherited    int64 // of these, those that inherited the time slice
}

// Totals returns the [Totals] so far.
func (w *View) Totals() Totals { return w.totals }

// PHistory is the times of the last events of a P, in ns; -1 if there was none.
type PHistory struct {
	Starts   int64
	StartAt  int64 // the last KindStart
	StartRan int64 // RunIntegral.Ns then
	SliceAt  int64 // the last KindStart that began a time slice
	StopAt   int64 // the last KindStop
}

var noHistory = PHistory{StartAt: -1, SliceAt: -1, StopAt: -1}

// History returns the PHistory of P p.
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

// Everyone calls f for all goroutines of the program that wait, in the order of
// their slots, which depends on nothing but the stream.
func (q *goroutines) Everyone(f func(*Goroutine)) {
	for i := int32(1); i < q.slots; i++ {
		if g := q.gs.At(i); g.ReadyAt >= 0 && !g.System {
			f(g)
		}
	}
}

// Blocked calls f for all goroutines that are blocked, the runtime's too, in the order of
// their slots.
func (q *goroutines) Blocked(f func(*Goroutine)) {
	for i := int32(1); i < q.slots; i++ {
		if g := q.gs.At(i); g.BlockedAt >= 0 && g.ReadyAt < 0 && g.StartAt < 0 {
			f(g)
		}
	}
}

// Load returns the number of goroutines of the program per usable P, at least 1.
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

// LoadOf returns the largest of the load when a waiting goroutine became runnable, the
// mean since, and the present load.
func (w *View) LoadOf(g *Goroutine) float64 {
	return max(float64(max(w.turn(g).loadBefore(), w.meanLoad(g))), w.Load())
}

// Waking returns the number of Ps that got a thread and have not run anything since.
func (m *processors) Waking() int64 { return m.waking }

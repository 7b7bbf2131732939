package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// phase is what is known of when a P's schedtick is a multiple of 61, which is
// when it looks at the global queue first (proc.go: findRunnable). The value at
// the start of a trace is not recorded. Each of the 61 candidates has a score;
// what the model takes for evidence can be wrong, so none is ever ruled out.
type phase struct {
	score [poll]int8 // of: the tick comes when at is the index
	at    uint8      // number of starts that did not inherit the time slice, modulo 61
	best  int8       // highest score
	next2 int8       // second highest
}

const (
	poll    = 61
	surest  = 6  // limits of a score
	forTick = 4  // what a pick from the global queue speaks for it
	against = 2  // and a take from the own queue although the global one holds something
	unusual = 4  // what speaks against a young process having many starts behind it
	young   = 11 // the most that is usual for a P of a young process
	started = 31 // and for the P that it began on
)

// youngPhase is the phase of a P on which at most most starts have happened.
func youngPhase(most int) phase {
	var f phase
	for i := 1; i < poll-most; i++ {
		f.score[i] = -unusual
	}
	return f
}

// next counts a start that does not inherit the time slice.
func (f *phase) next() {
	if f.at++; f.at == poll {
		f.at = 0
	}
}

func (f *phase) maybeTick() bool { return f.score[f.at] > f.best-against }
func (f *phase) isTick() bool    { return f.score[f.at] == f.best && f.known() }

// known says that one candidate stands out.
func (f *phase) known() bool { return f.next2 <= f.best-2*against }

// is and isNot note that this seems to be, or not to be, the 61st tick.
func (f *phase) is()    { f.add(forTick) }
func (f *phase) isNot() { f.add(-against) }

func (f *phase) add(n int8) {
	s := &f.score[f.at]
	old := *s
	*s = min(max(old+n, -surest), surest)
	if *s == old || n < 0 && old < f.next2 {
		return
	}
	f.best, f.next2 = -surest-1, -surest-1
	for _, x := range f.score {
		if x > f.best {
			f.best, f.next2 = x, f.best
		} else if x > f.next2 {
			f.next2 = x
		}
	}
}

// learnPhase draws the tick's phase from a take on p, which began after the
// event before it on its thread: a P that takes from its own queue although the
// global one holds something is not at the 61st tick.
func (r *Reconstructor) learnPhase(p int32, t taken, before *item) {
	if p < 0 {
		return
	}
	f := &r.ps[p].phase
	switch t.src {
	case reference.SrcGlobalTick:
		if t.basis == byRule && t.batch == 1 {
			if r.q.Len(p) > 1 {
				f.is()
			} else {
				f.add(against) // a single one may have left unseen
			}
		}
	case reference.SrcRunnext, reference.SrcLocal:
		if t.basis == byRule && (r.q.GlobalLen() > 2 || r.waitsGlobal(before)) {
			f.isNot()
		}
	}
}

// seen is how long after its event a put is surely in the global queue, in ns.
// What seems to wait for longer than stale may have been taken unseen.
const (
	seen  = 2_000
	stale = 300_000
)

// waitsGlobal says that the global queue surely held something when a take
// began: it was put there well before, after the last batch was taken, and
// whoever takes it has not come yet.
func (r *Reconstructor) waitsGlobal(before *item) bool {
	if before == nil {
		return false
	}
	for x := r.q.GlobalHead(); x != reference.None; x = r.q.Next(x) {
		g := &r.gs.all[x]
		if r.inFlight(x) || g.readyAt > before.ev.Time-seen {
			return false
		}
		if g.readyAt < r.tookGlobal || g.readyAt < before.ev.Time-stale || g.late || g.start == none {
			continue
		}
		// What the poller made runnable may be in a ring instead (injectglist).
		if put := r.win.at(g.ready); put != nil && put.ev.From == events.Running {
			return true
		}
	}
	return false
}

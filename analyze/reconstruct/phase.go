package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// phase is what is known of a P's schedtick modulo 61, which decides when it
// looks at the global queue first (proc.go: findRunnable): bit i is set if the
// remainder may be i. The tick's value at the start of a trace is not recorded.
type phase uint64

const (
	anyPhase     = phase(1<<61 - 1)
	youngPhase   = phase(1<<12 - 1) // at most 11 so far
	startedPhase = phase(1<<32 - 1) // at most 31: the P that the program began on
	poll         = 61
)

// next counts a start that does not inherit the time slice.
func (f *phase) next() {
	*f = (*f<<1 | *f>>(poll-1)) & anyPhase
}

func (f phase) maybeTick() bool { return f&1 != 0 }
func (f phase) isTick() bool    { return f == 1 }

// is and isNot note that this is, or is not, the 61st tick. A contradiction
// forgets what was known.
func (f *phase) is() { *f = 1 }

func (f *phase) isNot() {
	if *f &^= 1; *f == 0 {
		*f = anyPhase &^ 1
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
			f.is()
			r.ps[p].guess = false
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

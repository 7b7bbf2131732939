package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/reconstruct/schedtick"
	"github.com/gmpscope/gmpscope/reference"
)

// processors are the Ps: which run, and which are idle (pidleput, pidleget).
type processors struct {
	pStates    []proc
	gomaxprocs int
	assumed    bool // the trace has not stated GOMAXPROCS yet
	young      bool // the program has hardly begun
	busy       int  // Ps that have a thread; a P that no event names yet has none
	idle       idlers
	stw        stwState
}

// proc is what is known of a P.
type proc struct {
	id      int32
	known   bool // an event has named it
	running bool // it has a thread
	busy    bool // running, and one of GOMAXPROCS
	unseen  bool // since a gap in the trace: the next event says anew what it does
	idler
	release
	m         int32               // thread, -1 if none
	g         int32               // goroutine running or in a system call on it, -1
	syscall   bool                // g is in a system call
	came      int64               // when its thread came for it
	began     int64               // when g began to run
	worker    mark                // that g is
	wanted    int64               // for how many ns a dedicated worker had been wanted when it began
	ticks     [2]int64            // when the last two goroutines started that did not inherit the time slice
	tick      schedtick.Posterior // when its 61st tick comes
	tickHeard bool                // a start since tick counted last spoke against it: if the model is wrong for one, it is for all
	headAt    int64               // event before which the head of its ring had not become that
	newest    int64               // its newest transition, at the head of the window
	taint     taint               // what of its ring is uncertain
}

// release is how a P lost its thread last, and to whom it goes.
type release struct {
	released bool          // handed off (handoffp) to a thread that has not come yet
	emitted  bool          // as was said, the thread being in sight
	why      reference.Why // of it
	freed    int64         // and its time
	lastM    int32         // thread that gave the P up, nobody if it was retaken
	borrowed int64         // event by which a thread that only allocated another gives the P up
	handed   int64         // start of the locked goroutine that the P is handed to
}

// stwState is whether the world is stopped.
type stwState struct {
	open bool
	g    int64  // id of the goroutine that stops it
	why  string // the reason that the trace gives
}

// procOf returns what is known of the P with an index, nil for nobody.
func (r *processors) procOf(p int32) *proc {
	if uint(p) >= uint(len(r.pStates)) {
		return nil
	}
	return &r.pStates[p]
}

// setProcState notes that a P is running or idle.
func (r *processors) setProcState(p int32, running bool) {
	pp := &r.pStates[p]
	was := pp.busy
	r.unclaim(pp)
	pp.known, pp.running, pp.busy = true, running, running && int(pp.id) < r.gomaxprocs
	r.unlist(p)
	if !running && int(pp.id) < r.gomaxprocs {
		r.list(p)
	}
	r.countSearching(pp)
	switch {
	case pp.busy && !was:
		r.busy++
	case was && !pp.busy:
		r.busy--
	}
}

// othersIdle reports whether Ps other than p are idle (npidle), and not on their way from one thread to
// another.
func (r *lookahead) othersIdle(pp *proc) bool {
	for i := range r.ps.pStates {
		o := &r.ps.pStates[i]
		if o != pp && o.known && !o.running && int(o.id) < r.ps.gomaxprocs && !o.released && o.handed < r.now {
			return true
		}
	}
	return false
}

// places is how far apart two Ps are in the list of those that are idle when the process begins.
func (r *lookahead) places(a, b int32) int {
	if int(max(a, b)) >= r.ps.gomaxprocs {
		return schedtick.Distant // not there yet
	}
	d := int(max(a-b, b-a))
	if r.rules.IdleFromHighest {
		d = min(d, r.ps.gomaxprocs-d)
	}
	return d
}

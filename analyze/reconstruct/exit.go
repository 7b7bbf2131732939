package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// A goroutine that comes back from a system call without a P gets an idle one at once, or is put
// into the global queue (exitsyscall0; exitsyscallNoP from Go 1.26). Its thread then goes to sleep,
// and as the last to do so it is the first to be woken (mput, mget): it gets a P and finds the
// goroutine. Both look the same but for where that P had been.

// handsOn is for how long a P that forEachP took from a thread in a system call is not idle, in ns:
// until handoffp has found nothing to do for it. Half or twice: nothing.
const handsOn = 20_000

// queuedAtExit reports whether the goroutine of rec was in the global queue before its thread got a
// P with event next: that P was not idle when it looked for one.
func (r *targets) queuedAtExit(rec, next *record) bool {
	stopped := r.ps.stw.open
	queued := stopped // all idle Ps stop, too (stopTheWorldWithSema)
	switch pp := &r.ps.pStates[next.of]; pp.why {
	case reference.WhyRetakeSlow:
		// sysmon calls handoffp, which looks at the global queue before it calls a P idle.
		queued = true
	case reference.WhyGC, reference.WhyGeneration:
		queued = queued || r.ahead.time-pp.freed < handsOn
	}
	for i := r.ahead.now + 1; i < rec.nextM && i < r.ahead.now+farEnough; i++ {
		switch x := r.ahead.win.at(i); {
		case x.Kind == events.STWBegin:
			stopped = true
		case x.Kind == events.STWEnd, x.Kind == events.Procs:
			stopped = false
		case x.Kind == events.Proc && x.of == next.of && x.To == events.Idle:
			// Its thread finds the goroutine before it calls the P idle (findRunnable), if that was
			// enqueued before.
			queued = stopped || x.p != x.of
		}
	}
	return queued
}

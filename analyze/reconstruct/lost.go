package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// lost begins anew behind a gap in the trace: goroutines that were runnable or ran may have done
// anything meanwhile. One that ended there would otherwise stand in a queue for ever, and each start of
// another would contradict the model. What a P did, whether the world was stopped and the collector at
// work is unknown, too. The statuses of the next generation name goroutines and Ps anew.
func (r *stepper) lost(rec *record) {
	on := map[int32]int32{} // P on which a goroutine runs
	for p := range r.ps.pStates {
		if g := r.ps.pStates[p].g; g >= 0 {
			on[g] = int32(p)
		}
	}
	for g := int32(1); g < r.ahead.gStates.Len(); g++ {
		gp := r.ahead.gStates.At(g)
		if gp.dead || gp.hidden || gp.state == events.Undetermined || gp.state == events.NotExist {
			continue
		}
		r.queues.Remove(g)
		if gp.state == events.Runnable || gp.state == events.Running || gp.state == events.Syscall {
			p, ok := on[g]
			if !ok {
				p = nobody
			}
			r.out.emit(p, nobody, reference.Decision{Kind: reference.KindStop, G: gp.id, Class: gp.class, Victim: reference.NoP,
				Why: reference.WhyLost, Flags: gp.flags, Basis: reference.Known(reference.Assumed, reference.RuleNone)})
		}
		gp.readyAt, gp.ready, gp.isDequeued, gp.deferred = -1, none, false, false
		gp.state = events.Undetermined
	}
	if r.ps.stw.open {
		r.ps.stw.open = false
		r.out.emit(nobody, nobody, reference.Decision{Kind: reference.KindSTWEnd, G: r.ps.stw.g, Why: reference.WhyLost})
	}
	if r.requests.gcOpen { // a generation restates a collection that goes on
		r.requests.gcOpen = false
		r.out.emit(nobody, nobody, reference.Decision{Kind: reference.KindGCEnd, G: reference.NoG})
	}
	for p := range r.ps.pStates {
		pp := &r.ps.pStates[p]
		pp.unseen = true
		pp.released, pp.emitted = false, false
		r.requests.works(pp, 0)
		r.ps.setRunning(pp, nobody)
	}
	for m := range r.ahead.mStates {
		r.ahead.mStates[m].g = nobody
	}
	r.out.emit(nobody, nobody, reference.Decision{Kind: reference.KindLost, G: reference.NoG, Wait: rec.res(), Victim: reference.NoP,
		Basis: observed})
}

package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// lost begins anew behind a gap in the trace: who was runnable or ran may have
// done anything meanwhile. A goroutine that ended there would otherwise stand in
// a queue for ever, and each start of another would contradict the model. What a P
// did, whether the world was stopped and the collector at work is not known any more
// either. The statuses of the next generation say who is there, and what the Ps do.
func (r *judge) lost(it *item) {
	on := map[int32]int32{} // P on which a goroutine runs
	for ix := range r.ps {
		if p := &r.ps[ix]; p.g >= 0 {
			on[p.g] = p.id
		}
	}
	for ix := int32(1); ix < r.gs.Len(); ix++ {
		g := r.gs.At(ix)
		if g.dead || g.hidden || g.state == events.Undetermined || g.state == events.NotExist {
			continue
		}
		if r.q.Place(ix).Queue != reference.QueueUnknown {
			r.q.Remove(ix)
		}
		if g.state == events.Runnable || g.state == events.Running || g.state == events.Syscall {
			d := reference.Decision{Kind: reference.KindStop, G: g.id, Class: g.class, P: reference.NoP, M: reference.NoM, Victim: reference.NoP,
				Why: reference.WhyLost, Flags: g.flags, Basis: reference.Known(reference.Assumed, reference.RuleNone)}
			if p, ok := on[ix]; ok {
				d.P = p
			}
			r.say(&d)
		}
		g.readyAt, g.ready, g.isTaken, g.late = -1, none, false, false
		g.state = events.Undetermined
	}
	if r.stw.open {
		r.stw.open = false
		r.say(&reference.Decision{Kind: reference.KindSTWEnd, G: r.stw.g, P: reference.NoP, M: reference.NoM, Why: reference.WhyLost})
	}
	if r.gcOpen { // a generation restates a collection that goes on
		r.gcOpen = false
		r.say(&reference.Decision{Kind: reference.KindGCEnd, G: reference.NoG, P: reference.NoP, M: reference.NoM})
	}
	for ix := range r.ps {
		p := &r.ps[ix]
		p.syscall, p.unseen = false, true
		p.released, p.told = false, false
		r.works(p, 0)
		r.runs(p, nobody)
	}
	for ix := range r.ms {
		r.ms[ix].g = nobody
	}
	r.say(&reference.Decision{Kind: reference.KindLost, G: reference.NoG, P: reference.NoP, M: reference.NoM, Wait: it.res(), Victim: reference.NoP,
		Basis: reference.Known(reference.Observed, reference.RuleNone)})
}

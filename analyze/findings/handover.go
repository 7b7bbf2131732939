package findings

import "github.com/gmpscope/gmpscope/reference"

// Handover is the transfer of a P from the thread that lost it to the one that next ran
// something on it: after sysmon retook it, or to and from threads with locked goroutines
// (runtime/proc.go: handoffp, startlockedm, stoplockedm). Transfers during a
// stop-the-world are left out. [View.Handovers] reports them.
type Handover struct {
	From, To int64         // ns: the P was given up, and ran something again
	P        int32         // that was handed over
	Why      reference.Why // why it was given up: WhyLocked, WhyRetakeSlow, WhySyscall, ...
	// Giver is the ID of the goroutine that ran on the P before, GiverClass the handle of its
	// class, and GiverStack that of the stack at which it left the P; 0 if unknown.
	Giver      int64
	GiverClass int32
	GiverStack int32
	// G is the ID of the goroutine that ran next, or, if that was one of the runtime's, of the
	// first behind it, and Class the handle of its class.
	G      int64
	Class  int32
	Locked bool // the goroutine that ran next is locked to its thread
	// Ns is how long goroutines of the program waited for this P meanwhile, summed, in ns: those
	// in its queue, the one that ran, and its share of the global queue, 1/GOMAXPROCS.
	Ns int64
}

// hand is a Handover under way, and who ran on the P last.
type hand struct {
	at            int64 // -1: there is none
	stops         int64 // View.stws then
	local, global int64 // the queues' integrals then
	stack         int32 // where the last run interval on it ended, or had entered a system call
	why           reference.Why
	handed        bool // handoffp started a thread for it
	coming        bool // and that has not got it yet
}

// released begins a hand-over if the P goes to or from a wired thread, and ends
// one that came to nothing.
func (w *follower) released(p *proc, d *reference.Decision) {
	p.hand.at = -1
	w.setComing(p, false)
	if d.Why == reference.WhyLocked {
		w.beginHand(p, d)
	}
}

func (w *follower) handedOff(p *proc, d *reference.Decision) {
	if p.hand.at < 0 {
		w.beginHand(p, d)
	}
	p.hand.handed = true
	w.setComing(p, true)
}

func (w *follower) setComing(p *proc, on bool) {
	w.coming += b2i64(on) - b2i64(p.hand.coming)
	p.hand.coming = on
}

func (w *follower) beginHand(p *proc, d *reference.Decision) {
	h := &p.hand
	h.at, h.stops, h.why, h.handed = w.now, w.stws, d.Why, false
	h.local, h.global = w.local[p.slice.P].waited(w.now), w.global.waited(w.now)
}

// handOver ends a hand-over: g is about to run on p, and is in no queue.
func (w *follower) handOver(p *proc, g *Goroutine, d *reference.Decision) {
	h := &p.hand
	at := h.at
	h.at = -1
	locked := d.Flags&reference.FlagLocked != 0
	if w.handovers.on == 0 || w.stw || h.stops != w.stws || !h.handed && !locked {
		return
	}
	ns := w.local[p.slice.P].waited(w.now) - h.local + (w.global.waited(w.now)-h.global)/w.Procs()
	who := g
	if d.Flags&reference.FlagTaken != 0 && g.ReadyAt >= 0 && !g.System {
		ns += w.now - max(at, w.QueuedAt(g))
	}
	for _, l := range []*list{&w.local[p.slice.P], &w.global} {
		if who.System && l.head != 0 {
			who = w.gs.At(w.turns.At(l.head).slot)
		}
	}
	w.hand = Handover{From: at, To: w.now, P: p.slice.P, Why: h.why, Giver: p.run.G, GiverClass: p.run.Class, GiverStack: h.stack,
		G: who.ID, Class: who.Class, Locked: locked, Ns: ns}
	w.handovers.emit(&w.hand)
}

package findings

import (
	"math"

	"github.com/gmpscope/gmpscope/analyze/ids"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/span"
	"github.com/gmpscope/gmpscope/reference"
)

// View is the state that all Watchers of a [Set] share: queues, running goroutines, run
// intervals, time slices and Ps. Its methods tell the state after the last decision, and subscribe
// to what happens. Times are in ns since the first event of the trace.
//
// When a Watcher that subscribed to decisions is called, the View has taken that
// decision. The ends of intervals are emitted in the middle: the interval is over, but
// its consequences have not happened yet.
//
// Memory follows the goroutines alive, and the Ps and classes with an account, which
// are bounded. A decision costs no look-up and no loop.
type View struct {
	now   int64
	block *ledger.Block // the decision's
	at    int           // the decision's number in it
	// Of the block's intervals of Ps, the first that the decision ended, perhaps, and the one after those.
	changed, changes int
	usablePs         int64
	globalLen        int32
	stw              bool
	takenNs          int64 // TakenNs

	queues
	processors
	usage
	accounts // of classes
	strain
	interruptions
	callers
	subscriptions

	ran      runTime
	unserved int64 // UnservedByIdlePs
	// Until a KindReady shows too many runnable goroutines: one has shown enough Ps.
	uncrowded bool

	runnable, running int64 // goroutines of the program
	totals            Totals
	loadSum           float64 // integral of Load over time
	stalls            Stalls
	quiet             Silence   // the last time of silenceNs or more without a decision
	kept              *Silences // see NewSilences
}

// follower updates a View by each decision, along the notes of the ledger.
type follower struct {
	View
	note        *ledger.Note // of the decision
	usableAfter int64        // usablePs once the decision's changes are followed
	procs       int32        // GOMAXPROCS as the stream gave it last
	maxProcs    int32
	lowered     bool // GOMAXPROCS is below what it was, and the world is not stopped
	span        *span.Accumulator
	gaps        int64   // ns before now that are not recorded
	idle        int64   // Ps, when unserved was counted last
	waitedNs    int64   // for how long goroutines of the program waited that had not yielded, summed
	localWait   int64   // how long those of Totals.LocalStarts had waited, ns
	blocked     int64   // ns, of goroutines of the program, up to when they were woken or came back from a system call without a P
	load        float64 // Load after the last decision
	wanting     int64   // that had load: goroutines that ran or were runnable
	usable      int64   // and usable Ps
	firstOnP    bool    // of the last KindStart
	stws        int64   // stops of the world
	coming      int64   // Ps that have no thread and are not idle: handoffp has started one for each

	// Those that are emitted.
	call      Syscall
	hand      Handover
	residency Residency
	heldUp    HeldUp
}

// newFollower returns a follower that has seen nothing.
func newFollower() *follower {
	w := &follower{
		View: View{
			processors: processors{gomaxp: 1}, usage: usage{slackFrom: math.MaxInt64, parallelFrom: math.MaxInt64},
			subscriptions: newSubscriptions(), callers: newCallers(), accounts: newAccounts(), interruptions: interruptions{},
			queues: queues{goroutines: goroutines{byID: ids.New(), wakerID: reference.NoG}},
		},
		load: 1, span: span.New(),
	}
	w.turns.Make(0).list = inNone
	return w
}

// add processes the next block of the stream.
func (w *follower) add(b *ledger.Block) {
	w.block = b
	w.gs.Grow(b.Slots)
	w.know(b.Classes)
	ds, next, ps := b.Decisions, 0, 0
	notes := b.Notes[:len(ds)]
	calls := 0 // end of the last row of brief system calls
	off := b.OffCPU
	w.changed, w.changes = 0, 0
	for i := range ds {
		if i < next {
			continue
		}
		for len(off) > 0 && off[0].To <= ds[i].Time {
			if p := w.p(off[0].P); p != nil { // a run interval that ends had no CPU for so long
				p.off += off[0].Ns
			}
			off = off[1:]
		}
		if ds[i].Kind == reference.KindSyscall {
			calls = max(calls, i+b.Calls(i))
			if k := w.addCalls(ds[i:max(i, calls)]); k > 0 {
				next = i + k
				w.changes += k // each changed the P
				continue
			}
		}
		w.note, w.at = &notes[i], i
		if w.note.Changed&ledger.Counts != 0 {
			w.usableAfter = int64(b.Ps[ps].Usable)
			ps++
		}
		w.process(&ds[i])
	}
}

// process processes the next decision, and emits it.
func (w *follower) process(d *reference.Decision) {
	w.passTo(d.Time)
	// The ends of intervals come before the Ps change, the rest after.
	switch d.Kind {
	case reference.KindReady:
		w.globalLen = d.Global
		w.ready(d)
		w.see(d)
		w.emitReady(d)
	case reference.KindStart:
		w.start(d)
		w.globalLen = d.Global
		w.applyPs()
		w.see(d)
		w.emitStart(d)
	case reference.KindStop:
		w.stop(d)
		w.applyPs()
		w.see(d)
		w.emitStop(d)
	case reference.KindSyscall:
		w.syscall(d)
		w.applyPs()
		w.see(d)
		w.emit(d, reference.KindSyscall)
	case reference.KindSyscallExit:
		w.syscallExit(d)
		w.applyPs()
		w.see(d)
		if d.P < 0 {
			w.when[WithoutP][reference.KindSyscallExit].emit(d)
		}
		w.emit(d, reference.KindSyscallExit)
	case reference.KindMove:
		w.move(d)
		w.globalLen = d.Global
		w.countUnserved(d)
		w.emit(d, d.Kind)
	default:
		w.addRare(d)
		w.emit(d, d.Kind)
		if d.Kind == reference.KindLost {
			w.skip(d.Wait)
		}
	}
}

// decision returns the one that is being taken.
func (w *follower) decision() *reference.Decision { return &w.block.Decisions[w.at] }

// applyPs follows what the decision meant for the states of the Ps.
func (w *follower) applyPs() {
	w.usablePs = w.usableAfter
	ps, i := w.block.PIntervals, w.changes
	for w.changed = i; i < len(ps) && int(ps[i].At) == w.at; i++ {
		w.counts[ps[i].State]--
		w.counts[ps[i].Next]++
	}
	w.changes = i
}

// addRare processes a decision of the other kinds.
func (w *follower) addRare(d *reference.Decision) {
	w.g = nil
	switch d.Kind {
	case reference.KindPStart:
		if p := w.p(d.P); p != nil {
			p.stopAt, p.freeAt, p.fresh = -1, w.now, true
			w.still(p, d.M)
			w.setComing(p, false)
			w.setWaking(p, true)
		}
	case reference.KindPStop, reference.KindRetake:
		if p := w.p(d.P); p != nil {
			if p.sysAt >= 0 && p.g != nil { // the system call goes on without the P
				p.g.CallWhy = d.Why
				w.callOver(p, d.Why)
			}
			why := d.Why
			if d.Kind == reference.KindRetake {
				why = reference.WhyRetakeSlow
			}
			w.endRunOn(p, why, 0, false)
			w.endSlice(p, false)
			w.stirs(p, d.M)
			p.stopAt, p.last = -1, false
			w.setWaking(p, false)
			w.released(p, d)
		}
	case reference.KindHandoff:
		if p := w.p(d.P); p != nil {
			w.handedOff(p, d)
		}
	case reference.KindAssistBegin, reference.KindAssistEnd:
		w.assist(d)
	case reference.KindSTWBegin:
		w.stw = true
		w.stws++
	case reference.KindSTWEnd:
		w.stw = false
		for i := range w.ps {
			if p := &w.ps[i]; p.stillAt >= 0 {
				w.still(p, p.m)
			}
		}
	case reference.KindProcs:
		w.procs = max(0, d.Batch)
		w.maxProcs = max(w.maxProcs, d.Batch)
	case reference.KindSample:
		if d.G >= 0 && d.Flags.OfProgram() {
			w.ran.set(w.now, w.running)
		}
	case reference.KindLost:
		w.globalLen = 0
		w.forget()
	}
	w.applyPs()
	switch d.Kind {
	case reference.KindSTWBegin, reference.KindSTWEnd, reference.KindProcs:
		w.gomaxp = max(1, int64(w.procs))
		w.lowered = w.gomaxp < int64(w.maxProcs) && !w.stw
		w.limit(w.gomaxp, w.stw)
	}
	switch d.Kind {
	case reference.KindPStart, reference.KindPStop, reference.KindRetake, reference.KindSTWEnd, reference.KindProcs, reference.KindLost:
		w.span.Ps(int64(w.procs), w.usablePs)
		w.idle = idleUnknown
		w.see(d)
	case reference.KindHandoff, reference.KindSTWBegin:
		w.idle = idleUnknown
		w.countUnserved(d)
	}
}

// passTo lets time pass until the next decision, at t.
func (w *follower) passTo(t int64) {
	if dt := t - w.now; dt > 0 {
		if dt >= silenceNs {
			w.silent(t)
		}
		w.pass(dt)
		w.span.Pass(t)
	}
}

// pass lets dt ns pass.
func (w *follower) pass(dt int64) {
	w.loadSum += float64(w.load * float64(dt))
	w.now += dt
	w.waitedNs += dt * (w.runnable - w.yielded)
	if w.lowered {
		w.takenNs += dt * max(0, min(int64(w.maxProcs)-w.gomaxp, w.runnable-w.yielded))
	}
}

// skip passes ns that are not recorded, without a silence: nobody is known to run.
func (w *follower) skip(ns int64) {
	if ns <= 0 || ns > math.MaxInt64-w.now {
		return
	}
	w.gaps += ns
	w.pass(ns)
	w.span.Pass(w.now)
}

// forget is for a gap in the trace, before which all that ran or were runnable have
// been stopped: what the Ps do from now on is not known, and a wait for something that
// ends after it would be as long as the gap at least.
func (w *follower) forget() {
	for k := range w.ps {
		p := &w.ps[k]
		w.endSlice(p, true)
		p.stopAt, p.StopAt, p.stillAt, p.last, p.fresh = -1, -1, -1, false, false
		p.hand.at = -1
		w.setComing(p, false)
		w.setWaking(p, false)
	}
	for i := int32(1); i < w.slots; i++ {
		g := w.gs.At(i)
		g.BlockedAt, g.BlockedNs, g.Reason = -1, -1, reference.ReasonNone
		g.CallAt, g.slackAt = -1, -1
		g.round = round{runNs: g.RunNs, waitNs: g.WaitNs}
	}
}

func (w *follower) setWaking(p *proc, on bool) {
	w.waking += b2i64(on) - b2i64(p.waking)
	p.waking = on
}

func (w *follower) p(id int32) *proc {
	if uint(id) < uint(len(w.ps)) {
		return &w.ps[uint(id)]
	}
	return w.addP(id)
}

// addP returns a P that was not seen before; nil if there is none to be had.
func (w *follower) addP(id int32) *proc {
	if id < 0 || id >= ledger.MaxPs {
		return nil
	}
	for int(id) >= len(w.ps) {
		id := int32(len(w.ps))
		w.local = append(w.local, list{})
		w.ps = append(w.ps, proc{PHistory: noHistory, sysAt: -1, stopAt: -1, stillAt: -1, assistAt: -1, hand: hand{at: -1}, slice: Slice{P: id}, part: SlicePart{P: id}})
	}
	return &w.ps[id]
}

func b2i64(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func (w *follower) ready(d *reference.Decision) {
	w.waker = nil
	if d.G < 0 {
		w.g = nil
		return
	}
	g := w.goroutine()
	if g.StartAt >= 0 { // its stop was not shown
		w.endRun(g, d.Why, 0)
	}
	if p := w.p(d.P); p != nil && p.stillAt >= 0 && d.By < 0 {
		w.stirs(p, d.M) // its thread looked at timers or the network
		w.still(p, d.M)
	}
	t := w.beginTurn(g)
	w.leave(g, t)
	w.begin(g, &g.ReadyAt, &w.runnable)
	g.Self = d.Why == reference.WhyGosched
	by := (*Goroutine)(nil)
	if slot := w.block.Waker(w.at); slot != 0 {
		by = w.gs.At(slot)
		w.waker = by
	}
	if d.Why == reference.WhyCreate {
		g.New, g.Creator = true, d.By
		if by != nil {
			w.classes[by.class].Creates++
			by.Created++
		}
	}
	g.ReadyWhy, g.Waker, g.WakeStack = d.Why, d.By, d.Stack
	w.wakerID, w.wakerStack = d.By, d.Stack
	if d.Why == reference.WhyGosched {
		w.wakerID = d.G
	}
	g.BlockedNs = -1
	g.await(d.Why, by)
	switch {
	case d.Why == reference.WhySyscallExit: // what it was blocked for before is over
		g.BlockedAt, g.Reason = -1, reference.ReasonNone
		if g.CallAt >= 0 && !g.System {
			w.blocked += w.now - g.CallAt
		}
	case g.Reason != reference.ReasonNone && g.BlockedAt >= 0:
		g.BlockedNs = w.now - g.BlockedAt
		g.round = round{g.BlockedNs, g.Reason, g.RunNs, g.WaitNs}
		if !g.System {
			w.blocked += g.BlockedNs
		}
	}
	t.wanted, t.usable, t.loadAt = int32(w.runnable+w.running), int32(w.usablePs), w.loadSum
	w.enter(g, t, d.To, d.P)
	if !g.System {
		if d.Why == reference.WhyNetwork {
			w.totals.NetworkWakes++
		}
		w.span.Ready(&g.node, g.Class)
		if by != nil && by != g && !by.System {
			w.span.Wake(&g.node, &by.node, by.Class, d.Stack)
		}
		if g.BlockedNs >= 0 {
			c := &w.classes[g.class]
			c.BlockedNs += g.BlockedNs
			c.Woken++
			if by != nil && by != g && d.Why == reference.WhyUnblock {
				c.Waker.Add(by.Class, 1)
			} else {
				c.Outside++
			}
		}
	}
	if d.By >= 0 && g.slackAt >= 0 {
		if ns := w.slack.ns(w.now) - g.slackAt; ns > 0 && by != nil && !g.System {
			w.heldUp = HeldUp{G: g, By: by, To: w.now, Ns: ns}
			w.heldUps.emit(&w.heldUp)
		}
		g.slackAt = -1
	}
	g.Created = 0
}

// finish ends what is open at the end of the trace.
func (w *follower) finish(end int64) {
	if dt := end - w.now; dt > 0 {
		w.pass(dt)
	}
	for k := range w.ps {
		p := &w.ps[k]
		w.endRunOn(p, reference.WhyUnknown, 0, true)
		w.endSlice(p, true)
	}
	for i := int32(1); i < w.slots; i++ {
		g := w.gs.At(i)
		if g.turn != 0 {
			w.residencyOver(g, w.turn(g), nil, false)
		}
		if g.inCall() && !g.System {
			w.blocked += w.now - g.CallAt
		}
	}
}

// inCall reports whether g is in a system call in which it has lost its P.
func (g *Goroutine) inCall() bool {
	return g.ReadyAt < 0 && g.StartAt < 0 && g.BlockedAt < 0 && g.CallAt >= 0 && g.CallWhy != reference.WhyUnknown
}

// nodes gives what the span keeps of the goroutines, in the order of their slots.
func (w *follower) nodes(yield func(int32, *span.Node) bool) {
	for i := int32(1); i < w.slots; i++ {
		if g := w.gs.At(i); !yield(g.Class, &g.node) {
			return
		}
	}
}

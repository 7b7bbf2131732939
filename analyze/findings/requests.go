package findings

import (
	"math"
	"math/bits"

	"github.com/gmpscope/gmpscope/reference"
)

// requests are what watchers asked a [World] for. A call costs several
// nanoseconds, and most decisions concern few detectors; so each says as exactly
// as it can when it wants to be called. All arguments are valid during the call.
type requests struct {
	on      [reference.Kinds]calls[reference.Decision]
	onWhy   [reference.Kinds][]calls[reference.Decision] // by Why; nil: nobody asked
	onWake  [reasonMask + 1]calls[reference.Decision]
	onBlock [reasonMask + 1]calls[reference.Decision]
	onStart [whyMask + 1]calls[reference.Decision] // by Goroutine.ReadyWhy
	onGC    [reference.Kinds]calls[reference.Decision]
	onFirst calls[reference.Decision]
	onDoubt calls[reference.Decision]
	onNoP   calls[reference.Decision]
	onCrowd calls[reference.Decision]
	onLost  calls[reference.Decision]

	asked    uint32 // a bit for each kind that On, OnWhy, OnGC or OnMarked asked for
	onReturn calls[reference.Decision]

	// What was asked for of these, a bit each: most decisions need no look at them.
	askedWhy                          [reference.Kinds]uint32
	askedWake, askedBlock, askedStart uint32
	askedLeave                        uint32

	onMark [reference.Kinds]Mark
	marks  []func(*reference.Decision) // by the bit of the Mark

	onCall     calls[Syscall]
	longCall   int64 // shortest that somebody wants
	onLongCall calls[Syscall]

	onStint     calls[Stint]
	onMoved     calls[Stint]
	onStolen    calls[Stint]
	window      int64
	windowEnd   int64
	onWindow    calls[Stint]
	onStintWhy  [whyMask + 1]calls[Stint]
	askedStint  uint32 // as askedWhy
	longStint   int64
	onLongStint calls[Stint]
	longWait    int64
	onLongWait  calls[Stint]

	longSlice   int64
	onLongSlice calls[Slice]
	onPreempted calls[Slice]
	longTurn    int64
	onLongTurn  calls[Turn]

	onLeaveWhy    [whyMask + 1]calls[Stay] // by Goroutine.ReadyWhy
	onLeaveGlobal calls[Stay]

	longQueue   int64 // a P's queue of so many is long
	long        int64 // how many are
	someLong    bool
	onLongQueue calls[bool]

	onHand    calls[Handover]
	onSilence calls[Silence]
	onUse     calls[Use]
	onHeldUp  calls[HeldUp]
}

// More than there are.
const (
	whyMask    = 31
	reasonMask = 31
)

func newRequests() requests {
	return requests{
		longCall: math.MaxInt64, longStint: math.MaxInt64, longWait: math.MaxInt64, longSlice: math.MaxInt64,
		longTurn: math.MaxInt64, longQueue: math.MaxInt64, window: math.MaxInt64, windowEnd: math.MaxInt64,
	}
}

// maxCalls is how many functions of a list can be switched. Those beyond share the
// last bit, which is always on.
const maxCalls = 63

// calls is a list of functions, in the order in which they were asked for.
type calls[T any] struct {
	on   uint64 // bit i: fs[i] is wanted
	fs   []func(*T)
	more []func(*T)
}

func (c *calls[T]) ask(f func(*T)) *Switch {
	n := len(c.fs)
	if n < maxCalls {
		c.fs = append(c.fs, f)
		c.on |= 1 << n
		return &Switch{lists: []*uint64{&c.on}, bits: []uint64{1 << n}}
	}
	if n == maxCalls {
		c.on |= 1 << n
		c.fs = append(c.fs, func(x *T) {
			for _, f := range c.more {
				f(x)
			}
		})
	}
	c.more = append(c.more, f)
	return &Switch{}
}

// call is small, so that a list of which nobody wants anything costs no call.
func (c *calls[T]) call(x *T) {
	if c.on != 0 {
		c.callAll(x)
	}
}

// callAll stays apart: inlined into call, it would keep that from being inlined.
//
//go:noinline
func (c *calls[T]) callAll(x *T) {
	for on := c.on; on != 0; on &= on - 1 {
		c.fs[bits.TrailingZeros64(on)](x)
	}
}

// Switch turns calls off and on, which costs nothing: a watcher that waits for a
// rare thing to begin need not be told what matters only then. It may be called
// all the same.
type Switch struct {
	lists []*uint64
	bits  []uint64
}

// Set turns the calls on or off.
func (s *Switch) Set(on bool) {
	for i, l := range s.lists {
		if on {
			*l |= s.bits[i]
		} else {
			*l &^= s.bits[i]
		}
	}
}

func (s *Switch) join(t *Switch) {
	s.lists, s.bits = append(s.lists, t.lists...), append(s.bits, t.bits...)
}

// On asks for a call at each decision of the given kinds, after the World has
// taken it.
func (r *requests) On(f func(*reference.Decision), kinds ...reference.Kind) *Switch {
	s := &Switch{}
	for _, k := range kinds {
		s.join(r.on[k].ask(f))
		r.asked |= 1 << k
	}
	return s
}

// OnWhy asks for the decisions of a kind that have one of the given causes.
func (r *requests) OnWhy(f func(*reference.Decision), k reference.Kind, whys ...reference.Why) *Switch {
	if r.onWhy[k] == nil {
		r.onWhy[k] = make([]calls[reference.Decision], whyMask+1)
	}
	r.asked |= 1 << k
	s := &Switch{}
	for _, y := range whys {
		s.join(r.onWhy[k][y&whyMask].ask(f))
		r.askedWhy[k] |= 1 << (y & whyMask)
	}
	return s
}

// OnWake asks for each KindReady of a goroutine of the program that had blocked
// for one of the given reasons.
func (r *requests) OnWake(f func(*reference.Decision), reasons ...reference.Reason) {
	for _, x := range reasons {
		r.onWake[x&reasonMask].ask(f)
		r.askedWake |= 1 << (x & reasonMask)
	}
}

// OnBlock asks for each KindStop with one of the given reasons.
func (r *requests) OnBlock(f func(*reference.Decision), reasons ...reference.Reason) {
	for _, x := range reasons {
		r.onBlock[x&reasonMask].ask(f)
		r.askedBlock |= 1 << (x & reasonMask)
	}
}

// OnStart asks for each KindStart of a goroutine that had become runnable for one
// of the given causes.
func (r *requests) OnStart(f func(*reference.Decision), whys ...reference.Why) {
	for _, y := range whys {
		r.onStart[y&whyMask].ask(f)
		r.askedStart |= 1 << (y & whyMask)
	}
}

// OnFirst asks for the first KindStart on a P after each KindPStart of it.
func (r *requests) OnFirst(f func(*reference.Decision)) {
	r.onFirst.ask(f)
}

// OnUnexplained asks for each KindStart of which nobody knows where the goroutine
// was taken from.
func (r *requests) OnUnexplained(f func(*reference.Decision)) {
	r.onDoubt.ask(f)
}

// OnReturn asks for each KindSyscallExit of a goroutine that has lost its P.
func (r *requests) OnReturn(f func(*reference.Decision)) { r.onReturn.ask(f) }

// OnNoP asks for each KindReady by a thread without a P.
func (r *requests) OnNoP(f func(*reference.Decision)) { r.onNoP.ask(f) }

// OnCrowd asks for each KindReady after which more goroutines are runnable than
// there are Ps, those that yielded left out.
func (r *requests) OnCrowd(f func(*reference.Decision)) { r.onCrowd.ask(f) }

// OnLost asks for a call when [World.Lost] or the number of idle Ps changes, and at
// each decision about a P's thread or a stop of the world.
func (r *requests) OnLost(f func(*reference.Decision)) { r.onLost.ask(f) }

// OnUse asks for a call at each decision that could have changed [Use], where there
// was Slack before it or is afterwards.
func (r *requests) OnUse(f func(*Use)) { r.onUse.ask(f) }

// OnHeldUp asks for a call when such a goroutine becomes runnable, before what
// [World.On] asked for.
func (r *requests) OnHeldUp(f func(*HeldUp)) { r.onHeldUp.ask(f) }

// OnGC asks for the decisions of the given kinds about mark workers.
func (r *requests) OnGC(f func(*reference.Decision), kinds ...reference.Kind) {
	for _, k := range kinds {
		r.asked |= 1 << k
		r.onGC[k].ask(f)
	}
}

// Mark marks goroutines for a watcher: see [World.OnMarked].
type Mark uint8

// maxMarks is how many marks there are: each goroutine has a bit for each.
const maxMarks = 8

// OnMarked asks for the decisions of the given kinds about goroutines that have
// the mark which it returns. [World.Mark] sets it; it is gone when the goroutine
// ends. There may be calls for others.
func (r *requests) OnMarked(f func(*reference.Decision), kinds ...reference.Kind) Mark {
	if len(r.marks) == maxMarks { // there are no more
		r.On(f, kinds...)
		return 0
	}
	m := Mark(1) << len(r.marks)
	r.marks = append(r.marks, f)
	for _, k := range kinds {
		r.asked |= 1 << k
		r.onMark[k] |= m
	}
	return m
}

// OnSyscall asks for a call when a system call that began with a P comes back,
// or loses the P, before the World takes that decision.
func (r *requests) OnSyscall(f func(*Syscall)) *Switch { return r.onCall.ask(f) }

// OnLongSyscall is OnSyscall for those of at least ns, and those that lose the P.
func (r *requests) OnLongSyscall(f func(*Syscall), ns int64) {
	r.longCall = min(r.longCall, ns)
	r.onLongCall.ask(f)
}

// OnStint asks for a call at the end of each run interval, before the goroutine
// is queued anew.
func (r *requests) OnStint(f func(*Stint)) *Switch { return r.onStint.ask(f) }

// OnStintWhy is OnStint for those that ended for one of the given causes.
func (r *requests) OnStintWhy(f func(*Stint), whys ...reference.Why) {
	for _, y := range whys {
		r.onStintWhy[y&whyMask].ask(f)
		r.askedStint |= 1 << (y & whyMask)
	}
}

// OnMoved is OnStint for those of the program on another P than the goroutine's last.
func (r *requests) OnMoved(f func(*Stint)) { r.onMoved.ask(f) }

// OnStolen is OnStint for those of the program whose goroutine was stolen from
// another P.
func (r *requests) OnStolen(f func(*Stint)) { r.onStolen.ask(f) }

// OnWindow asks for a call, before the others for it, at the end of the first run
// interval of the program that ends in each window of so many ns, but the first one.
// All who ask must mean the same windows.
func (r *requests) OnWindow(f func(*Stint), ns int64) {
	r.window, r.windowEnd = ns, ns
	r.onWindow.ask(f)
}

// OnLongStint is OnStint for those of at least ns, system calls included. There
// may be calls for shorter ones, if others asked for them.
func (r *requests) OnLongStint(f func(*Stint), ns int64) *Switch {
	r.longStint = min(r.longStint, ns)
	return r.onLongStint.ask(f)
}

// OnLongWait is OnStint for those before which the goroutine waited at least ns,
// or less, if others asked for that.
func (r *requests) OnLongWait(f func(*Stint), ns int64) {
	r.longWait = min(r.longWait, ns)
	r.onLongWait.ask(f)
}

// OnLongSlice asks for a call at the end of each time slice of at least ns,
// system calls included, or of less, if others asked for that; before the start
// of the goroutine that has the next one.
func (r *requests) OnLongSlice(f func(*Slice), ns int64) {
	r.longSlice = min(r.longSlice, ns)
	r.onLongSlice.ask(f)
}

// OnLongTurn is OnLongSlice for turns: they also end with a preemption. Those shorter
// than what all ask for are not told.
func (r *requests) OnLongTurn(f func(*Turn), ns int64) {
	r.longTurn = min(r.longTurn, ns)
	r.onLongTurn.ask(f)
}

// OnPreempted asks for a call at the end of each time slice that sysmon ended.
func (r *requests) OnPreempted(f func(*Slice)) { r.onPreempted.ask(f) }

// OnLeave asks for a call when a goroutine of the program that became runnable
// for one of the given causes leaves a queue, before it does.
func (r *requests) OnLeave(f func(*Stay), whys ...reference.Why) {
	for _, y := range whys {
		r.onLeaveWhy[y&whyMask].ask(f)
		r.askedLeave |= 1 << (y & whyMask)
	}
}

// OnLeaveGlobal asks for a call when a goroutine of the program leaves the global
// queue, before it does.
func (r *requests) OnLeaveGlobal(f func(*Stay)) { r.onLeaveGlobal.ask(f) }

// OnLongQueue asks for a call when the first P's queue gets as long as least, or
// less if others asked for that, and when no queue is so long any more. It comes
// before what [World.On] asked for.
func (r *requests) OnLongQueue(f func(some *bool), least int64) {
	r.longQueue = min(r.longQueue, least)
	r.onLongQueue.ask(f)
}

// lengthened and shortened keep the number of long queues when one has got n
// goroutines.
func (r *requests) lengthened(n int64) {
	if n == r.longQueue {
		r.setLong(r.long + 1)
	}
}

func (r *requests) shortened(n int64) {
	if n == r.longQueue-1 {
		r.setLong(r.long - 1)
	}
}

func (r *requests) setLong(n int64) {
	r.long = n
	if some := n > 0; some != r.someLong {
		r.someLong = some
		r.onLongQueue.call(&r.someLong)
	}
}

// OnHandover asks for a call when a P that changed threads runs again, before
// its goroutine does.
func (r *requests) OnHandover(f func(*Handover)) { r.onHand.ask(f) }

// OnSilence asks for a call at the end of each time of 5 ms and more without any
// decision in which a goroutine of the program ran, before the World takes the
// decision that ends it.
func (r *requests) OnSilence(f func(*Silence)) { r.onSilence.ask(f) }

// tell calls those who asked for decision d of kind k, which w has taken.
func (w *World) tell(d *reference.Decision, k reference.Kind) {
	if w.asked>>k&1 != 0 {
		w.tellAll(d, k)
	}
}

func (w *World) tellAll(d *reference.Decision, k reference.Kind) {
	w.on[k].call(d)
	w.tellSome(d, k)
	w.tellMarked(d, w.g, k)
}

// tellReady, tellStart and tellStop are tell for these, which somebody always asks
// for.
func (w *World) tellReady(d *reference.Decision) {
	w.on[reference.KindReady].call(d)
	if w.wantsSome(d, reference.KindReady) {
		w.tellSome(d, reference.KindReady)
	}
	if d.Flags&reference.FlagNoP != 0 {
		w.onNoP.call(d)
	}
	if w.runnable-w.yielded <= w.gomaxp {
		w.calm = true
	} else {
		w.onCrowd.call(d)
		w.calm = false
	}
	g := w.g
	if g == nil {
		return
	}
	if w.askedWake>>(g.Reason&reasonMask)&1 != 0 && !g.System {
		w.onWake[g.Reason&reasonMask].call(d)
	}
	w.tellMarked(d, g, reference.KindReady)
}

func (w *World) tellStart(d *reference.Decision) {
	w.on[reference.KindStart].call(d)
	if w.wantsSome(d, reference.KindStart) {
		w.tellSome(d, reference.KindStart)
	}
	g := w.g
	if g == nil {
		return
	}
	if w.askedStart>>(g.ReadyWhy&whyMask)&1 != 0 {
		w.onStart[g.ReadyWhy&whyMask].call(d)
	}
	if w.first {
		w.onFirst.call(d)
	}
	if d.Basis.Level() == reference.Unknown {
		w.onDoubt.call(d)
	}
	w.tellMarked(d, g, reference.KindStart)
}

func (w *World) tellStop(d *reference.Decision) {
	w.on[reference.KindStop].call(d)
	if w.wantsSome(d, reference.KindStop) {
		w.tellSome(d, reference.KindStop)
	}
	if w.askedBlock>>(d.Reason&reasonMask)&1 != 0 {
		w.onBlock[d.Reason&reasonMask].call(d)
	}
	w.tellMarked(d, w.g, reference.KindStop)
}

// wantsSome reports whether tellSome has somebody to call. It is small, so that most
// decisions cost no call.
func (w *World) wantsSome(d *reference.Decision, k reference.Kind) bool {
	return w.askedWhy[k]>>(d.Why&whyMask)&1 != 0 || d.Flags&reference.FlagGC != 0
}

// tellSome calls those who asked for the decisions of a kind with d's cause, or for
// those about mark workers.
func (w *World) tellSome(d *reference.Decision, k reference.Kind) {
	if w.askedWhy[k]>>(d.Why&whyMask)&1 != 0 {
		w.onWhy[k][d.Why&whyMask].call(d)
	}
	if d.Flags&reference.FlagGC != 0 {
		w.onGC[k].call(d)
	}
}

// tellMarked calls those who have marked g, d's goroutine, and asked for the kind.
func (w *World) tellMarked(d *reference.Decision, g *Goroutine, k reference.Kind) {
	if g != nil && g.marks&w.onMark[k] != 0 {
		w.callMarked(d, g)
	}
}

func (w *World) callMarked(d *reference.Decision, g *Goroutine) {
	for m := g.marks & w.onMark[d.Kind]; m != 0; m &= m - 1 {
		w.marks[bits.TrailingZeros64(uint64(m))](d)
	}
}

// Calm reports whether there was a KindReady since the last for which [World.OnCrowd]
// gave a call.
func (w *World) Calm() bool { return w.calm }

func (r *requests) tellStint(s *Stint) {
	if !s.System {
		if s.To >= r.windowEnd {
			r.onWindow.call(s)
			r.windowEnd = s.To - s.To%r.window + r.window
		}
		if s.Moved {
			r.onMoved.call(s)
		}
		if s.Src == reference.SrcSteal || s.Src == reference.SrcStealRunnext {
			r.onStolen.call(s)
		}
	}
	r.onStint.call(s)
	if s.To-s.From >= r.longStint {
		r.onLongStint.call(s)
	}
	if s.Wait >= r.longWait {
		r.onLongWait.call(s)
	}
	if r.askedStint>>(s.Why&whyMask)&1 != 0 {
		r.onStintWhy[s.Why&whyMask].call(s)
	}
}

func (r *requests) tellSlice(s *Slice) {
	if s.To-s.From >= r.longSlice {
		r.onLongSlice.call(s)
	}
	if s.Why == reference.WhySlice {
		r.onPreempted.call(s)
	}
}

// wantsSyscall reports whether anybody wants to be told of a system call of ns.
func (r *requests) wantsSyscall(ns int64, why reference.Why) bool {
	return r.onCall.on != 0 || ns >= r.longCall || why != reference.WhySyscallExit
}

func (r *requests) tellSyscall(s *Syscall) {
	r.onCall.call(s)
	if s.To-s.From >= r.longCall || s.Why != reference.WhySyscallExit {
		r.onLongCall.call(s)
	}
}

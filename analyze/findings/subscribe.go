package findings

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/gmpscope/gmpscope/reference"
)

// DecisionFilter selects, for [View.Decisions], decisions of the given Kinds. At most one of the
// other fields may be set: then only those that match it are selected.
type DecisionFilter struct {
	Kinds []reference.Kind // at least one
	// Whys selects decisions with one of these causes.
	Whys []reference.Why
	// Reasons selects, of KindStop, decisions with which a goroutine blocks for one of these; of
	// KindReady, those about a goroutine of the program that had blocked for one of them.
	Reasons []reference.Reason
	// ReadyWhys selects, of KindStart, starts of goroutines that had become runnable for one of
	// these causes.
	ReadyWhys []reference.Why
	// Mark selects decisions about goroutines that have this mark: see [View.NewMark].
	Mark Mark
	// When selects decisions that meet a condition.
	When When
}

// When is a condition that a decision must meet to pass a [DecisionFilter].
type When uint8

// The conditions. One that names kinds may be used with these only.
const (
	Always      When = iota // every decision
	MarkWorker              // the goroutine is a mark worker
	FirstOnP                // KindStart: the first on the P since it got its thread
	Unexplained             // KindStart: the queue that the goroutine was taken from is unknown
	WithoutP                // KindReady: by a thread without a P; KindSyscallExit: of a goroutine that has lost its P
	Crowded                 // KindReady: more goroutines are runnable than there are Ps, those that yielded left out
	OfRuntime               // KindReady: of a goroutine of the runtime, or of the tracer
	StolenNext              // KindStart: the goroutine was stolen out of another P's runnext slot
)

// RunFilter selects, for [View.Runs], run intervals that match all fields that are set; all if
// none is.
type RunFilter struct {
	MinNs     int64           // least length, system calls included, ns
	MinWaitNs int64           // least length of the wait for a P before it, ns
	Whys      []reference.Why // it ended for one of these
	Moved     bool            // of a goroutine of the program, on another P than its last
	Stolen    bool            // of a goroutine of the program, stolen from another P
}

// SliceFilter selects, for [View.Slices], time slices that match all fields that are set; all if
// none is.
type SliceFilter struct {
	MinNs int64           // least length, system calls included, ns
	Whys  []reference.Why // its last run interval ended for one of these
}

// SyscallFilter selects, for [View.Syscalls], system calls that match any field that is set; all
// if none is.
type SyscallFilter struct {
	MinNs int64 // least length, up to its end or the loss of the P, ns
	Lost  bool  // it lost the P
}

// ResidencyFilter selects, for [View.Residencies], queue residencies that match any field that is
// set; none if no field is.
type ResidencyFilter struct {
	Global bool            // in the global queue
	Whys   []reference.Why // the goroutine had become runnable for one of these
}

// subscriptions are the functions that watchers gave to a [View]. To call one
// costs several nanoseconds, and most decisions concern few detectors: so a filter
// becomes a place in a table when the watcher subscribes, and what no list holds
// costs a comparison. All arguments are valid during the call.
type subscriptions struct {
	when    [len(whens)][reference.Kinds]subscribers[reference.Decision]
	kindWhy [reference.Kinds][]subscribers[reference.Decision] // by Why; nil: none
	woken   [masks]subscribers[reference.Decision]             // by Goroutine.Reason
	blocks  [masks]subscribers[reference.Decision]             // by Reason
	started [masks]subscribers[reference.Decision]             // by Goroutine.ReadyWhy

	idlePs subscribers[reference.Decision]

	// A bit for each kind, cause or reason in these tables: most decisions need no
	// look at them.
	kinds                            uint32
	kindWhys                         [reference.Kinds]uint32
	wokenBits, blockedBits, startBit uint32

	marked   [maxMarks]subscribers[reference.Decision]
	markBits [reference.Kinds]Mark
	marks    int // that are taken

	syscalls         subscribers[Syscall]
	longSyscall      int64 // shortest that is selected by its length
	selectedSyscalls subscribers[Syscall]

	runs      subscribers[Run]
	moved     subscribers[Run]
	stolen    subscribers[Run]
	runWhys   [masks]subscribers[Run]
	runBits   uint32
	longRun   int64 // as longSyscall
	longRuns  subscribers[Run]
	longWait  int64
	longWaits subscribers[Run]
	window    int64
	windowEnd int64
	windows   subscribers[Run]

	longSlice  int64
	longSlices subscribers[Slice]
	sliceWhys  [masks]subscribers[Slice]
	longPart   int64
	longParts  subscribers[SlicePart]

	left       [masks]subscribers[Residency] // by Goroutine.ReadyWhy
	leftBits   uint32
	leftGlobal subscribers[Residency]

	longQueue  int64 // a P's queue of so many is long
	long       int64 // how many are
	someLong   bool
	longQueues subscribers[bool]

	handovers subscribers[Handover]
	silences  subscribers[Silence]
	uses      subscribers[Use]
	heldUps   subscribers[HeldUp]
}

// masks is more than there are causes, and reasons.
const masks = 32

func newSubscriptions() subscriptions {
	return subscriptions{
		longSyscall: math.MaxInt64, longRun: math.MaxInt64, longWait: math.MaxInt64, longSlice: math.MaxInt64,
		longPart: math.MaxInt64, longQueue: math.MaxInt64, window: math.MaxInt64, windowEnd: math.MaxInt64,
	}
}

// subscribers are functions, in the order in which they subscribed. One that is off is nil.
type subscribers[T any] struct {
	on   int // of subs
	subs []func(*T)
}

func (l *subscribers[T]) add(fn func(*T), to *Switch) {
	i := len(l.subs)
	l.subs = append(l.subs, fn)
	l.on++
	to.sets = append(to.sets, func(on bool) {
		if on {
			l.subs[i] = fn
			l.on++
		} else {
			l.subs[i] = nil
			l.on--
		}
	})
}

// emit is small, so that a list of which nobody wants anything costs no call.
func (l *subscribers[T]) emit(x *T) {
	if l.on != 0 {
		l.emitAll(x)
	}
}

// emitAll stays apart: inlined into emit, it would keep that from being inlined.
//
//go:noinline
func (l *subscribers[T]) emitAll(x *T) {
	for _, fn := range l.subs {
		if fn != nil {
			fn(x)
		}
	}
}

// Switch turns the calls of one subscription to a [View] on and off, for a Watcher that needs them
// only at times. They are on at first.
type Switch struct {
	off  bool
	sets []func(on bool) // for each subscription
}

// Set turns the calls of the subscription on or off.
func (s *Switch) Set(on bool) {
	if on != s.off {
		return
	}
	s.off = !on
	for _, set := range s.sets {
		set(on)
	}
}

// Decisions has fn called with each decision that f selects, after the View has taken it. The
// argument is valid during the call. It panics if f has no Kinds, more than one other field, or one
// that says nothing of one of its Kinds.
func (l *subscriptions) Decisions(f DecisionFilter, fn func(*reference.Decision)) *Switch {
	conditions := 0
	for _, set := range [...]bool{f.Whys != nil, f.Reasons != nil, f.ReadyWhys != nil, f.Mark != 0, f.When != Always} {
		conditions += b2i(set)
	}
	if conditions > 1 || len(f.Kinds) == 0 {
		panic("findings: a DecisionFilter needs kinds, and at most one condition")
	}
	s := &Switch{}
	for _, k := range f.Kinds {
		l.decisions(k, &f, fn, s)
	}
	if f.Mark != 0 {
		l.marked[bits.TrailingZeros8(uint8(f.Mark))].add(fn, s)
	}
	return s
}

// decisions puts fn into the lists for decisions of kind k; for those with a mark it
// is one of all kinds, and the caller's.
func (l *subscriptions) decisions(k reference.Kind, f *DecisionFilter, fn func(*reference.Decision), s *Switch) {
	l.kinds |= 1 << k
	switch {
	case f.Whys != nil:
		if l.kindWhy[k] == nil {
			l.kindWhy[k] = make([]subscribers[reference.Decision], masks)
		}
		addEach(l.kindWhy[k], &l.kindWhys[k], f.Whys, fn, s)
	case f.Reasons != nil && k == reference.KindReady:
		addEach(l.woken[:], &l.wokenBits, f.Reasons, fn, s)
	case f.Reasons != nil && k == reference.KindStop:
		addEach(l.blocks[:], &l.blockedBits, f.Reasons, fn, s)
	case f.ReadyWhys != nil && k == reference.KindStart:
		addEach(l.started[:], &l.startBit, f.ReadyWhys, fn, s)
	case f.Mark != 0:
		l.markBits[k] |= f.Mark
	case f.Reasons == nil && f.ReadyWhys == nil && (f.When <= MarkWorker || slices.Contains(whens[f.When], k)):
		l.when[f.When][k].add(fn, s)
	default:
		panic("findings: a DecisionFilter with a condition that says nothing of " + k.String())
	}
}

// whens are the kinds of decisions of which conditions say something, but for those that do so of all.
var whens = [...][]reference.Kind{
	FirstOnP: {reference.KindStart}, Unexplained: {reference.KindStart}, StolenNext: {reference.KindStart},
	WithoutP: {reference.KindReady, reference.KindSyscallExit}, Crowded: {reference.KindReady}, OfRuntime: {reference.KindReady},
}

// addEach puts fn into the lists of the given causes or reasons.
func addEach[T any, K ~uint8](lists []subscribers[T], taken *uint32, keys []K, fn func(*T), s *Switch) {
	for _, k := range keys {
		lists[k%masks].add(fn, s)
		*taken |= 1 << (k % masks)
	}
}

// Mark is a bit that a Watcher gives to goroutines, so that it is called only for decisions about
// these. [View.NewMark] returns one.
type Mark uint8

// maxMarks is how many marks there are: each goroutine has a bit for each.
const maxMarks = 8

// NewMark returns a mark that is not in use, for DecisionFilter.Mark. [View.Mark] gives it to a
// goroutine, which has it until it ends. There are 8: if all are taken it returns 0, which selects
// every goroutine, so that subscribers must expect calls for others than they have marked.
func (l *subscriptions) NewMark() Mark {
	if l.marks == maxMarks {
		return 0
	}
	l.marks++
	return 1 << (l.marks - 1)
}

// Runs has fn called with each run interval that f selects when it ends, before the goroutine is
// queued anew. The argument is valid during the call.
func (l *subscriptions) Runs(f RunFilter, fn func(*Run)) *Switch {
	s := &Switch{}
	conditions := b2i(f.Whys != nil) + b2i(f.Moved) + b2i(f.Stolen)
	if f.MinNs > 0 || f.MinWaitNs > 0 || conditions > 1 {
		all := fn
		fn = func(r *Run) {
			if f.selects(r) {
				all(r)
			}
		}
	}
	switch {
	case f.MinWaitNs > 0:
		l.longWait = min(l.longWait, f.MinWaitNs)
		l.longWaits.add(fn, s)
	case f.MinNs > 0:
		l.longRun = min(l.longRun, f.MinNs)
		l.longRuns.add(fn, s)
	case f.Stolen:
		l.stolen.add(fn, s)
	case f.Moved:
		l.moved.add(fn, s)
	case f.Whys != nil:
		addEach(l.runWhys[:], &l.runBits, f.Whys, fn, s)
	default:
		l.runs.add(fn, s)
	}
	return s
}

func (f *RunFilter) selects(r *Run) bool {
	return r.To-r.From >= f.MinNs && (f.MinWaitNs == 0 || r.Wait >= f.MinWaitNs) && (f.Whys == nil || slices.Contains(f.Whys, r.Why)) &&
		(!f.Moved || r.Moved && !r.System) && (!f.Stolen || r.stolen() && !r.System)
}

// Windows has fn called once for each window of ns nanoseconds but the first, with the first run
// interval of the program that ends in it, before the calls of [View.Runs] for that. It serves to
// close the windows before. All subscribers must use the same length.
func (l *subscriptions) Windows(ns int64, fn func(*Run)) {
	l.window, l.windowEnd = ns, ns
	l.windows.add(fn, &Switch{})
}

// Slices has fn called with each time slice that f selects when it ends, before the start of the
// goroutine that has the next one. The argument is valid during the call.
func (l *subscriptions) Slices(f SliceFilter, fn func(*Slice)) *Switch {
	s := &Switch{}
	all := fn
	fn = func(x *Slice) {
		if x.To-x.From >= f.MinNs && (f.Whys == nil || slices.Contains(f.Whys, x.Why)) {
			all(x)
		}
	}
	if f.MinNs > 0 || f.Whys == nil {
		l.longSlice = min(l.longSlice, f.MinNs)
		l.longSlices.add(fn, s)
	} else {
		addEach(l.sliceWhys[:], new(uint32), f.Whys, fn, s)
	}
	return s
}

// SliceParts has fn called with each part of a time slice that is at least ns nanoseconds long,
// system calls and known time on no CPU left out, when it ends. The argument is valid during the
// call.
func (l *subscriptions) SliceParts(ns int64, fn func(*SlicePart)) {
	l.longPart = min(l.longPart, ns)
	l.longParts.add(func(p *SlicePart) {
		if p.Ns() >= ns {
			fn(p)
		}
	}, &Switch{})
}

// Syscalls has fn called with each system call that began with a P and that f selects, when it
// comes back or loses the P, before the View takes that decision. The argument is valid during the
// call.
func (l *subscriptions) Syscalls(f SyscallFilter, fn func(*Syscall)) *Switch {
	s := &Switch{}
	if f == (SyscallFilter{}) {
		l.syscalls.add(fn, s)
		return s
	}
	least := cmp.Or(f.MinNs, math.MaxInt64)
	l.longSyscall = min(l.longSyscall, least)
	l.selectedSyscalls.add(func(c *Syscall) {
		if c.To-c.From >= least || f.Lost && c.lostP() {
			fn(c)
		}
	}, s)
	return s
}

// Residencies has fn called with each stay of a goroutine of the program in a run queue that f
// selects, before the goroutine leaves the queue. The argument is valid during the call.
func (l *subscriptions) Residencies(f ResidencyFilter, fn func(*Residency)) {
	s := &Switch{}
	if f.Global {
		l.leftGlobal.add(fn, s)
	}
	addEach(l.left[:], &l.leftBits, f.Whys, fn, s)
}

// LongQueues has fn called with true when, for the first P, least goroutines of the program stand in
// its run queue, and with false when there is no such P any more. If several subscribe, the smallest
// least holds for all. The call comes before those of [View.Decisions].
func (l *subscriptions) LongQueues(least int64, fn func(some *bool)) {
	l.longQueue = min(l.longQueue, least)
	l.longQueues.add(fn, &Switch{})
}

// IdlePs has fn called with each decision that changes [View.UnservedByIdlePs] or the number of idle
// Ps, and with all about a P's thread or a stop-the-world, after the View has taken it.
func (l *subscriptions) IdlePs(fn func(*reference.Decision)) { l.idlePs.add(fn, &Switch{}) }

// Handovers has fn called when a P that was handed over to another thread is about to run something
// again. The argument is valid during the call.
func (l *subscriptions) Handovers(fn func(*Handover)) { l.handovers.add(fn, &Switch{}) }

// Silences has fn called after each interval of at least 5 ms without any decision in which a
// goroutine of the program ran, or a P with a thread had work, before the View takes the decision
// that ends it. The argument is valid during the call. [NewSilences] collects the remarkable ones.
func (l *subscriptions) Silences(fn func(*Silence)) { l.silences.add(fn, &Switch{}) }

// Uses has fn called after each decision before or after which Use.Slack is true, with the use of
// the Ps after it. The argument is valid during the call.
func (l *subscriptions) Uses(fn func(*Use)) { l.uses.add(fn, &Switch{}) }

// HeldUps has fn called when a goroutine of the program wakes another that had waited for it while
// Ps were free: see [HeldUp]. The call comes before those of [View.Decisions]; its argument is valid
// during the call.
func (l *subscriptions) HeldUps(fn func(*HeldUp)) { l.heldUps.add(fn, &Switch{}) }

// setLong records how many queues are long.
func (l *subscriptions) setLong(n int64) {
	l.long = n
	if some := n > 0; some != l.someLong {
		l.someLong = some
		l.longQueues.emit(&l.someLong)
	}
}

// emit calls those who subscribed to decision d of kind k, which w has taken.
func (w *follower) emit(d *reference.Decision, k reference.Kind) {
	if w.kinds>>k&1 != 0 {
		w.emitAll(d, k)
	}
}

func (w *follower) emitAll(d *reference.Decision, k reference.Kind) {
	w.when[Always][k].emit(d)
	w.emitSome(d, k)
	w.emitMarked(d, w.g, k)
}

// emitReady, emitStart and emitStop are emit for these, to which somebody always
// subscribes.
func (w *follower) emitReady(d *reference.Decision) {
	w.when[Always][reference.KindReady].emit(d)
	if w.wantsSome(d, reference.KindReady) {
		w.emitSome(d, reference.KindReady)
	}
	if d.Flags&reference.FlagNoP != 0 {
		w.when[WithoutP][reference.KindReady].emit(d)
	}
	if w.runnable-w.yielded <= w.gomaxp {
		w.uncrowded = true
	} else {
		w.when[Crowded][reference.KindReady].emit(d)
		w.uncrowded = false
	}
	g := w.g
	if g == nil {
		return
	}
	if g.System {
		w.when[OfRuntime][reference.KindReady].emit(d)
	} else if w.wokenBits>>(g.Reason%masks)&1 != 0 {
		w.woken[g.Reason%masks].emit(d)
	}
	w.emitMarked(d, g, reference.KindReady)
}

func (w *follower) emitStart(d *reference.Decision) {
	w.when[Always][reference.KindStart].emit(d)
	if w.wantsSome(d, reference.KindStart) {
		w.emitSome(d, reference.KindStart)
	}
	g := w.g
	if g == nil {
		return
	}
	if w.startBit>>(g.ReadyWhy%masks)&1 != 0 {
		w.started[g.ReadyWhy%masks].emit(d)
	}
	if w.firstOnP {
		w.when[FirstOnP][reference.KindStart].emit(d)
	}
	if d.Src == reference.SrcStealRunnext {
		w.when[StolenNext][reference.KindStart].emit(d)
	}
	if d.Basis.Level() == reference.Unknown {
		w.when[Unexplained][reference.KindStart].emit(d)
	}
	w.emitMarked(d, g, reference.KindStart)
}

func (w *follower) emitStop(d *reference.Decision) {
	w.when[Always][reference.KindStop].emit(d)
	if w.wantsSome(d, reference.KindStop) {
		w.emitSome(d, reference.KindStop)
	}
	if w.blockedBits>>(d.Reason%masks)&1 != 0 {
		w.blocks[d.Reason%masks].emit(d)
	}
	w.emitMarked(d, w.g, reference.KindStop)
}

// wantsSome reports whether emitSome has somebody to call. It is small, so that most
// decisions cost no call.
func (l *subscriptions) wantsSome(d *reference.Decision, k reference.Kind) bool {
	return l.kindWhys[k]>>(d.Why%masks)&1 != 0 || d.Flags&reference.FlagGC != 0
}

// emitSome calls those who subscribed to the decisions of a kind with d's cause, or
// about mark workers.
func (l *subscriptions) emitSome(d *reference.Decision, k reference.Kind) {
	if l.kindWhys[k]>>(d.Why%masks)&1 != 0 {
		l.kindWhy[k][d.Why%masks].emit(d)
	}
	if d.Flags&reference.FlagGC != 0 {
		l.when[MarkWorker][k].emit(d)
	}
}

// emitMarked calls those who have marked g, d's goroutine, and subscribed to the kind. It is small,
// as wantsSome.
func (l *subscriptions) emitMarked(d *reference.Decision, g *Goroutine, k reference.Kind) {
	if g != nil && g.marks&l.markBits[k] != 0 {
		l.emitToMarkers(d, g, k)
	}
}

func (l *subscriptions) emitToMarkers(d *reference.Decision, g *Goroutine, k reference.Kind) {
	for m := g.marks & l.markBits[k]; m != 0; m &= m - 1 {
		l.marked[bits.TrailingZeros8(uint8(m))].emit(d)
	}
}

// UncrowdedSince reports whether there was a KindReady that did not meet the condition [Crowded] since
// the last one that did: whether Ps sufficed in between for the runnable goroutines.
func (w *View) UncrowdedSince() bool { return w.uncrowded }

func (l *subscriptions) emitRun(r *Run) {
	if !r.System {
		if r.To >= l.windowEnd {
			l.windows.emit(r)
			l.windowEnd = r.To - r.To%l.window + l.window
		}
		if r.Moved {
			l.moved.emit(r)
		}
		if r.stolen() {
			l.stolen.emit(r)
		}
	}
	l.runs.emit(r)
	if r.To-r.From >= l.longRun {
		l.longRuns.emit(r)
	}
	if r.Wait >= l.longWait {
		l.longWaits.emit(r)
	}
	if l.runBits>>(r.Why%masks)&1 != 0 {
		l.runWhys[r.Why%masks].emit(r)
	}
}

func (l *subscriptions) emitSlice(s *Slice) {
	if s.To-s.From >= l.longSlice {
		l.longSlices.emit(s)
	}
	l.sliceWhys[s.Why%masks].emit(s)
}

func (l *subscriptions) emitSyscall(c *Syscall) {
	l.syscalls.emit(c)
	if c.To-c.From >= l.longSyscall || c.lostP() {
		l.selectedSyscalls.emit(c)
	}
}

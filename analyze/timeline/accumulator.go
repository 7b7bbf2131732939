package timeline

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/histogram"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/stacks"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/reference"
)

// Options are the limits of the timeline. The zero value means defaults.
type Options struct {
	// MaxBins is the most bins that the result may have, from 16 on; 0 means [DefaultMaxBins].
	// With more than 128 Ps it is halved until lanes x bins fits [DefaultMaxCells].
	MaxBins int
	// Brief limits windows to the last 64 Ki intervals of Ps, instead of 256 Ki, for 10 MB of
	// memory instead of 40.
	Brief bool
	// From is the beginning of the timeline, in ns. What precedes it must be a gap.
	From int64
}

// The bounds of a timeline unless Options say otherwise: its number of bins, and of its bins
// times its lanes, which are the Ps.
const (
	DefaultMaxBins  = 1024
	DefaultMaxCells = 128 * 1024
)

const (
	firstShift = 8       // the first bins are 2^8 ns wide: 1,024 of them are a quarter of a millisecond
	minBins    = 16      // bins that are kept however many Ps there are
	maxLanes   = 1024    // Ps that have a lane
	maxSpans   = 2000    // stop-the-worlds and garbage collections each
	maxStacks  = 2048    // of run intervals in windows
	maxTime    = 1 << 50 // ns, 13 days: later times are made up, and would overflow
	gapName    = "not recorded"
)

// The columns of shares.
const (
	colUser = iota
	colSystem
	colGC
	colSyscall
	colSched
	colStopped
	colUnused
	colNotRecorded
	columns
	colNone = -1
)

// column reports where the time in a state of a P goes.
var column = [...]int8{
	ledger.Idle: colNone, ledger.User: colUser, ledger.System: colSystem,
	ledger.GC: colGC, ledger.Tracer: colSystem, ledger.Syscall: colSyscall,
	ledger.Sched: colSched, ledger.Stopped: colStopped, ledger.Unused: colUnused,
	ledger.NotRecorded: colNotRecorded,
}

// Accumulator builds the timeline in one pass over a stream of decisions. Its memory
// depends on the number of Ps and CPUs only: of all else a fixed number is kept.
type Accumulator struct {
	from    int64 // from here on all times count, until Finish
	now     int64
	next    int64 // from when on pass has more to do than to set now
	bin     int64 // start of the bin of now
	shift   uint  // bins are 2^shift ns wide
	maxBins int   // as of now: falls as lanes are added
	lanes   []lane
	born    int // lanes that are in use
	known   int // Ps from 0 to the highest known one
	omitted int32

	global, runnable, idle, missed         series
	steals, retakes, handoffs, preemptions counter
	stw, gc, gaps                          spans
	lost                                   series // 1 in a gap of the trace

	machine *machine     // nil: nothing is told of the CPUs
	noted   *annotations // nil: the program notes nothing about itself

	history
}

// lane is one P: its bins and what it does now.
type lane struct {
	shares []shares
	near   [len(column)]uint64 // ns by state in the bin of since that are not in shares yet
	queue  series
	since  int64 // start of the present interval
	g      int64
	m      int64 // its thread, where a goroutine runs; 0: not known
	wait   int64
	depth  newest
	woken  woken
	class  int32
	state  ledger.State
	src    reference.Source
	born   bool
}

// New returns an empty Accumulator.
func New(o Options) *Accumulator {
	return &Accumulator{
		from:    max(0, o.From),
		shift:   firstShift,
		maxBins: max(minBins, cmp.Or(o.MaxBins, DefaultMaxBins)),
		history: newHistory(o.Brief),
	}
}

// Marked is a call of [Accumulator.Mark] to be made after decision At of a block.
type Marked struct {
	At       int    // index of the decision in the block
	From, To int64  // arguments of Mark, in ns
	Title    string // argument of Mark: why the window is kept
}

// Add processes the next block of the stream, the waits that ended in it, and the marks in
// it, in the order of the decisions. The index of a start in the block is shift more than At of
// the wait. It does not retain the block. Timestamps that go backwards are clamped.
func (a *Accumulator) Add(b *ledger.Block, ended waits.EndedWaits, shift int, marks ...Marked) {
	a.known, a.omitted = b.Known, b.Omitted
	a.ObserveCPUs(&b.CPUs)
	ds := b.Decisions
	notes, numbers := b.Notes[:len(ds)], b.Ps
	changes, lengths := b.PIntervals, b.Lengths
	for i := range ds {
		d, n := &ds[i], &notes[i]
		a.pass(d.Time - a.from)
		for len(changes) > 0 && int(changes[0].At) == i {
			a.change(&changes[0], d, n)
			changes = changes[1:]
		}
		switch {
		case n.Changed&ledger.Turned == 0:
			a.rare(d)
		case n.Now == ledger.Running:
			a.woke(d.P, ended.Next(i-shift))
		case n.Now == ledger.Unseen && a.noted != nil:
			a.noted.exited(d.G, a.now)
		}
		for len(lengths) > 0 && int(lengths[0].At) == i {
			a.length(&lengths[0])
			lengths = lengths[1:]
		}
		if n.Changed&ledger.Counts != 0 {
			a.unused(int64(numbers[0].Idle), int64(numbers[0].Unclaimed))
			numbers = numbers[1:]
		}
		for len(marks) > 0 && marks[0].At <= i {
			a.Mark(marks[0].From-a.from, marks[0].To-a.from, marks[0].Title)
			marks = marks[1:]
		}
	}
}

// woke notes by what wait, if any, the goroutine that has just started on P p came to it.
func (a *Accumulator) woke(p int32, w *waits.EndedWait) {
	l := a.lane(p)
	if l == nil || w == nil {
		return
	}
	l.woken = woken{by: max(0, w.By), stack: w.Woken, why: w.Why}
	most := int64(0)
	for i, ns := range &w.Causes {
		if ns > most {
			most, l.woken.cause = ns, uint8(i+1)
		}
	}
}

// stopped notes why and where the goroutine of the interval that d has just ended stopped.
func (a *Accumulator) stopped(d *reference.Decision, why reference.Why) {
	if a.intervals.n == 0 {
		return
	}
	s := a.intervals.at(a.intervals.n - 1)
	if s.p != d.P || s.g != d.G || s.to != a.now {
		return // it had no length
	}
	s.stack, s.why = d.Stack, why
	switch why {
	case reference.WhyBlock, reference.WhySuspend, reference.WhyCoroutine:
		s.reason = uint8(breakdown.ReasonOf(d.Why, d.Reason)) + 1
	}
}

// unused notes how many Ps are idle, and how many of them could run somebody.
func (a *Accumulator) unused(idle, unclaimed int64) {
	if idle != a.idle.level {
		a.set(&a.idle, idle)
	}
	if unclaimed != a.missed.level {
		a.set(&a.missed, unclaimed)
	}
}

// rare processes what few decisions are.
func (a *Accumulator) rare(d *reference.Decision) {
	switch d.Kind {
	case reference.KindSteal:
		a.steals.add(a.now, a.shift)
		a.arrow(arrowSteal, d.Victim, d.P, d.Batch)
	case reference.KindRetake:
		a.retakes.add(a.now, a.shift)
		a.arrow(arrowRetake, d.P, -1, 0)
	case reference.KindHandoff:
		a.handoffs.add(a.now, a.shift)
		a.arrow(arrowHandoff, -1, d.P, 0)
	case reference.KindPreempt:
		a.preemptions.add(a.now, a.shift)
	case reference.KindOverflow:
		a.arrow(arrowOverflow, d.P, -1, d.Batch)
	case reference.KindGlobalBatch:
		a.arrow(arrowGlobalBatch, -1, d.P, d.Batch)
	case reference.KindTaskBegin, reference.KindTaskEnd, reference.KindRegionBegin, reference.KindRegionEnd:
		a.annotate(d)
	case reference.KindSTWBegin:
		a.stw.begin(a.now, d.Why.String())
	case reference.KindSTWEnd:
		a.stw.finish(a.now)
	case reference.KindGCBegin:
		a.gc.begin(a.now, "mark")
	case reference.KindGCEnd:
		a.gc.finish(a.now)
	case reference.KindLost:
		if d.Time >= a.from {
			a.gap(d.Wait)
		}
	}
}

// gap passes the next ns, which are not recorded: all queues are empty.
func (a *Accumulator) gap(ns int64) {
	for p := range a.lanes {
		a.local(&a.lanes[p], int32(p), 0)
	}
	if n := a.global.level; n != 0 {
		a.depth(&a.globalDepth, -1, int32(n), 0)
		a.set(&a.global, 0)
	}
	a.set(&a.runnable, 0)
	if ns <= 0 {
		return
	}
	a.unused(0, 0)
	a.gaps.begin(a.now, gapName)
	a.set(&a.lost, 1)
	a.pass(a.now + min(ns, maxTime-a.now))
	a.set(&a.lost, 0)
	a.gaps.finish(a.now)
}

// pass lets time pass until t, ns.
func (a *Accumulator) pass(t int64) {
	if t > a.now {
		a.now = t
	}
	if a.now >= a.next {
		a.turn()
	}
}

// turn does what is due now: it begins a bin, or cuts out a mark.
func (a *Accumulator) turn() {
	a.now = min(a.now, maxTime)
	a.fit()
	if a.now > a.due || a.intervals.n >= a.dueIntervals {
		a.captureDue()
	}
}

// fit merges bins until now has one and all lanes together are small enough.
func (a *Accumulator) fit() {
	for a.now>>a.shift >= int64(a.maxBins) {
		for i := range a.lanes {
			l := &a.lanes[i]
			l.settle(a.shift)
			l.shares = histogram.Halve(l.shares, shares.plus)
			l.queue.merge(a.shift)
		}
		for _, s := range []*series{&a.global, &a.runnable, &a.idle, &a.missed, &a.lost} {
			s.merge(a.shift)
		}
		for _, c := range []*counter{&a.steals, &a.retakes, &a.handoffs, &a.preemptions} {
			*c = histogram.Halve(*c, func(x, y int32) int32 { return x + y })
		}
		a.shift++
	}
	a.bin = a.now >> a.shift << a.shift
	a.plan()
}

// plan sets next: the end of the bin, or when a mark is to be cut out, if that is
// earlier.
func (a *Accumulator) plan() {
	a.next = min(a.bin+1<<a.shift, maxTime)
	if a.due < a.next {
		a.next = a.due + 1
	}
	if a.intervals.n >= a.dueIntervals {
		a.next = 0
	}
}

func (a *Accumulator) set(s *series, level int64) {
	if s.since < a.bin {
		s.flush(a.now, a.shift)
	}
	s.set(a.now, level)
}

// lane returns P's lane, and nil if it has none.
func (a *Accumulator) lane(p int32) *lane {
	if uint(p) < uint(len(a.lanes)) {
		return &a.lanes[uint(p)]
	}
	return a.addLane(p)
}

// addLane returns the lane of a P that has none yet, and nil if it gets none.
func (a *Accumulator) addLane(p int32) *lane {
	if p < 0 || p >= maxLanes || int(p) >= a.known {
		return nil
	}
	for len(a.lanes) <= int(p) {
		a.lanes = append(a.lanes, lane{state: ledger.Unused, g: -1, wait: -1, depth: noDepth})
	}
	return &a.lanes[p]
}

// change ends the interval of a P with decision d, and begins the next. It does nothing if the P
// has no lane.
func (a *Accumulator) change(x *ledger.PInterval, d *reference.Decision, n *ledger.Note) {
	l := a.lane(x.P)
	if l == nil {
		return
	}
	if !l.born {
		l.born = true
		a.born++
		if a.maxBins > minBins && a.born*a.maxBins > DefaultMaxCells {
			a.maxBins = max(minBins, a.maxBins/2)
			a.fit()
		}
		// Room for all bins: append would take it several times over.
		l.shares = append(make([]shares, 0, a.maxBins), l.shares...)
		l.queue.sum, l.queue.peak = append(make([]uint64, 0, a.maxBins), l.queue.sum...), append(make([]int32, 0, a.maxBins), l.queue.peak...)
	}
	a.end(l, x.P)
	l.state, l.g, l.class, l.wait, l.src, l.woken, l.m = x.Next, -1, 0, -1, 0, woken{}, 0
	if n.Changed&ledger.Turned == 0 {
		return
	}
	switch n.Now {
	case ledger.Running:
		l.g, l.class, l.m = d.G, d.Class, max(0, d.M)
		if n.Changed&ledger.Returned == 0 {
			l.wait, l.src = d.Wait, d.Src
		}
	case ledger.InSyscall:
		l.g, l.class, l.m = d.G, d.Class, max(0, d.M)
		a.stopped(d, reference.WhySyscall)
	default:
		a.stopped(d, d.Why)
	}
}

// end ends the interval of P p, whose lane is l. The next one begins.
func (a *Accumulator) end(l *lane, p int32) {
	dt := a.now - l.since
	if dt <= 0 {
		return
	}
	if l.since >= a.bin {
		l.near[l.state] += uint64(dt) // OPT: nearly all intervals are shorter than a bin
	} else {
		l.flush(a.now, a.shift)
	}
	if l.state != ledger.Unused {
		l.fill(a.intervals.next(), p, a.now)
		if a.intervals.n >= a.dueIntervals {
			a.next = 0
		}
	}
	l.since = a.now
}

func (l *lane) settle(shift uint) {
	for state, ns := range l.near {
		if ns > 0 {
			l.add(int(l.since>>shift), ledger.State(state), ns)
			l.near[state] = 0
		}
	}
}

func (l *lane) add(bin int, state ledger.State, ns uint64) {
	col := column[state]
	if col == colNone {
		return
	}
	at(&l.shares, bin)[col] += ns
}

// flush puts the time until now into the bins.
func (l *lane) flush(now int64, shift uint) {
	l.settle(shift)
	for from := l.since; from < now; {
		bin := int(from >> shift)
		to := min(now, int64(bin+1)<<shift)
		l.add(bin, l.state, uint64(to-from))
		from = to
	}
}

// fill makes s what P p did from l.since to to.
//
// OPT: field by field, as a copy of a whole struct that was just written by fields
// would have to wait until all those writes are through.
func (l *lane) fill(s *pInterval, p int32, to int64) {
	s.from, s.to, s.g, s.wait = l.since, to, l.g, l.wait
	s.p, s.class, s.state, s.src = p, l.class, l.state, l.src
	s.m, s.woken, s.stack, s.why, s.reason = l.m, l.woken, 0, 0, 0
}

func (a *Accumulator) length(x *ledger.Length) {
	switch x.Of {
	case ledger.AllRunnable:
		a.set(&a.runnable, int64(x.N))
	case ledger.GlobalQueue:
		a.depth(&a.globalDepth, -1, int32(a.global.level), x.N)
		a.set(&a.global, int64(x.N))
	default:
		if l := a.lane(x.Of); l != nil {
			a.local(l, x.Of, x.N)
		}
	}
}

func (a *Accumulator) local(l *lane, p, n int32) {
	if int64(n) != l.queue.level {
		a.depth(&l.depth, p, int32(l.queue.level), n)
		a.set(&l.queue, int64(n))
	}
}

// Names holds the functions that turn the handles in a stream into the stacks and names of a
// [Result].
type Names struct {
	Frames  func(stack int32) []stacks.Frame // a stack, innermost frame first
	Process func(name int32) string          // a thread of the machine, by its name; needed where there are records of the kernel
	Note    func(name int32) string          // the type of a task or region; needed where there are such
}

// Finish closes all intervals at end, the time of the last event in ns, and returns the
// result. The Accumulator cannot be used afterwards.
func (a *Accumulator) Finish(end int64, names Names) Result {
	a.now = max(a.now, min(end-a.from, maxTime))
	end = a.now
	a.fit()
	a.stw.finish(end)
	a.gc.finish(end)
	windows := a.windows(end)

	bins := max(1, int((end+(1<<a.shift-1))>>a.shift))
	r := Result{
		BinNs:       1 << a.shift,
		Bins:        bins,
		EndNs:       end,
		Lanes:       make([]Lane, 0, a.born),
		Steals:      a.steals.result(bins),
		Retakes:     a.retakes.result(bins),
		Handoffs:    a.handoffs.result(bins),
		Preemptions: a.preemptions.result(bins),
		STW:         a.stw.result(),
		GC:          a.gc.result(),
		Windows:     windows,
		NotRecorded: a.gaps.list(),
	}
	for _, s := range []*series{&a.global, &a.runnable, &a.idle, &a.missed, &a.lost} {
		s.flush(end, a.shift)
	}
	widths := a.lost.rest(bins, a.shift, end)
	r.Global = a.global.result(widths)
	r.Runnable = a.runnable.result(widths)
	r.IdleP = a.idle.result(widths)
	r.Missed = a.missed.means(widths)
	for p := range a.lanes {
		l := &a.lanes[p]
		if !l.born {
			continue
		}
		l.flush(end, a.shift)
		l.queue.flush(end, a.shift)
		r.Lanes = append(r.Lanes, l.result(int32(p), widths, a.shift, end))
	}
	r.OmittedPs = max(0, int32(a.known)-maxLanes) + a.omitted
	r.resolve(stacks.NewFrames(names.Frames))
	if a.noted != nil {
		r.nameAnnotations(names.Note)
	}
	if a.machine != nil {
		r.CPUs = a.machine.result(end, r.Windows, names.Process)
	}
	r.begin(a.from)
	return r
}

// resolve gives intervals the numbers of their stacks for handles.
func (r *Result) resolve(frames *stacks.Frames) {
	numbers := map[int32]int32{0: 0}
	list := [][]int32{{}}
	number := func(handle int32) int32 {
		n, ok := numbers[handle]
		if !ok && len(list) < maxStacks {
			if s := frames.Stack(handle); len(s) > 0 {
				n, list = int32(len(list)), append(list, s)
			}
			numbers[handle] = n
		}
		return n
	}
	for i := range r.Windows {
		intervals := r.Windows[i].Intervals
		for j := range intervals {
			s := &intervals[j]
			s.Stack, s.ByStack = number(s.Stack), number(s.ByStack)
		}
	}
	if len(list) > 1 {
		r.Stacks, r.Frames = list, frames.List
	}
}

// begin counts all times of r from a time before its own beginning on.
func (r *Result) begin(from int64) {
	if from == 0 {
		return
	}
	r.FromNs = from
	r.EndNs += from
	for _, spans := range [][]Span{r.STW, r.GC, r.NotRecorded} {
		each(spans, func(x *Span) { x.From, x.To = x.From+from, x.To+from })
	}
	for i := range r.Windows {
		r.Windows[i].begin(from)
		if r.CPUs != nil {
			r.Windows[i].CPUsFromNs += from
		}
	}
}

func (w *Window) begin(from int64) {
	w.FromNs += from
	w.ToNs += from
	each(w.Intervals, func(x *PInterval) { x.From, x.To = x.From+from, x.To+from })
	each(w.Depths, func(x *Depth) { x.At += from })
	each(w.Arrows, func(x *Arrow) { x.At += from })
	each(w.Annotations, func(x *Annotation) { x.From, x.To = x.From+from, x.To+from })
	each(w.OnCPU, func(x *OnCPU) { x.From, x.To = x.From+from, x.To+from })
	each(w.OffCPU, func(x *OffCPU) { x.From, x.To = x.From+from, x.To+from })
}

func each[T any](xs []T, f func(*T)) {
	for i := range xs {
		f(&xs[i])
	}
}

func (l *lane) result(p int32, widths []int64, shift uint, end int64) Lane {
	bins := min(len(widths), len(l.shares))
	out := scaled(columns, len(widths), shift, end, func(column, bin int) uint64 {
		if bin < bins {
			return l.shares[bin][column]
		}
		return 0
	})
	lane := Lane{
		P: p, User: out[colUser], System: out[colSystem], GC: out[colGC],
		Syscall: out[colSyscall], Sched: out[colSched], Stopped: out[colStopped],
		Queue: l.queue.result(widths),
	}
	has := func(column int) bool {
		return slices.ContainsFunc(l.shares[:bins], func(s shares) bool { return s[column] > 0 })
	}
	if has(colUnused) {
		lane.Unused = out[colUnused]
	}
	if has(colNotRecorded) {
		lane.NotRecorded = out[colNotRecorded]
	}
	return lane
}

// shrink keeps the longest maxSpans; of equally long ones the earlier.
func (s *spans) shrink() {
	if len(s.kept) <= maxSpans {
		return
	}
	slices.SortFunc(s.kept, func(x, y Span) int {
		return cmp.Or(cmp.Compare(y.To-y.From, x.To-x.From), x.compare(y))
	})
	s.kept = s.kept[:maxSpans]
}

func (s *spans) result() []Span {
	return append([]Span{}, s.list()...)
}

// list is result, but nil if there are none.
func (s *spans) list() []Span {
	s.shrink()
	slices.SortFunc(s.kept, Span.compare)
	return s.kept
}

func (s Span) compare(o Span) int {
	return cmp.Or(cmp.Compare(s.From, o.From), cmp.Compare(s.To, o.To), cmp.Compare(s.Name, o.Name))
}

package ledger

import (
	"math"

	"github.com/gmpscope/gmpscope/analyze/ids"
	"github.com/gmpscope/gmpscope/analyze/internal/hugepages"
	"github.com/gmpscope/gmpscope/reference"
)

// Ledger follows the goroutines, the Ps and the queues of one stream of decisions. Its
// memory depends on the numbers of goroutines alive at one time, of classes, and of Ps.
// It is not safe for concurrent use.
type Ledger struct {
	// Runs reports whether blocks are to have the run intervals of goroutines: Block.Runs.
	Runs bool

	now int64

	gors     ids.Table[goroutine]
	on       []int32 // by P: slot of the goroutine that started on it last
	classes  []int32 // handles
	classOf  map[int32]int32
	recently [64]struct{ handle, class int32 } // found in classOf

	ps       States
	since    []int64 // by P: when it came into its state, or unborn
	runs     []Run   // by P: what runs on it, with Runs
	local    []int32 // by P: length of its queue
	global   int32
	queued   int64 // sum of all lengths
	runnable int64
	lastPs   Ps // the last of Block.Ps
	spare    []room
	waiting  int32 // Note.Runnable of the last decision
}

// goroutine is the record of one that has not ended.
type goroutine struct {
	id       int64
	since    int64
	class    int32 // index
	p        int32 // on which it runs, if it does
	stack    int32 // where it stopped last, or was created
	flags    reference.Flags
	activity Activity
	why      reference.Why    // it stopped last; WhyCreate: it was created
	reason   reference.Reason // likewise
}

// place reports what its stack is.
func (g *goroutine) place() Place {
	switch {
	case g.stack == 0:
		return NoPlace
	case g.why == reference.WhyCreate:
		return Created
	}
	return StoppedAt
}

// blocked reports whether it is, if it is Waiting.
func (g *goroutine) blocked() bool {
	return g.why == reference.WhyBlock || g.why == reference.WhySuspend || g.why == reference.WhyCoroutine
}

// New returns an empty Ledger.
func New() *Ledger {
	l := &Ledger{gors: ids.NewTable[goroutine](), classes: make([]int32, 1), classOf: map[int32]int32{0: 0}}
	l.gors.At(0).id = reference.NoG
	return l
}

// room is the memory of a block's slices. What does not fit is appended.
type room struct {
	notes      [blockLen]Note
	pIntervals [blockLen]PInterval
	lengths    [2 * blockLen]Length
	ps         [blockLen / 2]Ps
	blocked    [blockLen / 2]Blocked
}

// roomsAtOnce is for how many blocks the memory is made at once: 5 MB. Slices that grew one by one would fault for each
// page, twice: a quarter of the CPU time of a short trace.
const roomsAtOnce = 8

// makeRoom gives a block memory for n decisions.
func (l *Ledger) makeRoom(b *Block, n int) {
	if n > blockLen {
		b.Notes = make([]Note, n)
		return
	}
	if len(l.spare) == 0 {
		l.spare = hugepages.Make[room](roomsAtOnce)
	}
	r := &l.spare[0]
	l.spare = l.spare[1:]
	b.Notes, b.PIntervals, b.Lengths, b.Ps, b.Blocked = r.notes[:], r.pIntervals[:], r.lengths[:], r.ps[:], r.blocked[:]
}

// Annotate fills in a block of which only the decisions are set: the next ones of the stream. It reuses
// the memory of the other fields. Timestamps that go backwards are clamped.
func (l *Ledger) Annotate(b *Block) {
	ds := b.Decisions
	if cap(b.Notes) < len(ds) {
		l.makeRoom(b, len(ds))
	}
	b.Notes, b.Ps, b.PIntervals, b.Runs = b.Notes[:len(ds)], b.Ps[:0], b.PIntervals[:0], b.Runs[:0]
	b.Blocked, b.Lengths, b.Rare = b.Blocked[:0], b.Lengths[:0], b.Rare[:0]
	notes, next := b.Notes[:len(ds)], 0 // the first decision that is not followed yet
	for i := range ds {
		if i < next {
			continue
		}
		d, n := &ds[i], &notes[i]
		l.now = max(l.now, d.Time)
		n.G, n.link, n.Changed = 0, 0, 0
		switch d.Kind {
		case reference.KindReady:
			l.turn(d, n, l.find(d.G), Runnable)
			n.link = l.findOn(d.P, d.By)
			n.more = l.runsOn(n.link)
			l.ready(b, i)
			l.runnable++
			l.lengths(b, i)
		case reference.KindMove:
			n.G = l.find(d.G)
			l.lengths(b, i)
		case reference.KindStart:
			l.start(b, i)
		case reference.KindStop:
			l.turn(d, n, l.findOn(d.P, d.G), Waiting)
			l.leave(n.G, d, d.Why)
			if d.Why == reference.WhyExit || d.Why == reference.WhyLost {
				l.end(d, n)
			}
			l.ps.set(d.P, Sched)
			l.change(b, i)
		case reference.KindSyscall:
			if k := l.briefCalls(b, i); k > 0 {
				next = i + k
				continue
			}
			l.turn(d, n, l.findOn(d.P, d.G), InSyscall)
			l.leave(n.G, d, reference.WhySyscall)
			l.ps.enter(d)
			l.change(b, i)
		case reference.KindSyscallExit:
			to := Running
			if d.P < 0 {
				to = Waiting
			}
			l.turn(d, n, l.findOn(d.P, d.G), to)
			l.gors.At(n.G).p = d.P
			n.Changed |= Returned
			l.ps.leave(d)
			l.change(b, i)
		default:
			l.rare(b, i)
		}
		if n.Runnable = int32(min(l.runnable, math.MaxInt32)); n.Runnable != l.waiting {
			l.waiting = n.Runnable
			l.length(b, i, AllRunnable, n.Runnable)
		}
		if n.Changed&Counts != 0 {
			b.Ps = append(b.Ps, l.lastPs)
		}
	}
	b.End, b.Slots, b.Classes, b.Known = l.now, l.gors.Len(), l.classes, l.ps.Known()
	b.Omitted, b.Mentions = l.ps.Omitted()
}

// rare follows a decision of the other kinds.
func (l *Ledger) rare(b *Block, i int) {
	d, n := &b.Decisions[i], &b.Notes[i]
	if d.Kind.Annotates() {
		n.G = l.findOn(d.P, d.G)
		g := l.gors.At(n.G)
		n.Class, n.Flags, n.Was, n.Since = g.class, g.flags, g.activity, g.since
		return
	}
	b.Rare = append(b.Rare, int32(i))
	if d.Kind == reference.KindLost {
		n.Changed |= Gap
		l.empty(b, i)
	}
	l.ps.rare(d)
	if l.ps.said != changes {
		l.change(b, i)
		return
	}
	for _, c := range l.ps.Changes() {
		l.pass(b, i, c.P, c.From, c.To)
	}
	l.count(n)
}

func (l *Ledger) empty(b *Block, i int) {
	for p, n := range l.local {
		if n != 0 {
			l.length(b, i, int32(p), 0)
		}
	}
	if l.global != 0 {
		l.length(b, i, GlobalQueue, 0)
	}
	clear(l.local)
	l.global, l.queued, l.runnable = 0, 0, 0
}

func (l *Ledger) start(b *Block, i int) {
	d, n := &b.Decisions[i], &b.Notes[i]
	l.turn(d, n, l.find(d.G), Running)
	g := l.gors.At(n.G)
	g.p, n.link, n.more = d.P, g.stack, int32(g.place())
	// A goroutine that the trace shows running first was never counted.
	if d.Flags&reference.FlagFirst == 0 && l.runnable > 0 {
		l.runnable--
	}
	l.ps.set(d.P, runState(d.Flags))
	l.change(b, i)
	l.lengths(b, i)
	if uint(d.P) < uint(len(l.on)) {
		l.on[d.P] = n.G
	}
}

// ready follows the goroutine of decision i of a block, which is runnable now.
func (l *Ledger) ready(b *Block, i int) {
	d, n := &b.Decisions[i], &b.Notes[i]
	if n.G == 0 {
		return
	}
	g := l.gors.At(n.G)
	switch {
	case n.Was == Waiting && g.blocked():
		b.Blocked = append(b.Blocked, Blocked{
			From: n.Since, To: l.now, G: d.G, At: int32(i), Class: n.Class, Stack: g.stack, Why: g.why, Reason: g.reason, WakerClass: l.gors.At(n.link).class,
		})
	case n.Was == Unseen && d.Why == reference.WhyCreate && d.Stack != 0:
		g.stack, g.why = d.Stack, reference.WhyCreate
	}
}

// leave notes where, and why, the goroutine at a slot stopped, or called the operating system.
func (l *Ledger) leave(slot int32, d *reference.Decision, why reference.Why) {
	if slot == 0 {
		return
	}
	g := l.gors.At(slot)
	g.stack, g.why, g.reason = d.Stack, why, d.Reason
}

// find returns the slot of a goroutine, or 0.
func (l *Ledger) find(id int64) int32 {
	if id < 0 {
		return 0
	}
	return l.gors.Find(id)
}

// findOn is find for a goroutine that mostly is the last that started on a P.
func (l *Ledger) findOn(p int32, id int64) int32 {
	if id < 0 {
		return 0
	}
	if uint(p) < uint(len(l.on)) {
		if slot := l.on[p]; l.gors.At(slot).id == id {
			return slot
		}
	}
	return l.gors.Find(id)
}

// runsOn returns the P on which the goroutine at a slot runs, or reference.NoP.
func (l *Ledger) runsOn(slot int32) int32 {
	if g := l.gors.At(slot); g.activity == Running {
		return g.p
	}
	return reference.NoP
}

// turn follows the goroutine of d, which is at a slot if it was seen before, into an
// activity.
func (l *Ledger) turn(d *reference.Decision, n *Note, slot int32, to Activity) {
	if slot == 0 {
		if d.G < 0 {
			n.Class, n.Flags, n.Was, n.Since = 0, 0, Unseen, 0
			return
		}
		slot = l.gors.Add(d.G)
		*l.gors.At(slot) = goroutine{id: d.G}
	}
	g := l.gors.At(slot)
	if d.Class != l.classes[g.class] || d.Flags&reference.FlagsRuntime != g.flags {
		l.learn(g, d, n)
	}
	n.Changed |= Turned
	n.G, n.Class, n.Flags, n.Was, n.Now, n.Since = slot, g.class, g.flags, g.activity, to, g.since
	g.activity, g.since = to, l.now
}

// learn copies what d says about its goroutine and was not known.
func (l *Ledger) learn(g *goroutine, d *reference.Decision, n *Note) {
	before := *g
	if d.Class != 0 {
		g.class = l.class(d.Class)
	}
	g.flags |= d.Flags & reference.FlagsRuntime
	if g.activity != Unseen && *g != before {
		n.Changed |= Learned
	}
}

// class returns the index of a class.
func (l *Ledger) class(handle int32) int32 {
	r := &l.recently[uint32(handle)%uint32(len(l.recently))]
	if r.handle == handle {
		return r.class
	}
	class, ok := l.classOf[handle]
	if !ok {
		class = int32(len(l.classes))
		l.classes = append(l.classes, handle)
		l.classOf[handle] = class
	}
	r.handle, r.class = handle, class
	return class
}

// end gives the slot of d's goroutine, which has ended, to the next one.
func (l *Ledger) end(d *reference.Decision, n *Note) {
	if n.G != 0 {
		l.gors.Remove(d.G, n.G)
		g := l.gors.At(n.G)
		g.id, g.activity, n.Now = reference.NoG, Unseen, Unseen
	}
}

// change adds to a block that its decision i changed the state of one P, if it did.
func (l *Ledger) change(b *Block, i int) {
	if c := &l.ps.one[0]; l.ps.said == changed {
		// OPT: read one by one, as set has just written them: a wider load would have to
		// wait until both stores have left the store buffer.
		from, to := c.From, c.To
		l.pass(b, i, c.P, from, to)
		if (counted>>(from&15)|counted>>(to&15))&1 != 0 {
			l.count(&b.Notes[i])
		}
	}
}

// pass ends what a P does with decision i of a block.
func (l *Ledger) pass(b *Block, i int, p int32, from, to State) {
	for int(p) >= len(l.since) {
		l.since = append(l.since, unborn)
	}
	since := &l.since[p]
	b.PIntervals = append(b.PIntervals, PInterval{From: min(*since, l.now), To: l.now, P: p, At: int32(i), State: from, Next: to})
	*since = l.now
	if l.Runs {
		l.run(b, i, p, from, to)
	}
}

// run ends what runs on a P with decision i of a block, which may be behind the last one.
func (l *Ledger) run(b *Block, i int, p int32, from, to State) {
	for int(p) >= len(l.runs) {
		l.runs = append(l.runs, Run{P: int32(len(l.runs))})
	}
	r := &l.runs[p]
	if from.Running() {
		b.Runs = append(b.Runs, *r)
		r := &b.Runs[len(b.Runs)-1]
		r.To, r.At = l.now, int32(i)
		if i < len(b.Decisions) {
			r.endedBy(&b.Decisions[i], &b.Notes[i])
		}
	}
	if to.Running() && i < len(b.Decisions) {
		d, n := &b.Decisions[i], &b.Notes[i]
		*r = Run{From: l.now, G: d.G, M: d.M, Wait: -1, P: p, Slot: n.G, Class: n.Class, Flags: n.Flags}
		if d.Kind == reference.KindStart {
			r.Started, r.Src, r.Wait = true, d.Src, d.Wait
		}
	}
}

// endedBy notes what a decision tells of a run interval that it ends.
func (r *Run) endedBy(d *reference.Decision, n *Note) {
	if n.G != r.Slot {
		return
	}
	r.Class, r.Flags = n.Class, n.Flags
	switch d.Kind {
	case reference.KindStop:
		r.Why = d.Why
	case reference.KindSyscall:
		r.Why = reference.WhySyscall
	}
}

// unborn is the beginning of what a P does of which nothing is known yet.
const unborn = math.MaxInt64

// Close annotates the last block of a stream, which ends at end, in ns, and adds the open
// intervals.
func (l *Ledger) Close(b *Block, end int64) {
	l.Annotate(b)
	l.now = max(l.now, end)
	b.End = l.now
	for p, since := range l.since {
		if state := l.ps.ps[p].state; since != unborn {
			l.pass(b, len(b.Decisions), int32(p), state, state)
		}
	}
}

// counted are the states, a bit each, on which the numbers in Ps depend.
const counted = 1<<Idle | 1<<GC | 1<<Stopped | 1<<NotRecorded

// briefCalls follows the brief system calls that begin with decision i of a block, if
// the goroutine is known to run and there is no more to learn of it, and returns how
// many decisions they are.
func (l *Ledger) briefCalls(b *Block, i int) int {
	ds := b.Decisions[i:]
	k := reference.BriefCalls(ds)
	if k == 0 {
		return 0
	}
	d := &ds[0]
	slot := l.findOn(d.P, d.G)
	g := l.gors.At(slot)
	if slot == 0 || g.activity != Running || g.flags != 0 || l.classes[g.class] != d.Class || !l.ps.calls(d.P) {
		return 0
	}
	notes, since := b.Notes[i:][:k], g.since
	was, now, from, to, changed := Running, InSyscall, User, Syscall, Turned
	for j := range notes {
		n := &notes[j]
		n.Since, n.G, n.Class, n.Runnable = since, slot, g.class, l.waiting
		n.link, n.Changed, n.Was, n.Now, n.Flags = 0, changed, was, now, 0
		l.now = max(l.now, ds[j].Time)
		l.pass(b, i+j, d.P, from, to)
		was, now, since, from, to, changed = now, was, l.now, to, from, changed^Returned
	}
	notes[0].link = int32(k)
	g.since = l.now
	l.leave(slot, &ds[k-2], reference.WhySyscall)
	return k
}

// count brings the numbers of the Ps up to date, after their states or the lengths of
// the queues changed.
func (l *Ledger) count(n *Note) {
	s, idle := &l.ps, l.ps.counts[Idle]
	now := Ps{Usable: int32(s.usable), Idle: idle, Unclaimed: int32(min(int64(idle), l.queued)), Recorded: s.procs - s.counts[NotRecorded]}
	if now != l.lastPs {
		l.lastPs = now
		n.Changed |= Counts
	}
}

// lengths processes the lengths of queues that the decision gives, and infers the one that
// it does not: the queue that the goroutine left is shorter by one.
func (l *Ledger) lengths(b *Block, i int) {
	d, queued := &b.Decisions[i], l.queued
	if p := l.queue(d.P); p != nil && max(0, d.Local) != *p {
		l.setLength(b, i, d.P, p, max(0, d.Local))
	}
	if d.Victim >= 0 && d.Victim != d.P && takenFromVictim(d) {
		if v := l.queue(d.Victim); v != nil && *v > 0 {
			l.setLength(b, i, d.Victim, v, *v-1)
		}
	}
	if g := max(0, d.Global); g != l.global {
		l.queued += int64(g - l.global)
		l.global = g
		l.length(b, i, GlobalQueue, g)
	}
	// Those in queues are runnable: heals the count where the stream starts
	// goroutines that it had not shown as ready.
	l.runnable = max(l.runnable, l.queued)
	if l.lastPs.Idle > 0 && l.queued != queued {
		l.count(&b.Notes[i])
	}
}

func takenFromVictim(d *reference.Decision) bool {
	return d.Kind == reference.KindMove ||
		d.Kind == reference.KindStart && (d.Src == reference.SrcSteal || d.Src == reference.SrcStealRunnext)
}

// setLength makes *p, the length of P of's queue, n.
func (l *Ledger) setLength(b *Block, i int, of int32, p *int32, n int32) {
	l.queued += int64(n - *p)
	*p = n
	l.length(b, i, of, n)
}

func (l *Ledger) length(b *Block, i int, of, n int32) {
	b.Lengths = append(b.Lengths, Length{Time: l.now, At: int32(i), Of: of, N: n})
}

// queue returns the length of a P's queue, and nil if there is none to be had.
func (l *Ledger) queue(p int32) *int32 {
	if uint(p) < uint(len(l.local)) {
		return &l.local[uint(p)]
	}
	return l.newQueue(p)
}

// newQueue is queue for a P that was not known.
func (l *Ledger) newQueue(p int32) *int32 {
	if l.ps.at(p) == nil {
		return nil
	}
	l.local = append(l.local, make([]int32, l.ps.Known()-len(l.local))...)
	l.on = append(l.on, make([]int32, l.ps.Known()-len(l.on))...)
	return &l.local[p]
}

// Live is a goroutine that is alive at the end of the stream. [Ledger.Live] returns them.
type Live struct {
	G        int64           // ID of the goroutine
	Slot     int32           // small number that only this live goroutine has
	Activity Activity        // what it does
	Since    int64           // time since which it does that, ns since the first event of the trace
	Class    int32           // index in Block.Classes
	Stack    int32           // handle of the stack where it stopped last, or was created; 0 is none
	Flags    reference.Flags // as those of a Note
	Blocked  bool            // it has been blocked since Since: its Activity is Waiting
}

// Live returns the goroutines that are alive after the last decision, in the order of their slots.
func (l *Ledger) Live() []Live {
	var out []Live
	for slot := int32(1); slot < l.gors.Len(); slot++ {
		if g := l.gors.At(slot); g.activity != Unseen {
			out = append(out, Live{g.id, slot, g.activity, g.since, g.class, g.stack, g.flags, g.activity == Waiting && g.blocked()})
		}
	}
	return out
}

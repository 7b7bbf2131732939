package events

import (
	"math"

	"github.com/gmpscope/gmpscope/analyze/wire"
)

// This file has the rules for when an event can come, and what it changes.

// current returns the goroutine that runs on a thread, nil if it does not exist.
func (o *order) current(t *thread) *goroutine {
	if g := o.goroutines.At(t.slot); g.id == t.g {
		return g
	}
	slot := o.goroutines.Find(t.g)
	if slot == 0 {
		return nil
	}
	t.slot = slot
	return o.goroutines.At(slot)
}

// running returns the goroutine that runs user code, or nearly so, on a thread
// with a processor, in the given state; nil if there is none.
func (o *order) running(t *thread, state State) *goroutine {
	if g := o.goroutines.At(t.slot); g.id == t.g && g.state == state && t.p != None {
		return g
	}
	return o.runningElsewhere(t, state)
}

// runningElsewhere is running for a goroutine that is not where it was in the table.
func (o *order) runningElsewhere(t *thread, state State) *goroutine {
	if t.p == None || t.g == None {
		return nil
	}
	if g := o.current(t); g != nil && g.state == state {
		return g
	}
	return nil
}

// user reports whether a goroutine has a thread and a processor.
func (t *thread) user() bool { return t.p != None && t.g != None }

// known returns a processor; nil if nothing was said about it.
func (o *order) known(id uint64) *proc {
	if id >= uint64(len(o.procs)) || o.procs[id].status == 0 {
		return nil
	}
	return &o.procs[id]
}

// bind records which goroutine a thread runs from now on; slot is where it is.
func (t *thread) bind(g int64, slot int32) {
	if t.id != None {
		t.g, t.slot = g, slot
	}
}

// advance processes the next event of a thread if it can come now. Each case
// follows the rule of the public reader (x/exp/trace/order.go) for a trace of
// one generation.
func (o *order) advance(t *thread) verdict {
	t.seen = true
	a := &t.args // a[0] is the time
	switch t.kind {
	case wire.GoStart:
		return o.goStart(t, int64(a[1]), a[2])
	case wire.GoStop, wire.GoBlock:
		g := o.running(t, Running)
		if g == nil {
			return o.refuse("a goroutine stops that does not run")
		}
		g.state = Waiting
		if t.kind == wire.GoStop {
			g.state = Runnable
		}
		e := o.goEvent(t, g.id, Running, g.state)
		e.Reason = o.name(a[1], (*decoder).name)
		e.TStack = o.stack(a[2])
		e.Stack = e.TStack
		t.g = None
	case wire.GoUnblock:
		slot := o.goroutines.Find(int64(a[1]))
		if slot == 0 {
			return later
		}
		g := o.goroutines.At(slot)
		if g.state != Waiting || a[2] != g.seq+1 {
			return later
		}
		if t.g == g.id {
			return o.refuse("a goroutine that unblocks itself")
		}
		g.state, g.seq = Runnable, a[2]
		e := o.goEvent(t, g.id, Waiting, Runnable)
		e.Stack = o.stack(a[3])
	case wire.GoCreate, wire.GoCreateBlocked:
		return o.goCreate(t)
	case wire.GoDestroy:
		g := o.running(t, Running)
		if g == nil {
			return o.refuse("a goroutine ends that does not run")
		}
		o.goEvent(t, g.id, Running, NotExist)
		o.destroy(t, g)
	case wire.GoSwitch, wire.GoSwitchDestroy:
		return o.goSwitch(t)
	case wire.GoSyscallBegin:
		g := o.running(t, Running)
		p := o.known(uint64(t.p))
		if g == nil || p == nil || a[1] != p.seq+1 {
			return o.refuse("a system call of a goroutine that does not run, or a wrong sequence number")
		}
		g.state = Syscall
		p.status, p.seq = procSyscall, a[1]
		e := o.goEvent(t, g.id, Running, Syscall)
		e.TStack = o.stack(a[2])
		e.Stack = e.TStack
	case wire.GoSyscallEnd:
		g := o.running(t, Syscall)
		p := o.known(uint64(t.p))
		if g == nil || p == nil || p.status != procSyscall {
			return o.refuse("the end of a system call that has not begun")
		}
		g.state = Running
		p.status = procRunning
		o.goEvent(t, g.id, Syscall, Running)
	case wire.GoSyscallEndBlocked:
		// It has lost its processor before this, perhaps to another thread.
		if t.p != None {
			p := o.known(uint64(t.p))
			if p == nil {
				return o.refuse("the end of a system call on an unknown processor")
			}
			if p.status == procSyscall {
				return later
			}
		}
		if t.g == None {
			return o.refuse("the end of a system call without a goroutine")
		}
		g := o.current(t)
		if g == nil || g.state != Syscall {
			return o.refuse("the end of a system call that has not begun")
		}
		g.state = Runnable
		o.goEvent(t, g.id, Syscall, Runnable)
		t.g = None
	case wire.GoCreateSyscall:
		id := int64(a[1])
		if t.id == None || t.g != None || id <= 0 || o.goroutines.Find(id) != 0 {
			return o.refuse("a goroutine comes into being in a system call where it cannot")
		}
		o.goEvent(t, id, NotExist, Syscall)
		t.bind(id, o.goroutines.add(id, Syscall))
	case wire.GoDestroySyscall:
		return o.goDestroySyscall(t)
	case wire.GoStatus, wire.GoStatusStack:
		return o.goStatus(t)

	case wire.ProcStart:
		p := o.known(a[1])
		if p == nil || p.status != procIdle || a[2] != p.seq+1 || t.p != None {
			return later
		}
		if t.id == None {
			return o.refuse("a processor starts without a thread")
		}
		p.status, p.seq = procRunning, a[2]
		o.procEvent(t, int32(a[1]), Idle, Running)
		t.p = int32(a[1])
	case wire.ProcStop:
		p := o.known(uint64(t.p))
		if p == nil || p.status != procRunning && p.status != procSyscall {
			return o.refuse("a processor stops that does not run")
		}
		p.status = procIdle
		o.procEvent(t, t.p, Running, Idle)
		t.p = None
	case wire.ProcSteal:
		return o.procSteal(t)
	case wire.ProcStatus:
		return o.procStatus(t)
	case wire.ProcsChange:
		if !t.user() {
			return o.refuse("an event outside of a goroutine")
		}
		e := o.event(t)
		e.Kind, e.Res = Procs, int64(min(a[1], math.MaxInt32))
		if o.err = o.d.work.procs(int32(e.Res)); o.err != nil {
			return refused
		}
		e.Stack = o.stack(a[2])

	case wire.STWBegin, wire.STWEnd, wire.GCMarkAssistBegin, wire.GCMarkAssistEnd:
		return o.goRange(t)
	case wire.GCMarkAssistActive:
		slot := o.goroutines.Find(int64(a[1]))
		if slot == 0 || a[1] == 0 || o.goroutines.At(slot).assisting && !o.partial() {
			return o.refuse("an assist that goes on, of a goroutine that cannot")
		}
		o.goroutines.At(slot).assisting = true
		e := o.event(t)
		e.Kind, e.Res = AssistBegin, int64(a[1])
	case wire.GCActive, wire.GCBegin, wire.GCEnd:
		return o.collect(t)
	case wire.GCSweepActive:
		p := o.known(a[1])
		if p == nil || p.sweeping && !o.partial() {
			return o.refuse("a sweep that goes on, of a processor that cannot")
		}
		p.sweeping = true
		e := o.event(t)
		e.Kind, e.Res = SweepBegin, int64(a[1])
	case wire.GCSweepBegin, wire.GCSweepEnd:
		p := o.known(uint64(t.p))
		if begin := t.kind == wire.GCSweepBegin; p == nil || p.sweeping == begin && !o.partial() {
			return o.refuse("a sweep begins twice, or ends that has not begun")
		} else if p.sweeping = begin; begin {
			o.check(a[1], 0)
		}
		e := o.event(t)
		e.Kind, e.Res = SweepEnd, int64(t.p)
		if p.sweeping {
			e.Kind = SweepBegin
		}
	case wire.HeapAlloc, wire.HeapGoal:
		if t.p == None {
			return o.refuse("an event outside of a processor")
		}
		e := o.event(t)
		e.Kind, e.Res = HeapAlloc, int64(min(a[1], math.MaxInt64))
		if t.kind == wire.HeapGoal {
			e.Kind = HeapGoal
		}

	case wire.GoLabel, wire.UserTaskBegin, wire.UserTaskEnd, wire.UserRegionBegin, wire.UserRegionEnd, wire.UserLog:
		return o.annotation(t)

	case lost:
		o.goOnWithout()

	default: // those of the experiment; others have no arguments, and were refused
		if t.id == None {
			return o.refuse("an event without a thread")
		}
		o.event(t).Kind = Experimental
	}
	return taken
}

func (o *order) goStart(t *thread, id int64, seq uint64) verdict {
	slot := o.goroutines.Find(id)
	if slot == 0 {
		return later
	}
	g := o.goroutines.At(slot)
	if g.state != Runnable || seq != g.seq+1 {
		return later
	}
	if t.p == None || t.g != None {
		return o.refuse("a goroutine starts where it cannot")
	}
	g.state, g.seq = Running, seq
	o.goEvent(t, id, Runnable, Running)
	t.bind(id, slot)
	return taken
}

func (o *order) goCreate(t *thread) verdict {
	a := &t.args
	id, to := int64(a[1]), Runnable
	if t.kind == wire.GoCreateBlocked {
		to = Waiting
	}
	if t.p == None || id <= 0 || o.goroutines.Find(id) != 0 {
		return o.refuse("a goroutine comes into being that cannot")
	}
	if t.g != None && o.running(t, Running) == nil {
		return o.refuse("a goroutine that does not run creates another")
	}
	o.goroutines.add(id, to)
	e := o.goEvent(t, id, NotExist, to)
	e.TStack = o.someStack(a[2])
	e.Stack = o.stack(a[3])
	return taken
}

// destroy forgets the goroutine of a thread.
func (o *order) destroy(t *thread, g *goroutine) {
	for g.region != 0 {
		o.endRegion(g)
	}
	o.goroutines.remove(t.slot)
	t.g = None
}

// goSwitch is a goroutine that hands over to one that waits, as coroutines do:
// the other is unblocked, this one blocks or ends, the other starts.
func (o *order) goSwitch(t *thread) verdict {
	g := o.running(t, Running)
	if g == nil {
		return o.refuse("a goroutine hands over that does not run")
	}
	id, seq := int64(t.args[1]), t.args[2]
	slot := o.goroutines.Find(id)
	if slot == 0 {
		return later
	}
	other := o.goroutines.At(slot)
	if other.state != Waiting || seq != other.seq+1 {
		return later
	}
	other.state, other.seq = Running, seq
	self := t.g
	if t.kind == wire.GoSwitch {
		g.state = Waiting
		o.more[0] = *o.goEvent(t, self, Running, Waiting)
		t.g = None
	} else {
		o.more[0] = *o.goEvent(t, self, Running, NotExist)
		o.destroy(t, g)
	}
	o.more[1] = *o.goEvent(t, id, Runnable, Running)
	o.moreN = 2
	o.goEvent(t, id, Waiting, Runnable).G = self
	t.bind(id, slot)
	return taken
}

// goDestroySyscall is the end of a goroutine that was there for calls from C. It
// leaves its processor too, if it has one, since the thread may come to mean
// another.
func (o *order) goDestroySyscall(t *thread) verdict {
	if t.g == None {
		return o.refuse("the end of no goroutine")
	}
	g := o.current(t)
	if g == nil || g.state != Syscall {
		return o.refuse("a goroutine ends outside of a system call")
	}
	id := g.id
	if t.p != None {
		p := o.known(uint64(t.p))
		if p == nil || p.status != procSyscall {
			return o.refuse("a goroutine ends in a system call, its processor is in none")
		}
		p.status = procAbandoned
		o.more[0], o.moreN = *o.goEvent(t, id, Syscall, NotExist), 1
		o.procEvent(t, t.p, Running, Idle)
		t.p = None
	} else {
		o.goEvent(t, id, Syscall, NotExist)
	}
	o.destroy(t, g)
	return taken
}

func (o *order) goStatus(t *thread) verdict {
	a := &t.args
	id, mid := int64(a[1]), int64(a[2])
	if id <= 0 || a[3] == 0 || a[3] >= uint64(len(goStatuses)) {
		return o.refuse("a status that is none")
	}
	status := goStatuses[a[3]]
	from := status
	slot := o.goroutines.Find(id)
	if slot == 0 {
		from = Undetermined
		slot = o.goroutines.add(id, status)
	}
	g := o.goroutines.At(slot)
	if g.state != status {
		return o.refuse("a status that contradicts what came before")
	}
	g.seq = 0
	e := o.goEvent(t, id, from, status)
	if t.kind == wire.GoStatusStack {
		e.TStack = o.stack(a[4])
		e.Stack = e.TStack
	}
	e.late = e.lateStatus()
	switch status {
	case Running:
		t.bind(id, slot)
	case Syscall:
		if mid == None {
			return o.refuse("a system call without a thread")
		}
		if mid == t.id {
			t.bind(id, slot)
			break
		}
		// It has been in it on another thread all the time.
		other := o.thread(mid)
		if other == nil {
			return o.refuse("too many threads")
		}
		if !other.seen {
			other.seen = true
			other.bind(id, slot)
		} else if e.G = id; other.g != id {
			return o.refuse("a system call on a thread that has another goroutine")
		}
		e.M = mid
	}
	return taken
}

func (o *order) procSteal(t *thread) verdict {
	a := &t.args
	p := o.known(a[1])
	if p == nil || p.status != procSyscall && p.status != procAbandoned || a[2] != p.seq+1 {
		return later
	}
	if t.id == None {
		return o.refuse("a processor is taken without a thread")
	}
	id, was := int32(a[1]), p.status
	p.status, p.seq = procIdle, a[2]
	if was == procAbandoned {
		o.procEvent(t, id, Idle, Idle)
		return taken
	}
	o.procEvent(t, id, Running, Idle)
	from := o.byID[int64(a[3])]
	if from == nil || from.p != id {
		return o.refuse("a processor is taken from a thread that does not have it")
	}
	from.p = None
	return taken
}

func (o *order) procStatus(t *thread) verdict {
	a := &t.args
	if a[1] >= maxProcs || a[2] == 0 || a[2] >= uint64(len(procStatuses)) {
		return o.refuse("a status that is none")
	}
	id, status := int32(a[1]), uint8(a[2])
	for int(id) >= len(o.procs) {
		o.procs = append(o.procs, proc{})
	}
	p := &o.procs[id]
	switch {
	case p.status == 0:
		p.status = status
		o.procEvent(t, id, Undetermined, procStatuses[status])
	case status == procAbandoned && p.status == procSyscall:
		// It is about to be taken from its thread, and stays with that.
		var owner *thread
		for _, other := range o.threads {
			if other.seen && other.p == id {
				if owner != nil {
					return o.refuse("a processor with two threads")
				}
				owner = other
			}
		}
		if owner == nil {
			return o.refuse("a processor without a thread")
		}
		e := o.procEvent(t, id, Running, Running)
		e.M, e.G, e.P = owner.id, owner.g, id
	case p.status != status:
		return o.refuse("a status that contradicts what came before")
	default:
		o.procEvent(t, id, procStatuses[status], procStatuses[status])
	}
	p.seq = 0
	if (status == procRunning || status == procSyscall) && t.id != None {
		t.p = id
	}
	return taken
}

// goRange is the begin or the end of what a goroutine does for a while.
func (o *order) goRange(t *thread) verdict {
	if !t.user() {
		return o.refuse("an event outside of a goroutine")
	}
	g := o.current(t)
	if g == nil {
		return o.refuse("an event of an unknown goroutine")
	}
	a := &t.args
	e := o.event(t)
	e.Res = t.g
	switch t.kind {
	case wire.STWBegin:
		if g.stopping && !o.partial() {
			return o.refuse("the world is stopped twice")
		}
		e.Kind = STWBegin
		e.Reason = o.name(a[1], (*decoder).name)
		e.Stack = o.stack(a[2])
		g.stopping, g.stw = true, int32(a[1])
	case wire.STWEnd:
		if !g.stopping && !o.partial() {
			return o.refuse("the world starts that was not stopped")
		}
		e.Kind = STWEnd
		e.Reason = o.name(uint64(g.stw), (*decoder).name)
		g.stopping = false
	case wire.GCMarkAssistBegin:
		if g.assisting && !o.partial() {
			return o.refuse("an assist begins twice")
		}
		e.Kind = AssistBegin
		e.Stack = o.stack(a[1])
		g.assisting = true
	case wire.GCMarkAssistEnd:
		if !g.assisting && !o.partial() {
			return o.refuse("an assist ends that has not begun")
		}
		e.Kind = AssistEnd
		g.assisting = false
	}
	return taken
}

// collect is the begin or the end of a mark phase. Both have sequence numbers,
// since they can be on different threads.
func (o *order) collect(t *thread) verdict {
	seq := t.args[1]
	first := o.gcState == gcUnknown
	switch {
	case t.kind == wire.GCActive:
		if !first {
			return o.refuse("a collection that goes on is not the first thing told of it")
		}
	case t.kind == wire.GCBegin && first:
		o.check(t.args[2], 0)
	case seq != o.gcSeq+1:
		return later
	case t.kind == wire.GCBegin && o.gcState == gcOn || t.kind == wire.GCEnd && o.gcState != gcOn || !t.user():
		return o.refuse("a collection begins twice, or ends that has not begun")
	case t.kind == wire.GCBegin:
		o.check(t.args[2], 0)
	}
	e := o.event(t)
	o.gcSeq = seq
	if o.gcState, e.Kind = gcOn, GCBegin; t.kind == wire.GCEnd {
		o.gcState, e.Kind = gcOff, GCEnd
	}
	return taken
}

// annotation is what the program itself, or a mark worker, says.
func (o *order) annotation(t *thread) verdict {
	if !t.user() {
		return o.refuse("an event outside of a goroutine")
	}
	a := &t.args
	e := o.event(t)
	switch t.kind {
	case wire.GoLabel:
		e.Kind, e.Res = Label, t.g
		e.Reason = o.name(a[1], (*decoder).name)
	case wire.UserTaskBegin:
		if _, ok := o.tasks[a[1]]; ok && !o.partial() {
			return o.refuse("a task begins twice")
		}
		if o.tasks == nil {
			o.tasks = map[uint64]struct{}{}
		}
		o.tasks[a[1]] = struct{}{}
		o.check(a[4], 0)
		e.Kind, e.Res = TaskBegin, task(a[1])
		e.Reason = o.name(a[3], (*decoder).annotation)
	case wire.UserTaskEnd:
		delete(o.tasks, a[1]) // it may have begun before
		o.check(a[2], 0)
		e.Kind, e.Res = TaskEnd, task(a[1])
	case wire.UserRegionBegin, wire.UserRegionEnd:
		g := o.current(t)
		if g == nil {
			return o.refuse("a region of an unknown goroutine")
		}
		o.check(a[3], a[2])
		if e.Kind = Region; t.kind == wire.UserRegionBegin {
			o.beginRegion(g, region{task: a[1], name: a[2]})
		} else if e.Kind = RegionEnd; g.region != 0 { // else it began before
			if r := &o.regions[g.region]; o.salvaged == nil && (r.task != a[1] || r.name != a[2] && o.value(r.name) != o.value(a[2])) {
				return o.refuse("a region ends that is not the innermost")
			}
			o.endRegion(g)
		}
		e.Res, e.Reason = task(a[1]), o.name(a[2], (*decoder).annotation)
	case wire.UserLog:
		o.check(a[4], a[2])
		o.check(0, a[3])
		e.Kind, e.Res = Log, task(a[1])
		e.Reason = o.d.message(o.value(a[2]), o.value(a[3]))
	}
	return taken
}

func (o *order) beginRegion(g *goroutine, r region) {
	r.outer = g.region
	if i := o.freeRegion; i != 0 {
		o.freeRegion = o.regions[i].outer
		o.regions[i], g.region = r, i
		return
	}
	g.region = int32(len(o.regions))
	o.regions = append(o.regions, r)
}

// endRegion closes the innermost region of a goroutine.
func (o *order) endRegion(g *goroutine) {
	i := g.region
	g.region = o.regions[i].outer
	o.regions[i].outer = o.freeRegion
	o.freeRegion = i
}

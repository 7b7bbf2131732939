package events

import (
	"math"

	"golang.org/x/exp/trace"
)

// order puts the events of one generation in order and makes Events of them, as
// golang.org/x/exp/trace and decoder.convert do for a trace that consists of
// this generation. Threads write their events in order; across threads, times
// decide as long as sequence numbers and states allow it: a goroutine starts
// only where it is runnable, and no earlier than the event that made it so.
//
// Whatever the public reader would refuse makes it decline, and so does what no
// runtime writes, even if the public reader does not mind.
type order struct {
	*generation
	d    *decoder
	emit func(*block) bool

	front      front
	goroutines goroutines
	procs      []proc // by id
	tasks      map[uint64]struct{}
	regions    []region // the first is none
	freeRegion int32

	gcSeq   uint64
	gcState gcState

	last    int64               // time of the event before
	events  *[blockEvents]Event // of the block
	n       uint                // of them there are
	next    *Event              // in the block, where the next event is made
	more    [2]Event            // that come with it
	moreN   int
	until   int64    // how long it is the first thread's turn
	breaks  int      // how often breakOff was called
	why     declined // it declines; empty if not
	err     error    // it ends, without declining; nil if not
	stopped bool
}

// proc is what the order of events depends on.
type proc struct {
	seq      uint64
	status   uint8 // 0 is not known
	sweeping bool
}

// region is a region that a goroutine has open.
type region struct {
	task, name uint64
	outer      int32
}

type gcState uint8

const (
	gcUnknown gcState = iota
	gcOff
	gcOn
)

// verdict is what becomes of the next event of a thread.
type verdict uint8

const (
	taken verdict = iota
	later         // others come first
	refused
)

// decodeOwn reads a generation with the decoder of this package and calls emit
// with each block but the last, which stays in d.cur. Its error is errStopped
// or why it declines: then the public reader decides, and gives the same events
// as were handed on.
func (d *decoder) decodeOwn(data []byte, emit func(*block) bool) (err error) {
	defer func() {
		if recover() != nil {
			err = declined("a mistake of the decoder") // a test fails if it ever is
		}
	}()
	g, err := readGeneration(data)
	if err != nil {
		return err
	}
	return d.newOrder(g, emit).all()
}

func (d *decoder) newOrder(g *generation, emit func(*block) bool) *order {
	o := &order{generation: g, d: d, emit: emit, goroutines: newGoroutines(), regions: make([]region, 1)}
	o.begin()
	return o
}

// all does all, and leaves the last block in o.d.cur.
func (o *order) all() error {
	err := o.run()
	o.d.cur.events = o.events[:o.n]
	return err
}

// begin begins a block.
func (o *order) begin() {
	o.events, o.n = (*[blockEvents]Event)(o.d.cur.events[:blockEvents]), 0
	o.next = &o.events[0]
}

func (o *order) run() error {
	for _, t := range o.threads {
		switch t.read(o.generation) {
		case readEvent:
			o.front.add(head{t.time, t})
		case readBad:
			if o.salvaged == nil {
				return declined("a batch with something that is no event")
			}
			if !o.partial() {
				t.lose()
				o.front.add(head{t.time, t})
			}
		}
	}
	o.sync(o.nanos(o.earliest))
	if o.hasWall {
		o.d.cur.wall, o.d.cur.wallAt = o.wall, o.wallAt
	}
	o.commit()
	for !o.stopped {
		if len(o.samples) > 0 && (len(o.front) == 0 || o.samples[0].time < o.front[0].time) {
			o.sample(&o.samples[0])
			o.samples = o.samples[1:]
			o.commit()
			continue
		}
		if len(o.front) == 0 {
			o.sync(o.last)
			o.commit()
			break
		}
		v := o.turn()
		if v == later {
			v = o.tryOthers()
		}
		if o.err != nil {
			return o.err
		}
		if v != taken {
			return o.why
		}
	}
	if o.stopped {
		return errStopped
	}
	return nil
}

// turn processes the next events of the thread whose turn it is, for as long as it is.
func (o *order) turn() verdict {
	f := o.front
	o.until = math.MaxInt64
	for _, other := range f[1:min(len(f), 3)] { // those below the root of the heap
		o.until = min(o.until, other.time)
	}
	if len(o.samples) > 0 {
		o.until = min(o.until, o.samples[0].time)
	}
	for t := f[0].thread; ; {
		v, more := o.take(t)
		f[0].time = t.time
		switch {
		case v != taken:
			return v
		case !more:
			o.front.remove(0)
			return taken
		case t.time > o.until:
			f.down(0)
			return taken
		}
	}
}

// tryOthers processes the next event of the first thread that can go on, where the one
// whose turn it is cannot.
func (o *order) tryOthers() verdict {
	if o.err = o.d.work.sort(len(o.front)); o.err != nil {
		return refused
	}
	o.front.sort()
	until := int64(math.MaxInt64)
	if o.partial() { // what it waits for may be missing
		until = o.front[0].time + patience
	}
	for i := 1; i < len(o.front) && o.front[i].time <= until; i++ {
		o.d.work.steps += tryCost
		if v := o.takeAt(i); v != later {
			return v
		}
	}
	if o.partial() && o.adopt(o.front[0].thread) {
		if v := o.takeAt(0); v != later {
			return v
		}
	}
	return o.refuse("no thread can go on")
}

// takeAt processes the next event of the thread at a place of the front, if it can be.
func (o *order) takeAt(i int) verdict {
	t := o.front[i].thread
	v, more := o.take(t)
	switch {
	case v == taken && more:
		o.front[i].time = t.time
		o.front.moved(i)
	case v == taken:
		o.front.remove(i)
	}
	return v
}

// take processes the next event of a thread, if it can be, and reads the one after
// it, if there is more. The public reader reports what is wrong with that one before it
// gives the first, so nothing is handed on here before both are well.
func (o *order) take(t *thread) (_ verdict, more bool) {
	if v := o.advance(t); v != taken {
		return v, true
	}
	if o.why != "" {
		return refused, true
	}
	r := t.read(o.generation)
	if r == readBad {
		if o.salvaged == nil {
			return o.refuse("a batch with something that is no event"), true
		}
		if !o.partial() { // else it is missing like others
			t.lose()
			r = readEvent
		}
	}
	o.commit()
	if o.moreN > 0 {
		o.commitMore()
	}
	return taken, r == readEvent
}

// commit makes the next event one of the block. Times rise, if need be by 1 ns.
func (o *order) commit() {
	e := o.next
	if e.Time <= o.last {
		e.Time = o.last + 1
	}
	o.last = e.Time
	if o.n++; o.n == blockEvents {
		o.flush()
	}
	o.next = &o.events[o.n%blockEvents]
}

// commitMore makes those that come with it events of the block too.
func (o *order) commitMore() {
	for i := range o.moreN {
		*o.next = o.more[i]
		o.commit()
	}
	o.moreN = 0
}

// flush hands on a block.
func (o *order) flush() {
	d := o.d
	d.cur.events, d.cur.breaks = o.events[:], o.breaks
	d.emitted.n += blockEvents
	if !o.emit(d.cur) {
		o.stopped, o.until = true, math.MinInt64
	}
	d.cur = d.newBlock()
	o.blocks++
	o.begin()
}

func (o *order) refuse(why declined) verdict {
	o.why = why
	return refused
}

// sync makes the event that begins and ends what the public reader gives.
func (o *order) sync(time int64) {
	*o.next = Event{Time: time, Kind: Sync, G: None, M: None, P: None, Res: None, late: true}
}

func (o *order) sample(s *sample) {
	*o.next = Event{Time: s.time, Kind: Sample, G: s.g, M: s.m, P: o.d.proc(trace.ProcID(s.p)), Res: None, Stack: o.someStack(s.stack)}
}

// event makes the next event, in the context of a thread.
func (o *order) event(t *thread) *Event {
	e := o.next
	*e = Event{}
	e.Time, e.G, e.M, e.P, e.Res = t.time, t.g, t.id, t.p, None
	return e
}

func (o *order) goEvent(t *thread, id int64, from, to State) *Event {
	e := o.event(t)
	e.Res, e.Kind, e.From, e.To = id, Go, from, to
	return e
}

func (o *order) procEvent(t *thread, id int32, from, to State) *Event {
	e := o.event(t)
	e.Res, e.Kind, e.From, e.To = int64(id), Proc, from, to
	return e
}

// stack returns the handle of a stack, 0 for stack 0.
func (o *order) stack(id uint64) Handle {
	if id == 0 {
		return 0
	}
	return o.someStack(id)
}

// someStack returns the handle of a stack. Stack 0 has one too, without frames,
// where the public reader takes it for a stack.
func (o *order) someStack(id uint64) Handle {
	if id < uint64(len(o.stackHandles)) {
		if h := o.stackHandles[id]; h != 0 {
			return h
		}
	}
	if !o.hasStack(id) {
		o.missStack(id)
		return 0
	}
	d := o.d
	h := d.nStacks
	d.nStacks++
	o.addStack(&d.cur.stacks, id)
	o.stackHandles[id] = h
	return h
}

// check sees to it that the tables have a stack and a string.
func (o *order) check(stack, str uint64) {
	if !o.hasStack(stack) {
		o.missStack(stack)
	}
	if !o.hasText(str) {
		o.missText(str)
	}
}

// name returns the handle of a string.
func (o *order) name(id uint64, handle func(*decoder, string) Handle) Handle {
	if id == 0 {
		return 0
	}
	t := o.text(id)
	if t == nil {
		o.missText(id)
		return 0
	}
	if t.handle == 0 { // also if there are too many of them
		t.handle = handle(o.d, o.value(id))
	}
	return t.handle
}

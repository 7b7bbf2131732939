package events

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"golang.org/x/exp/trace"

	"github.com/gmpscope/gmpscope/analyze/input"
)

// blockEvents is the number of events handed on at once, 224 KB: enough to make the
// cost of a channel operation vanish, with that of waking a thread for it.
const blockEvents = 4096

// block is a run of events of one generation. Its handles are the
// generation's own; the new ones among them come along.
type block struct {
	events  []Event
	stacks  newStacks
	strings []string
	// messages are the handles of those of strings that are texts of logs.
	messages []Handle
	wall     time.Time // of the trace's clock snapshot; zero if none
	wallAt   int64     // raw trace time of it
	err      error     // why decoding stopped; the events before it hold
	anew     bool      // its tables replace those that came with the blocks before
	partial  bool      // batches of the generation are missing, perhaps some from its beginning
	breaks   int       // up to its end in the generation: see order.breakOff

	// With the last block.
	steps    int64    // what it took to put the events in order
	salvaged *Salvage // nil if nothing had to be
	lost     int64    // bytes of the generation that were not used, with err or salvaged
}

// decoder turns one generation into blocks.
type decoder struct {
	v1      bool
	free    <-chan []Event // to be used again, nil if there are none
	work    *work
	stacks  map[trace.Stack]Handle
	names   map[string]Handle
	nStacks Handle

	// What was looked up last, since a map costs much of what reading an event
	// does: a goroutine mostly stops, and is woken from, where it did before.
	recentStacks [512]recentStack
	recentNames  [64]recentName

	// annotations counts the types of tasks and regions among names: a program
	// may invent them without end.
	annotations int
	messages    int // of logs among names

	cur       *block
	emitted   emitted
	takesOver bool // from a decoder that handed on what is in emitted
}

type recentStack struct {
	stack  trace.Stack
	handle Handle
}

type recentName struct {
	name   string
	handle Handle
}

// maxStrings bounds the reasons and labels that one generation may bring; real
// ones have a few dozen.
const maxStrings = 1 << 16

// maxAnnotations bounds the types of tasks and regions that one generation may
// bring.
const maxAnnotations = 1000

// maxMessages bounds the texts of logs that one generation may bring, maxAllMessages
// those that are kept of all of a trace.
const (
	maxMessages    = 1000
	maxAllMessages = 20_000
)

// decode reads gen to its end or to its first error and calls emit with each
// block; emit returns false to stop.
//
// Our own decoder reads what is healthy, several times as fast as the public
// reader and with the same events. Where it declines, the public reader has the
// say: it reads the generation from its beginning, and what was handed on
// already is passed over. The public reader can panic on a damaged trace; that
// becomes the error of the last block. What both refuse is salvaged.
//
// A generation can be read on its own, but for rare ones: an event of theirs
// needs what a thread did in the generation before. If gen fails, it is read
// again behind before, the data of that generation; nil if there is none.
//
// Events that are not needed any more come back in free.
func decode(w *work, gen *input.Generation, before []byte, v1 bool, free <-chan []Event, emit func(*block) bool) {
	d, err := validate(w, gen, before, v1, v1, free, emit)
	if err != nil {
		n := d.emitted.n + int64(len(d.cur.events))
		d.cur.lost = max(0, gen.Bytes-2*n) // an event takes two bytes at least
	}
	if err != nil && !leftOut(err) {
		d, err = d.salvage(gen, before, err, emit)
	}
	if errors.Is(err, errStopped) {
		return
	}
	d.cur.err, d.cur.steps = err, w.steps
	emit(d.cur)
}

// validate reads gen as far as it is valid and leaves the last block to the caller; with public, by the
// public reader alone.
func validate(w *work, gen *input.Generation, before []byte, v1, public bool, free <-chan []Event, emit func(*block) bool) (*decoder, error) {
	d := newDecoder(w, v1, free)
	err := error(declined("a format that it does not read"))
	if !public {
		err = d.decodeOwn(gen.Data, emit)
	}
	if _, ok := err.(declined); ok {
		had := sum(gen.Data, d.emitted.n)
		d = newDecoder(w, v1, free)
		d.emitted = had
		err = d.run(gen.Data, false, emit)
	}
	if err != nil && !leftOut(err) && before != nil {
		had := d.cur.events
		d.cur.events = d.newEvents()
		emitted := d.emitted
		again := d.run(append(slices.Clip(before), gen.Data[headerSize:]...), true, emit)
		if again == nil || d.emitted.n > emitted.n || len(d.cur.events) > len(had) {
			err = again
		} else {
			d.cur.events = had
		}
	}
	return d, err
}

func newDecoder(w *work, v1 bool, free <-chan []Event) *decoder {
	d := &decoder{v1: v1, free: free, work: w, stacks: map[trace.Stack]Handle{}, names: map[string]Handle{}, nStacks: 1}
	d.cur = d.newBlock()
	for i, s := range fixedStrings {
		d.names[s] = Handle(i)
	}
	return d
}

func (d *decoder) newBlock() *block { return &block{events: d.newEvents()} }

func (d *decoder) newEvents() []Event {
	select {
	case e := <-d.free:
		return e[:0]
	default:
		return make([]Event, 0, blockEvents)
	}
}

var errStopped = errors.New("stopped")

// headerSize is the length of a trace's header, which every Generation's Data
// begins with.
const headerSize = 16

// emitted is how many events were handed on, and a sum over what is in them
// whether or not the generation before is known.
type emitted struct {
	n   int64
	sum uint64
}

func (m *emitted) add(e *Event) {
	m.n++
	x := uint64(e.M) ^ bits.RotateLeft64(uint64(e.Res), 24) ^ uint64(e.Kind)<<56 ^ uint64(e.To)<<48
	m.sum = bits.RotateLeft64((m.sum^x)*0x9e3779b97f4a7c15, 29)
}

// sum reports what the first n events are that decodeOwn hands on. It decodes them again,
// since they are rarely asked for.
func sum(data []byte, n int64) emitted {
	var m emitted
	if n > 0 {
		newDecoder(anyWork(), false, nil).decodeOwn(data, func(b *block) bool {
			for i := range b.events {
				m.add(&b.events[i])
			}
			return m.n < n
		})
	}
	return m
}

// run reads data with the public reader. What was handed on already is passed
// over, and has to be the same. If data is that of two generations, so is the
// first: behind says so.
func (d *decoder) run(data []byte, behind bool, emit func(*block) bool) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the reader gave up on damaged data: %v", p)
		}
	}()
	if !d.v1 { // of those, the input has seen to it
		if err := d.work.public(data); err != nil {
			return err
		}
	}
	r, err := newReader(data, d.v1)
	if err != nil {
		return err
	}
	read, skip := d.emitted, d.emitted // read is with what is in d.cur
	var passed emitted
	syncs := 0
	for i := 0; ; i++ {
		if i%lookEvents == 0 {
			if err := d.work.stopped(); err != nil {
				return err
			}
		}
		ev, err := r.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if behind && syncs < 2 {
			if ev.Kind() == trace.EventSync {
				syncs++
			}
			if syncs < 2 {
				continue
			}
		}
		n := len(d.cur.events)
		e := &d.cur.events[:n+1][n]
		d.convert(e, &ev)
		if e.Kind == Procs {
			if err := d.work.procs(int32(e.Res)); err != nil {
				return err
			}
		}
		if d.v1 {
			e.Time = r.at
		}
		if passed.n < skip.n {
			passed.add(e)
			if passed.n < skip.n {
				continue
			}
			if passed.sum != skip.sum {
				return errors.New("its events differ with those before it")
			}
			switch {
			case d.takesOver: // their tables were handed on with other handles
				d.cur.anew = true
			case !behind: // their tables were handed on with them
				d.cur = &block{events: d.cur.events}
			}
			continue
		}
		d.cur.events = d.cur.events[:n+1] // only now: convert can panic
		read.add(e)
		if n+1 == blockEvents {
			d.emitted = read
			if !emit(d.cur) {
				return errStopped
			}
			d.cur = d.newBlock()
		}
	}
}

// lookEvents is how many events the public reader gives between two looks at the
// context: each can take it some ms.
const lookEvents = 64

func (d *decoder) convert(e *Event, ev *trace.Event) {
	*e = Event{} // not with its fields: that would be made elsewhere and copied
	e.Time = int64(ev.Time())
	e.G, e.M, e.P = int64(ev.Goroutine()), int64(ev.Thread()), d.proc(ev.Proc())
	e.Res = None
	switch ev.Kind() {
	case trace.EventStateTransition:
		d.transition(e, ev)
	case trace.EventRangeBegin, trace.EventRangeActive, trace.EventRangeEnd:
		d.rangeEvent(e, ev)
	case trace.EventMetric:
		d.metric(e, ev)
	case trace.EventLabel:
		if l := ev.Label(); l.Resource.Kind == trace.ResourceGoroutine {
			e.Kind = Label
			e.Res = int64(l.Resource.Goroutine())
			e.Reason = d.name(l.Label)
		}
	case trace.EventStackSample:
		e.Kind = Sample
		e.Stack = d.stack(ev.Stack(), e.G)
	case trace.EventTaskBegin:
		e.Kind, e.Res = TaskBegin, task(uint64(ev.Task().ID))
		e.Reason = d.annotation(ev.Task().Type)
	case trace.EventTaskEnd:
		e.Kind, e.Res = TaskEnd, task(uint64(ev.Task().ID))
	case trace.EventRegionBegin:
		e.Kind, e.Res = Region, task(uint64(ev.Region().Task))
		e.Reason = d.annotation(ev.Region().Type)
	case trace.EventRegionEnd:
		e.Kind, e.Res = RegionEnd, task(uint64(ev.Region().Task))
		e.Reason = d.annotation(ev.Region().Type)
	case trace.EventLog:
		l := ev.Log()
		e.Kind, e.Res = Log, task(uint64(l.Task))
		e.Reason = d.message(l.Category, l.Message)
	case trace.EventExperimental:
		e.Kind = Experimental
	case trace.EventSync:
		e.Kind, e.late = Sync, true
		if c := ev.Sync().ClockSnapshot; c != nil && d.cur.wall.IsZero() {
			d.cur.wall, d.cur.wallAt = c.Wall, int64(c.Trace)
		}
	}
}

func (d *decoder) transition(e *Event, ev *trace.Event) {
	st := ev.StateTransition()
	switch st.Resource.Kind {
	case trace.ResourceGoroutine:
		from, to := st.Goroutine()
		e.Kind = Go
		e.Res = int64(st.Resource.Goroutine())
		e.From, e.To = goStates[from], goStates[to]
		e.Reason = d.name(st.Reason)
		e.TStack = d.stack(st.Stack, e.Res<<2^int64(e.To))
		// A transition of the running goroutine itself has one stack only.
		if e.G == e.Res {
			e.Stack = e.TStack
		} else {
			e.Stack = d.stack(ev.Stack(), e.G<<2^int64(e.From))
		}
		e.late = e.lateStatus()
	case trace.ResourceProc:
		from, to := st.Proc()
		p := d.proc(st.Resource.Proc())
		if p == None {
			return
		}
		e.Kind = Proc
		e.Res = int64(p)
		e.From, e.To = procStates[from], procStates[to]
	}
}

var goStates = [...]State{
	trace.GoUndetermined: Undetermined,
	trace.GoNotExist:     NotExist,
	trace.GoRunnable:     Runnable,
	trace.GoRunning:      Running,
	trace.GoWaiting:      Waiting,
	trace.GoSyscall:      Syscall,
}

var procStates = [...]State{
	trace.ProcUndetermined: Undetermined,
	trace.ProcNotExist:     NotExist,
	trace.ProcRunning:      Running,
	trace.ProcIdle:         Idle,
}

func (d *decoder) metric(e *Event, ev *trace.Event) {
	m := ev.Metric()
	switch m.Name {
	case "/sched/gomaxprocs:threads":
		e.Kind = Procs
		e.Res = int64(min(m.Value.Uint64(), math.MaxInt32))
		e.Stack = d.stack(ev.Stack(), e.G)
	case "/memory/classes/heap/objects:bytes":
		e.Kind, e.Res = HeapAlloc, int64(min(m.Value.Uint64(), math.MaxInt64))
	case "/gc/heap/goal:bytes":
		e.Kind, e.Res = HeapGoal, int64(min(m.Value.Uint64(), math.MaxInt64))
	}
}

func (d *decoder) rangeEvent(e *Event, ev *trace.Event) {
	r := ev.Range()
	end := ev.Kind() == trace.EventRangeEnd
	pick := func(begin, done Kind) {
		e.Kind = begin
		if end {
			e.Kind = done
		}
	}
	switch {
	case strings.HasPrefix(r.Name, "stop-the-world ("):
		pick(STWBegin, STWEnd)
		e.Reason = d.name(strings.TrimSuffix(strings.TrimPrefix(r.Name, "stop-the-world ("), ")"))
		e.Stack = d.stack(ev.Stack(), e.G)
	case r.Name == "GC concurrent mark phase":
		pick(GCBegin, GCEnd)
	case r.Name == "GC mark assist":
		pick(AssistBegin, AssistEnd)
		e.Stack = d.stack(ev.Stack(), e.G)
	case r.Name == "GC incremental sweep" && r.Scope.Kind == trace.ResourceProc:
		pick(SweepBegin, SweepEnd)
		e.Res = int64(d.proc(r.Scope.Proc()))
	}
	if r.Scope.Kind == trace.ResourceGoroutine {
		e.Res = int64(r.Scope.Goroutine())
	}
}

// fakeProcs is where the processors begin that the reader invents for v1
// traces, to hang events on that had none.
const fakeProcs = 1_000_000

// maxProcs bounds the processors that are told apart: a damaged trace can name
// any, and whoever follows them takes memory for each.
const maxProcs = 1 << 16

func (d *decoder) proc(p trace.ProcID) int32 {
	if p < 0 || p >= maxProcs || d.v1 && p >= fakeProcs {
		return None
	}
	return int32(p)
}

// stack returns the handle of s. Events that are likely to have the same stack
// should come with the same hint, others with another.
func (d *decoder) stack(s trace.Stack, hint int64) Handle {
	if s == trace.NoStack {
		return 0
	}
	recent := &d.recentStacks[uint64(hint)%uint64(len(d.recentStacks))]
	if recent.stack == s {
		return recent.handle
	}
	h, ok := d.stacks[s]
	if !ok {
		h = d.nStacks
		d.nStacks++
		d.stacks[s] = h
		d.cur.stacks.addFrames(s.Frames())
	}
	*recent = recentStack{s, h}
	return h
}

// annotation is the name of a type of tasks or regions; 0 if there are too many.
func (d *decoder) annotation(s string) Handle {
	if _, ok := d.names[s]; !ok {
		if d.annotations == maxAnnotations {
			return 0
		}
		d.annotations++
	}
	return d.name(s)
}

// task is the number of a task, 0 if there is none: that of the background, and one that
// a damaged trace made up.
func task(id uint64) int64 {
	if id > math.MaxInt64 {
		return 0
	}
	return int64(id)
}

// message is what a log says, behind its category; 0 if there are too many.
func (d *decoder) message(category, text string) Handle {
	if category != "" {
		text = category + ": " + text
	}
	if _, ok := d.names[text]; !ok && text != "" && text != d.work.message {
		if d.messages == maxMessages {
			return 0
		}
		d.messages++
		d.cur.messages = append(d.cur.messages, Handle(len(d.names)))
	}
	return d.name(text)
}

func (d *decoder) name(s string) Handle {
	if s == "" {
		return 0
	}
	recent := &d.recentNames[(len(s)+7*int(s[0]))%len(d.recentNames)]
	if recent.name == s {
		return recent.handle
	}
	h, ok := d.names[s]
	if !ok {
		if len(d.names) >= maxStrings {
			return 0
		}
		h = Handle(len(d.names))
		d.names[strings.Clone(s)] = h
		d.cur.strings = append(d.cur.strings, strings.Clone(s))
	}
	*recent = recentName{s, h}
	return h
}

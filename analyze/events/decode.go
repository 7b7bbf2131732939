package events

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"golang.org/x/exp/trace"

	"github.com/gmpscope/gmpscope/analyze/input"
)

// blockEvents is the number of events handed on at once: enough to make the
// cost of a channel operation vanish.
const blockEvents = 2048

// block is a run of events of one generation. Its handles are the
// generation's own; the new ones among them come along.
type block struct {
	events  []Event
	stacks  [][]Frame // handles from firstStack on
	strings []string
	wall    time.Time // of the trace's clock snapshot; zero if none
	wallAt  int64     // raw trace time of it
	err     error     // why decoding stopped; the events before it hold
}

// decoder turns one generation into blocks.
type decoder struct {
	v1      bool
	stacks  map[trace.Stack]Handle
	names   map[string]Handle
	nStacks Handle
	cur     *block
	emitted emitted
}

// maxStrings bounds the reasons and labels that one generation may bring; real
// ones have a few dozen.
const maxStrings = 1 << 16

// decode reads gen to its end or to its first error and calls emit with each
// block; emit returns false to stop. The underlying reader can panic on a
// damaged trace; that becomes the error of the last block.
//
// A generation can be read on its own, but for rare ones: an event of theirs
// needs what a thread did in the generation before. If gen fails, it is read
// again behind before, the data of that generation; nil if there is none.
func decode(gen *input.Generation, before []byte, v1 bool, emit func(*block) bool) {
	d := newDecoder(v1)
	err := d.run(gen.Data, nil, emit)
	if err != nil && !errors.Is(err, errStopped) && before != nil {
		had := d.cur.events
		d.cur.events = make([]Event, 0, blockEvents)
		emitted := d.emitted
		again := d.run(append(slices.Clip(before), gen.Data[headerSize:]...), &emitted, emit)
		if again == nil || d.emitted.n > emitted.n || len(d.cur.events) > len(had) {
			err = again
		} else {
			d.cur.events = had
		}
	}
	if errors.Is(err, errStopped) {
		return
	}
	d.cur.err = err
	emit(d.cur)
}

func newDecoder(v1 bool) *decoder {
	d := &decoder{v1: v1, stacks: map[trace.Stack]Handle{}, names: map[string]Handle{}, nStacks: 1, cur: newBlock()}
	for i, s := range fixedStrings {
		d.names[s] = Handle(i)
	}
	return d
}

func newBlock() *block { return &block{events: make([]Event, 0, blockEvents)} }

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
	for _, x := range [...]int64{e.M, e.Res, int64(e.Kind), int64(e.To)} {
		m.sum = (m.sum ^ uint64(x)) * 1099511628211
	}
}

// run reads data. If it is that of two generations, skip is what was handed on
// of the second already: that much is passed over, and has to be the same.
func (d *decoder) run(data []byte, skip *emitted, emit func(*block) bool) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the reader gave up on damaged data: %v", p)
		}
	}()
	r, err := trace.NewReader(bytes.NewReader(data))
	if err != nil {
		return err
	}
	var passed emitted
	syncs := 0
	for {
		ev, err := r.ReadEvent()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if skip != nil && syncs < 2 {
			if ev.Kind() == trace.EventSync {
				syncs++
			}
			if syncs < 2 {
				continue
			}
		}
		e := d.convert(&ev)
		if skip != nil && passed.n < skip.n {
			if passed.add(&e); passed.n == skip.n && passed.sum != skip.sum {
				return errors.New("its events differ with those before it")
			}
			continue
		}
		d.cur.events = append(d.cur.events, e)
		if len(d.cur.events) == blockEvents {
			for i := range d.cur.events {
				d.emitted.add(&d.cur.events[i])
			}
			if !emit(d.cur) {
				return errStopped
			}
			d.cur = newBlock()
		}
	}
}

func (d *decoder) convert(ev *trace.Event) Event {
	e := Event{
		Time: int64(ev.Time()),
		G:    int64(ev.Goroutine()),
		M:    int64(ev.Thread()),
		P:    d.proc(ev.Proc()),
		Res:  None,
	}
	switch ev.Kind() {
	case trace.EventStateTransition:
		d.transition(&e, ev)
	case trace.EventRangeBegin, trace.EventRangeActive, trace.EventRangeEnd:
		d.rangeEvent(&e, ev)
	case trace.EventMetric:
		if m := ev.Metric(); m.Name == "/sched/gomaxprocs:threads" {
			e.Kind = Procs
			e.Res = int64(min(m.Value.Uint64(), math.MaxInt32))
			e.Stack = d.stack(ev.Stack())
		}
	case trace.EventLabel:
		if l := ev.Label(); l.Resource.Kind == trace.ResourceGoroutine {
			e.Kind = Label
			e.Res = int64(l.Resource.Goroutine())
			e.Reason = d.name(l.Label)
		}
	case trace.EventStackSample:
		e.Kind = Sample
		e.Stack = d.stack(ev.Stack())
	case trace.EventTaskBegin:
		e.Kind = TaskBegin
	case trace.EventTaskEnd:
		e.Kind = TaskEnd
	case trace.EventRegionBegin:
		e.Kind = Region
	case trace.EventLog:
		e.Kind = Log
	case trace.EventExperimental:
		e.Kind = Experimental
	case trace.EventSync:
		e.Kind = Sync
		if c := ev.Sync().ClockSnapshot; c != nil && d.cur.wall.IsZero() {
			d.cur.wall, d.cur.wallAt = c.Wall, int64(c.Trace)
		}
	}
	return e
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
		e.TStack = d.stack(st.Stack)
		// A transition of the running goroutine itself has one stack only.
		if e.G == e.Res {
			e.Stack = e.TStack
		} else {
			e.Stack = d.stack(ev.Stack())
		}
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
		e.Stack = d.stack(ev.Stack())
	case r.Name == "GC concurrent mark phase":
		pick(GCBegin, GCEnd)
	case r.Name == "GC mark assist":
		pick(AssistBegin, AssistEnd)
		e.Stack = d.stack(ev.Stack())
	}
	if r.Scope.Kind == trace.ResourceGoroutine {
		e.Res = int64(r.Scope.Goroutine())
	}
}

// fakeProcs is where the processors begin that the reader invents for v1
// traces, to hang events on that had none.
const fakeProcs = 1_000_000

func (d *decoder) proc(p trace.ProcID) int32 {
	if p < 0 || int64(p) > math.MaxInt32 || d.v1 && p >= fakeProcs {
		return None
	}
	return int32(p)
}

func (d *decoder) stack(s trace.Stack) Handle {
	if s == trace.NoStack {
		return 0
	}
	h, ok := d.stacks[s]
	if !ok {
		h = d.nStacks
		d.nStacks++
		d.stacks[s] = h
		d.cur.stacks = append(d.cur.stacks, framesOf(s.Frames()))
	}
	return h
}

func (d *decoder) name(s string) Handle {
	h, ok := d.names[s]
	if !ok {
		if len(d.names) >= maxStrings {
			return 0
		}
		h = Handle(len(d.names))
		d.names[strings.Clone(s)] = h
		d.cur.strings = append(d.cur.strings, strings.Clone(s))
	}
	return h
}

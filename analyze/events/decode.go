package events

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
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
}

// maxStrings bounds the reasons and labels that one generation may bring; real
// ones have a few dozen.
const maxStrings = 1 << 16

// decode reads gen to its end or to its first error and calls emit with each
// block; emit returns false to stop. The underlying reader can panic on a
// damaged trace; that becomes the error of the last block.
func decode(gen *input.Generation, v1 bool, emit func(*block) bool) {
	d := &decoder{v1: v1, stacks: map[trace.Stack]Handle{}, names: map[string]Handle{}, nStacks: 1}
	for i, s := range fixedStrings {
		d.names[s] = Handle(i)
	}
	d.cur = newBlock()
	err := d.run(gen, emit)
	if errors.Is(err, errStopped) {
		return
	}
	d.cur.err = err
	emit(d.cur)
}

func newBlock() *block { return &block{events: make([]Event, 0, blockEvents)} }

var errStopped = errors.New("stopped")

func (d *decoder) run(gen *input.Generation, emit func(*block) bool) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the reader gave up on damaged data: %v", p)
		}
	}()
	r, err := trace.NewReader(bytes.NewReader(gen.Data))
	if err != nil {
		return err
	}
	for {
		ev, err := r.ReadEvent()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		d.cur.events = append(d.cur.events, d.convert(&ev))
		if len(d.cur.events) == blockEvents {
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

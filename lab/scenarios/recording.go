package scenarios

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/exp/trace"
)

// A recording is a trace as a flat list of the events that the facts are
// about, with what is known of its goroutines.
type recording struct {
	format      string // as "go 1.26"
	events      []event
	created     []creation // in order
	class       map[trace.GoID]string
	read        int // events read, those left out of events included
	generations int
	goroutines  int
	procs       int
	threads     int
	first, last trace.Time
}

// An event is a transition of a goroutine or P, or one end of a range.
type event struct {
	kind  trace.EventKind
	at    trace.Time
	g     trace.GoID   // the goroutine that changes state, or NoGoroutine
	p     trace.ProcID // the P that changes state, or NoProc
	from  string       // state before, by its name in x/exp/trace
	to    string       // state after
	why   string       // reason of a transition, name of a range or label
	stack [2]string    // for Running→Runnable: leaf function and its caller

	byG trace.GoID     // context: the goroutine on the thread
	onP trace.ProcID   // context: the P of the thread
	onM trace.ThreadID // context: the thread
}

// A creation is the event that made a goroutine.
type creation struct {
	index int // in recording.events
	g     trace.GoID
	class string       // its start function
	by    trace.GoID   // its creator, or NoGoroutine
	onP   trace.ProcID // the creator's P
}

// readRecording reads a trace to the end. On an error it returns what it read
// up to there too.
func readRecording(r io.Reader) (*recording, error) {
	rec := &recording{class: make(map[trace.GoID]string)}
	buffered := bufio.NewReader(r)
	if header, err := buffered.Peek(16); err == nil {
		rec.format = strings.TrimSuffix(string(bytes.TrimRight(header, "\x00")), " trace")
	}
	syncs := 0
	goroutines := make(map[trace.GoID]bool)
	procs := make(map[trace.ProcID]bool)
	threads := make(map[trace.ThreadID]bool)
	defer func() {
		rec.generations = max(0, syncs-1)
		rec.goroutines, rec.procs, rec.threads = len(goroutines), len(procs), len(threads)
	}()
	reader, err := trace.NewReader(buffered)
	if err != nil {
		return rec, err
	}
	for {
		ev, err := reader.ReadEvent()
		if errors.Is(err, io.EOF) {
			return rec, nil
		}
		if err != nil {
			return rec, err
		}
		if rec.read == 0 {
			rec.first = ev.Time()
		}
		rec.last = ev.Time()
		rec.read++
		e := event{
			kind: ev.Kind(), at: ev.Time(), g: trace.NoGoroutine, p: trace.NoProc,
			byG: ev.Goroutine(), onP: ev.Proc(), onM: ev.Thread(),
		}
		switch ev.Kind() {
		case trace.EventSync:
			syncs++
			continue
		case trace.EventStateTransition:
			rec.transition(&e, ev)
		case trace.EventRangeBegin, trace.EventRangeActive, trace.EventRangeEnd:
			e.why = ev.Range().Name
		case trace.EventLabel:
			e.why = ev.Label().Label
		default:
			continue
		}
		for _, g := range []trace.GoID{e.g, e.byG} {
			if g != trace.NoGoroutine {
				goroutines[g] = true
			}
		}
		for _, p := range []trace.ProcID{e.p, e.onP} {
			if p != trace.NoProc {
				procs[p] = true
			}
		}
		if e.onM != trace.NoThread {
			threads[e.onM] = true
		}
		rec.events = append(rec.events, e)
	}
}

func (rec *recording) transition(e *event, ev trace.Event) {
	st := ev.StateTransition()
	e.why = st.Reason
	switch st.Resource.Kind {
	case trace.ResourceProc:
		e.p = st.Resource.Proc()
		from, to := st.Proc()
		e.from, e.to = from.String(), to.String()
	case trace.ResourceGoroutine:
		e.g = st.Resource.Goroutine()
		from, to := st.Goroutine()
		e.from, e.to = from.String(), to.String()
		switch {
		case from == trace.GoNotExist && to == trace.GoRunnable:
			class := ""
			for frame := range st.Stack.Frames() {
				class = frame.Func
				break
			}
			rec.class[e.g] = class
			rec.created = append(rec.created, creation{len(rec.events), e.g, class, e.byG, e.onP})
		case from == trace.GoRunning && to == trace.GoRunnable:
			i := 0
			for frame := range st.Stack.Frames() {
				if e.stack[i] = frame.Func; i == 1 {
					break
				}
				i++
			}
		}
	}
}

// is reports whether e is a goroutine's transition between the given states.
func (e event) is(from, to string) bool {
	return e.g != trace.NoGoroutine && e.from == from && e.to == to
}

// isProc reports whether e is a P's transition between the given states.
func (e event) isProc(from, to string) bool {
	return e.p != trace.NoProc && e.from == from && e.to == to
}

// isRetake reports whether e is sysmon taking a P whose goroutine is in a
// system call: only its thread has neither P nor goroutine and takes a P.
func (e event) isRetake() bool {
	return e.isProc("Running", "Idle") && e.onP == trace.NoProc && e.byG == trace.NoGoroutine
}

// isGoyield reports whether e is the yield that ends the handoff of a mutex in
// starvation mode, not a preemption.
func (e event) isGoyield() bool {
	return e.is("Running", "Runnable") && e.why == "preempted" &&
		(e.stack[0] == "runtime.goyield" || // since Go 1.25
			e.stack[0] == "runtime.semrelease1" && strings.HasSuffix(e.stack[1], "sync.runtime_Semrelease"))
}

// of returns the goroutines created of a class, in order.
func (rec *recording) of(class string) []creation {
	return slices.DeleteFunc(slices.Clone(rec.created), func(c creation) bool { return c.class != class })
}

// count returns how many events satisfy a condition.
func (rec *recording) count(condition func(event) bool) int {
	n := 0
	for _, e := range rec.events {
		if condition(e) {
			n++
		}
	}
	return n
}

// starts returns the Runnable→Running events of a class, or of all goroutines
// for class "".
func (rec *recording) starts(class string) []event {
	var found []event
	for _, e := range rec.events {
		if e.is("Runnable", "Running") && (class == "" || rec.class[e.g] == class) {
			found = append(found, e)
		}
	}
	return found
}

// duration returns the time from the first event to the last.
func (rec *recording) duration() time.Duration { return rec.last.Sub(rec.first) }

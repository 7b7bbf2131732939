package stretch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/exp/trace"

	"github.com/gmpscope/gmpscope/analyze/wire"
)

// Loop is a trace with a part that can be repeated.
type Loop struct {
	// Start is the trace from its beginning to the end of the part, Turn one
	// repetition of that part.
	Start, Turn Extent

	gens      []generation
	from, to  int        // the part: gens[from:to]
	ticks     uint64     // how long it lasts
	nanos     uint64     // the same
	gcs       uint64     // begins and ends of GC cycles in it
	born      goroutines // in it
	frequency uint64     // ticks a second
}

// Extent is how long a piece of a trace is, in bytes and in time.
type Extent struct {
	Bytes    int64
	Duration time.Duration
}

// goroutines are some goroutines and the span of their numbers.
type goroutines struct {
	ids      map[uint64]bool
	min, max uint64
}

// ErrNoLoop means that no part of a trace begins and ends in the same state.
var ErrNoLoop = errors.New("no two ends of generations find the scheduler in the same state")

// Find finds the longest part of a trace that can be repeated. It keeps data.
func Find(data []byte) (*Loop, error) {
	gens, err := split(data)
	if err != nil {
		return nil, err
	}
	states, err := states(data)
	if err != nil {
		return nil, err
	}
	// How long the last generation lasts, the trace does not say.
	for length := len(gens) - 2; length > 0; length-- {
		for from := 1; from+length < len(gens); from++ {
			to := from + length
			if to >= len(states) || states[from] != states[to] {
				continue
			}
			l, err := newLoop(gens, from, to)
			if err != nil {
				return nil, err
			}
			if l.valid() {
				return l, nil
			}
		}
	}
	return nil, ErrNoLoop
}

func newLoop(gens []generation, from, to int) (*Loop, error) {
	l := &Loop{gens: gens, from: from, to: to, ticks: gens[to].start - gens[from].start}
	l.born.ids = make(map[uint64]bool)
	for i, g := range gens[:to] {
		l.Start.Bytes += int64(g.bytes)
		if i < from {
			continue
		}
		l.Turn.Bytes += int64(g.bytes)
		for _, b := range g.batches {
			if err := l.learn(&b); err != nil {
				return nil, fmt.Errorf("generation %d: %w", g.number, err)
			}
		}
	}
	if l.frequency == 0 {
		return nil, errors.New("the trace does not say how long a tick is")
	}
	l.nanos = uint64(float64(l.ticks) / float64(l.frequency) * 1e9)
	l.Start.Bytes += headerSize
	l.Start.Duration = time.Duration(float64(gens[to].start-gens[0].start) / float64(l.frequency) * 1e9)
	l.Turn.Duration = time.Duration(l.nanos)
	return l, nil
}

// learn notes what a repetition of b must move up.
func (l *Loop) learn(b *batch) error {
	if !b.ofThread() {
		switch b.data[0] {
		case wire.Stacks, wire.Strings:
		case wire.Sync:
			s, err := b.clock()
			l.frequency = s.frequency
			return err
		default:
			return fmt.Errorf("a batch of type %d is not supported", b.data[0])
		}
		return nil
	}
	return b.events(func(e event) {
		switch e.kind {
		case wire.GoCreate, wire.GoCreateSyscall, wire.GoCreateBlocked:
			l.born.add(e.args[1])
		case wire.GCBegin, wire.GCEnd:
			l.gcs++
		}
	})
}

func (s *goroutines) add(id uint64) {
	if len(s.ids) == 0 {
		s.min, s.max = id, id
	}
	s.ids[id] = true
	s.min, s.max = min(s.min, id), max(s.max, id)
}

// stride is how far their numbers must be moved up to be new.
func (s *goroutines) stride() uint64 { return s.max - s.min + 1 }

// valid reports whether x/exp/trace accepts repetitions: the first comes upon the
// state that the trace left, the second upon that which a repetition leaves.
func (l *Loop) valid() bool {
	r, w := io.Pipe()
	go func() { w.CloseWithError(l.Write(w, 2)) }()
	defer r.Close()
	tr, err := trace.NewReader(r)
	for err == nil {
		_, err = tr.ReadEvent()
	}
	return err == io.EOF
}

// states returns the state of the scheduler at the beginning of a trace and at
// the end of each of its generations, as far as events show it: for two that
// differ no repetition is worth a try.
func states(data []byte) ([]string, error) {
	r, err := trace.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	var (
		out []string
		now = make(map[trace.ResourceID]string)
	)
	for {
		ev, err := r.ReadEvent()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		switch ev.Kind() {
		case trace.EventSync:
			var all []string
			for id, state := range now {
				all = append(all, fmt.Sprintf("%v %s", id, state))
			}
			slices.Sort(all)
			out = append(out, strings.Join(all, "\n"))
		case trace.EventStateTransition:
			t := ev.StateTransition()
			switch t.Resource.Kind {
			case trace.ResourceGoroutine:
				_, to := t.Goroutine()
				note(now, t.Resource, to.String(), to == trace.GoNotExist, to.Executing(), &ev)
			case trace.ResourceProc:
				_, to := t.Proc()
				note(now, t.Resource, to.String(), to == trace.ProcNotExist, to.Executing(), &ev)
			}
		}
	}
}

// note notes the state of a goroutine or P, with the thread that it is bound to.
func note(now map[trace.ResourceID]string, id trace.ResourceID, state string, gone, bound bool, ev *trace.Event) {
	switch {
	case gone:
		delete(now, id)
	case bound:
		now[id] = fmt.Sprintf("%s on %d", state, ev.Thread())
	default:
		now[id] = state
	}
}

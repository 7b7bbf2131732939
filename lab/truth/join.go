package truth

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"golang.org/x/exp/trace"
)

// A Joint is a recording brought together with its trace.
type Joint struct {
	Lines  []Line
	Starts int // Runnable→Running transitions in the trace
	// Unmatched counts starts of the trace without a record or with one that
	// names another P or thread, and records of starts without a transition.
	Unmatched int
	// NoTake counts starts of unknown source, OddPreempts preemptions that do
	// not match their record.
	NoTake, OddPreempts int
}

// ErrMismatch means that too much of a recording does not fit its trace.
var ErrMismatch = errors.New("recording and trace do not match")

// Join reads the trace sequentially and gives each transition to Running its
// record, by goroutine and order. It fails with ErrMismatch if one start in a
// thousand or more is unmatched; the result is valid even then.
func Join(recs []Record, r io.Reader) (*Joint, error) {
	tr, err := trace.NewReader(r)
	if err != nil {
		return nil, err
	}
	return join(recs, tr.ReadEvent)
}

// join does the work of Join on any source of events.
func join(recs []Record, read func() (trace.Event, error)) (*Joint, error) {
	s := newTranscript(recs)
	slices.SortStableFunc(s.other, func(a, b Line) int { return cmp.Compare(a.T, b.T) })
	j := &Joint{NoTake: s.noTake}
	seenStarts := make(map[trace.GoID]int)
	seenPreempts := make(map[trace.GoID]int)
	first, last, next := trace.Time(-1), int64(0), 0
	for {
		ev, err := read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if first < 0 {
			first = ev.Time()
		}
		last = int64(ev.Time())
		// What happened before tracing began is left out.
		for ; next < len(s.other) && s.other[next].T < last; next++ {
			if l := s.other[next]; l.T >= int64(first) {
				l.T -= int64(first)
				j.Lines = append(j.Lines, l)
			}
		}
		if ev.Kind() != trace.EventStateTransition {
			continue
		}
		st := ev.StateTransition()
		if st.Resource.Kind != trace.ResourceGoroutine {
			continue
		}
		id := st.Resource.Goroutine()
		from, to := st.Goroutine()
		t := int64(ev.Time() - first)
		switch {
		case from == trace.GoRunnable && to == trace.GoRunning:
			n := seenStarts[id]
			seenStarts[id] = n + 1
			j.Starts++
			j.Lines = append(j.Lines, j.start(s, ev, id, n, t))
		case to == trace.GoRunnable && from != trace.GoRunnable && from != trace.GoUndetermined:
			if from == trace.GoRunning && st.Reason == "preempted" {
				n := seenPreempts[id]
				seenPreempts[id] = n + 1
				j.Lines = append(j.Lines, j.preempt(s, ev, id, n, t))
			}
			if l, ok := s.readyLine(ev, id, seenStarts[id], t); ok {
				j.Lines = append(j.Lines, l)
			}
		}
	}
	for id, list := range s.starts {
		if extra := len(list) - seenStarts[trace.GoID(id)]; extra > 0 {
			j.Unmatched += extra
		}
	}
	if j.Unmatched*1000 >= max(j.Starts, 1) {
		return j, fmt.Errorf("%w: %d of %d starts", ErrMismatch, j.Unmatched, j.Starts)
	}
	return j, nil
}

func (j *Joint) start(s *transcript, ev trace.Event, id trace.GoID, n int, t int64) Line {
	l := newLine("start")
	l.T, l.G, l.P, l.M, l.N = t, int64(id), int64(ev.Proc()), int64(ev.Thread()), int64(n)
	list := s.starts[int64(id)]
	if n >= len(list) {
		j.Unmatched++
		l.Src = srcUnknown
		return l
	}
	e := list[n]
	if int64(e.start.P) != l.P || int64(e.start.M) != l.M {
		j.Unmatched++
	}
	l.Src, l.Victim, l.Batch, l.Locked = e.src, e.victim, e.batch, e.locked
	l.LL, l.GL, l.Tick = int64(e.start.LL), int64(e.start.GL), int64(e.start.Arg)
	return l
}

func (j *Joint) preempt(s *transcript, ev trace.Event, id trace.GoID, n int, t int64) Line {
	l := newLine("preempt")
	l.T, l.G, l.P, l.M, l.N = t, int64(id), int64(ev.Proc()), int64(ev.Thread()), int64(n)
	list := s.preempts[int64(id)]
	if n >= len(list) || int64(list[n].rec.P) != l.P || int64(list[n].rec.M) != l.M {
		j.OddPreempts++
		return l
	}
	l.Why, l.Also = list[n].why, list[n].also
	return l
}

// readyLine reports where the goroutine went; n of its starts were seen so far.
func (s *transcript) readyLine(ev trace.Event, id trace.GoID, n int, t int64) (Line, bool) {
	l := newLine("ready")
	l.T, l.G, l.N = t, int64(id), int64(n)
	if ev.Proc() != trace.NoProc {
		l.P = int64(ev.Proc())
	}
	if ev.Thread() != trace.NoThread {
		l.M = int64(ev.Thread())
	}
	if list := s.starts[int64(id)]; n < len(list) {
		l.To = list[n].ready
	} else {
		l.To = s.tail[int64(id)]
	}
	return l, l.To != ""
}

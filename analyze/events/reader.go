package events

import (
	"bytes"
	"cmp"
	"errors"
	"regexp"
	"slices"

	"golang.org/x/exp/trace"

	"github.com/gmpscope/gmpscope/analyze/input"
)

// reader gives the events of the public reader in an order that depends on the
// trace alone. That of formats since Go 1.22 does. Of older ones, the reader
// orders by a map both what several Ps did in the same tick and the goroutines
// that existed at the start.
type reader struct {
	next func() (trace.Event, error)

	// Of v1 traces only.
	read   func() (trace.Event, error)
	at     int64         // time of the last event that was given, ns
	states []trace.Event // of goroutines that existed, in order
	after  *trace.Event  // what follows them
	err    error         // or the error
}

func newReader(data []byte, v1 bool) (*reader, error) {
	if v1 {
		apart, err := input.WithoutTies(data)
		if err != nil {
			return nil, err
		}
		if apart != nil {
			if r, err := trace.NewReader(bytes.NewReader(apart)); err == nil {
				return newReaderV1(r), nil
			}
		}
	}
	r, err := trace.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, sameError(err)
	}
	if v1 {
		return newReaderV1(r), nil
	}
	return &reader{next: func() (trace.Event, error) {
		ev, err := r.ReadEvent()
		return ev, sameError(err)
	}}, nil
}

// badStack is what the reader says about a stack that names what is not there. Which
// of several it finds first depends on the order of a map.
var badStack = regexp.MustCompile(`found (unknown pc|invalid (func|file) string ID) \w+ for stack \d+`)

// badEvent is the same of an event of a format before Go 1.22.
var badEvent = regexp.MustCompile(`\w+ has wrong number of arguments: want \d+, got \d+`)

// sameError returns err, or one that does not depend on the order of a map.
func sameError(err error) error {
	switch {
	case err == nil:
	case badStack.MatchString(err.Error()):
		return errors.New("found a stack with an unknown pc or string ID")
	case badEvent.MatchString(err.Error()):
		return errors.New("an event has a wrong number of arguments")
	}
	return err
}

func newReaderV1(from *trace.Reader) *reader {
	r := &reader{read: from.ReadEvent}
	r.next = r.nextV1
	return r
}

// nextV1 returns the next event. Its time is in r.at.
func (r *reader) nextV1() (trace.Event, error) {
	if len(r.states) == 0 && r.after == nil && r.err == nil {
		r.fill()
	}
	if len(r.states) > 0 {
		ev := r.states[0]
		r.states = r.states[1:]
		r.at++ // as the reader sets them apart
		return ev, nil
	}
	if ev := r.after; ev != nil {
		r.after, r.at = nil, int64(ev.Time())
		return *ev, nil
	}
	return trace.Event{}, r.err
}

// fill reads the next event, and if it is the state of a goroutine that existed,
// all that follow at once.
func (r *reader) fill() {
	for {
		ev, err := r.read()
		if err != nil {
			r.err = err
			break
		}
		if !existed(&ev) {
			r.after = &ev
			break
		}
		if len(r.states) == 0 {
			r.at = int64(ev.Time()) - 1
		}
		r.states = append(r.states, ev)
	}
	slices.SortFunc(r.states, func(a, b trace.Event) int {
		return cmp.Compare(a.StateTransition().Resource.Goroutine(), b.StateTransition().Resource.Goroutine())
	})
}

// existed reports whether ev is what the reader makes up for a goroutine of which a
// v1 trace only says that it existed.
func existed(ev *trace.Event) bool {
	if ev.Kind() != trace.EventStateTransition || ev.Thread() != trace.NoThread || ev.Proc() != trace.NoProc || ev.Goroutine() != trace.NoGoroutine {
		return false
	}
	st := ev.StateTransition()
	if st.Resource.Kind != trace.ResourceGoroutine {
		return false
	}
	from, _ := st.Goroutine()
	return from == trace.GoUndetermined
}

package input

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"slices"
)

// finer is how many of the new ticks make an old one: a power of two, so that
// the reader, which calculates in floating point, gets the same times as before
// where a P adds nothing.
const finer = 1 << 15

// WithoutTies returns a copy of a trace of Go 1.21 or older in which no two Ps do
// something at the same time. The reader merges the events of the Ps by time, and
// takes those of the same tick in an order that changes from run to run; equal
// input must give equal output. So ticks become finer, and each P's events are
// moved by its own part of an old tick, by less than a ns on most machines. The
// copy may be in an order that is impossible, where one P waited for what another
// did in the same tick; the reader then refuses it.
//
// It returns nil for what does not make sense, or holds times or Ps for which
// that cannot be done; and an error where the frequency of the clock is given more
// than once: the reader takes the one that it happens to read last.
func WithoutTies(data []byte) ([]byte, error) {
	if len(data) < headerSize {
		return nil, nil
	}
	r := respacer{first: math.MaxUint64, ps: map[uint64]uint64{}}
	sound := r.walk(data[headerSize:])
	if r.clocks > 1 {
		return nil, errClocks
	}
	if !sound || len(r.ps) > finer/2 {
		return nil, nil
	}
	// What is added is none for the P that begins, so that no time gets smaller.
	order := slices.SortedFunc(maps.Keys(r.ps), func(a, b uint64) int {
		return cmp.Or(cmp.Compare(r.ps[a], r.ps[b]), cmp.Compare(a, b))
	})
	for i, p := range order {
		r.ps[p] = uint64(i)
	}
	r.out = append(make([]byte, 0, len(data)+len(data)/2), data[:headerSize]...)
	if !r.walk(data[headerSize:]) {
		return nil, nil
	}
	return r.out, nil
}

var errClocks = errors.New("the frequency of the clock is told more than once")

// respacer copies events with finer ticks. It walks twice: until out is there, it
// only looks for the first time, and for the Ps.
type respacer struct {
	out    []byte
	first  uint64            // of all times, ticks
	clocks int               // events that tell the frequency
	ps     map[uint64]uint64 // the first time of each, then what is added to its times
	more   uint64            // added to those of the batch
}

func (r *respacer) walk(b []byte) bool {
	var e eventV1
	for ; len(b) > 0; b = b[len(e.raw):] {
		if e.read(b) != good || e.torn && e.kind != evStackV1 {
			return false
		}
		if r.out == nil {
			r.learn(&e)
		} else if !r.event(&e) {
			return false
		}
	}
	return true
}

// learn learns the Ps and the first time.
func (r *respacer) learn(e *eventV1) {
	var args [4]uint64 // 0 for what is missing
	copy(args[:], e.args)
	switch e.kind {
	case evFrequencyV1:
		r.clocks++
	case evBatchV1:
		if at, ok := r.ps[args[0]]; !ok || args[1] < at {
			r.ps[args[0]] = args[1]
		}
		r.first = min(r.first, args[1])
	case evSysExitV1:
		if at := args[3]; at > 0 {
			r.first = min(r.first, at)
		}
	case evCPUSampleV1:
		r.first = min(r.first, args[1])
	}
}

// event copies an event with new times.
func (r *respacer) event(e *eventV1) bool {
	fits := true
	at := func(i int, more uint64) { // a time
		t := e.args[i] - r.first
		fits = fits && t < math.MaxInt64/finer/2
		e.args[i] = (t+1)*finer + more // 0 is none
	}
	part := func(i int) { // an interval, or ticks a second
		fits = fits && e.args[i] < math.MaxInt64/finer/2
		e.args[i] *= finer
	}
	switch {
	case e.kind == evStringV1, e.kind == evStackV1, e.kind == evTimerGoroutineV1:
		r.out = append(r.out, e.raw...)
		return true
	case e.kind == evBatchV1:
		if len(e.args) != 2 {
			return false
		}
		r.more = r.ps[e.args[0]]
		at(1, r.more)
	case e.kind == evCPUSampleV1:
		if len(e.args) < 2 {
			return false
		}
		at(1, uint64(len(r.ps)))
	case len(e.args) == 0:
		return false
	case e.kind == evSysExitV1:
		if len(e.args) < 4 {
			return false
		}
		part(0)
		if e.args[3] > 0 {
			at(3, r.more)
		}
	default:
		part(0)
	}
	r.out = e.append(r.out)
	return fits
}

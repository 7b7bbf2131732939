package input

import (
	"cmp"
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"math/bits"
	"slices"
)

// Events of the old format that hold a time, or no time where others do. See
// runtime/trace.go, Go 1.21.
const (
	evBatchV1          = 1
	evFrequencyV1      = 2
	evStackV1          = 3
	evSysExitV1        = 29
	evTimerGoroutineV1 = 35
	evCPUSampleV1      = 49
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
	for len(b) > 0 {
		event := b
		kind, n := b[0]&0x3f, int(b[0]>>6)+1
		b = b[1:]
		ok := true
		number := func() uint64 {
			x, k := binary.Uvarint(b)
			if k <= 0 {
				ok, b = false, nil
				return 0
			}
			b = b[k:]
			return x
		}
		skip := func() {
			if k := number(); k <= uint64(len(b)) {
				b = b[k:]
			} else {
				ok = false
			}
		}
		var args [6]uint64 // of those that are changed
		given := 0
		switch {
		case kind == evStringV1:
			number()
			skip()
		case n <= 3:
			for i := range n {
				args[i] = number()
			}
			given = n
		default:
			size := number()
			if size > uint64(len(b)) {
				return false
			}
			rest := b[size:]
			if kind != evStackV1 {
				b = b[:size]
				for len(b) > 0 && given < len(args) {
					args[given] = number()
					given++
				}
				ok = ok && len(b) == 0
			}
			b = rest
			if kind == evUserLogV1 {
				skip()
			}
		}
		if !ok {
			return false
		}
		if r.out == nil {
			r.learn(kind, &args)
			continue
		}
		if !r.event(event[:len(event)-len(b)], kind, n > 3, args[:given]) {
			return false
		}
	}
	return true
}

// learn learns the Ps and the first time.
func (r *respacer) learn(kind byte, args *[6]uint64) {
	switch kind {
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
func (r *respacer) event(raw []byte, kind byte, long bool, args []uint64) bool {
	fits := true
	at := func(i int, more uint64) { // a time
		t := args[i] - r.first
		fits = fits && t < math.MaxInt64/finer/2
		args[i] = (t+1)*finer + more // 0 is none
	}
	part := func(i int) { // an interval, or ticks a second
		fits = fits && args[i] < math.MaxInt64/finer/2
		args[i] *= finer
	}
	switch {
	case kind == evStringV1, kind == evStackV1, kind == evTimerGoroutineV1:
		r.out = append(r.out, raw...)
		return true
	case kind == evBatchV1:
		if len(args) != 2 {
			return false
		}
		r.more = r.ps[args[0]]
		at(1, r.more)
	case kind == evCPUSampleV1:
		if len(args) < 2 {
			return false
		}
		at(1, uint64(len(r.ps)))
	case len(args) == 0:
		return false
	case kind == evSysExitV1:
		if len(args) < 4 {
			return false
		}
		part(0)
		if args[3] > 0 {
			at(3, r.more)
		}
	default:
		part(0)
	}
	r.out = append(r.out, raw[0])
	var text []byte // of a log, behind the arguments
	if long {
		size, k := binary.Uvarint(raw[1:])
		text = raw[1+k+int(size):]
		size = 0
		for _, x := range args {
			size += uint64(bits.Len64(x|1)+6) / 7
		}
		r.out = binary.AppendUvarint(r.out, size)
	}
	for _, x := range args {
		r.out = binary.AppendUvarint(r.out, x)
	}
	r.out = append(r.out, text...)
	return fits
}

package input

import (
	"encoding/binary"
	"math"

	"github.com/gmpscope/gmpscope/analyze/wire"
)

// Events of the format before Go 1.22 that hold a time, or no time where others do, or are looked at
// for what they name. See runtime/trace.go, Go 1.21.
const (
	evBatchV1          = 1
	evFrequencyV1      = 2
	evStackV1          = 3
	evGoCreateV1       = 13
	evSysExitV1        = 29
	evTimerGoroutineV1 = 35
	evStringV1         = 37
	evGoStartLabelV1   = 41
	evTaskCreateV1     = 45
	evRegionV1         = 47
	evUserLogV1        = 48
	evCPUSampleV1      = 49
	evCountV1          = 50
)

// What the reader accepts of a text, and of the arguments of an event, in bytes.
const (
	maxTextV1 = 1e6
	maxArgsV1 = 2048
)

// eventV1 is an event of the old format.
type eventV1 struct {
	raw  []byte // all of it
	kind byte
	long bool // its numbers come with their length
	torn bool // not all of them can be read
	args []uint64
	size int    // where in raw the length of text begins; 0 if it has none
	text []byte // of a string or a log
}

// read reads the event at the start of b.
func (e *eventV1) read(b []byte) verdict {
	n := int(b[0]>>6) + 1
	*e = eventV1{kind: b[0] & 0x3f, args: e.args[:0]}
	e.long = n > 3 && e.kind != evStringV1
	pos, v := 1, good
	number := func(most uint64) uint64 {
		if v != good {
			return 0
		}
		x, k := binary.Uvarint(b[pos:])
		switch {
		case k == 0:
			v = short
			return 0
		case k < 0 || x > most:
			v = bad
			return 0
		}
		pos += k
		return x
	}
	part := func(most uint64) []byte {
		size := number(most)
		if v == good && size > uint64(len(b)-pos) {
			v = short
		}
		if v != good {
			return nil
		}
		pos += int(size)
		return b[pos-int(size) : pos]
	}
	text := func() {
		e.size = pos // part goes on from there
		e.text = part(maxTextV1)
	}
	switch {
	case e.kind == evStringV1:
		e.args = append(e.args, number(math.MaxUint64))
		text()
	case !e.long:
		for range n {
			e.args = append(e.args, number(math.MaxUint64))
		}
	default:
		for p := part(maxArgsV1); len(p) > 0; {
			x, k := binary.Uvarint(p)
			if k <= 0 {
				e.torn = true
				break
			}
			e.args = append(e.args, x)
			p = p[k:]
		}
		if e.kind == evUserLogV1 {
			text()
		}
	}
	e.raw = b[:pos]
	return v
}

// append appends the event with its numbers, which may have been changed.
func (e *eventV1) append(out []byte) []byte {
	out = append(out, e.raw[0])
	if e.long {
		size := 0
		for _, x := range e.args {
			size += wire.UvarintLen(x)
		}
		out = binary.AppendUvarint(out, uint64(size))
	}
	for _, x := range e.args {
		out = binary.AppendUvarint(out, x)
	}
	if e.size > 0 {
		out = append(out, e.raw[e.size:]...)
	}
	return out
}

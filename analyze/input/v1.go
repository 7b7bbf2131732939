package input

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// v1EventMemory is what x/exp/trace takes for an event, however few bytes it has in the file: twice
// 64, and some more. Made-up traces have two bytes an event, real ones 3.5 to 20.
const v1EventMemory = v1Factor * 8

// v1Steps is what x/exp/trace does for an event and a P, in the steps that [Steps] bounds: it asks each
// P that waits for something whether it can go on.
const v1Steps = 2

// maxName is how many bytes of a name are kept of a trace of Go 1.21 or older, in which one can have
// a million. The runtime cuts names in newer ones at the same length.
const maxName = 1 << 10

// nextV1 reads a whole trace of the old format, which x/exp/trace cannot read in pieces.
func (s *Source) nextV1() (*Generation, error) {
	if s.index > 0 {
		return nil, io.EOF
	}
	var g building
	s.open(&g, 0)
	c := compactor{at: headerSize, ps: map[uint64]struct{}{}}
	for {
		if err := s.bomb(); err != nil {
			return nil, err
		}
		p := s.peek(windowSize)
		if len(p) == 0 {
			break
		}
		s.consume(&g, len(p))
		g.Data = c.compact(g.Data)
		if err := s.fitsV1(&g, &c); err != nil {
			return nil, err
		}
	}
	if s.in.ctx.Err() != nil {
		return nil, s.fail("reading", context.Cause(s.in.ctx))
	}
	s.stats.CutNames = c.long
	g.minor, g.maxEvents = s.header.Minor, min(s.maxV1*v1Factor, s.Memory(s.stored()))/v1EventMemory
	g.Complete = true
	if broken := s.readError(); broken != nil {
		if g.Bytes == 0 {
			return nil, s.failAt("reading", broken)
		}
		g.Complete = false
		s.lose(0, 0, "the input broke off: "+withoutPath(broken).Error())
	}
	s.noteTail()
	return g.Generation, nil
}

// fitsV1 returns an error if what was read so far is more than can be decoded.
func (s *Source) fitsV1(g *building, c *compactor) error {
	const (
		whole  = "a trace of Go 1.21 or older must be read as a whole"
		advice = "record a shorter one, or with Go 1.22 or later"
	)
	size := int64(len(g.Data) - headerSize)
	if size > s.maxV1 {
		return s.fail("reading", fmt.Errorf("%s, and this one has more than %d MiB: %s", whole, s.maxV1>>20, advice))
	}
	if most := s.maxV1 * v1Factor / v1EventMemory; c.events > most {
		return s.fail("reading", fmt.Errorf("%s, and this one has %d events, more than %d: %s", whole, c.events, most, advice))
	}
	if g.Memory = max(size*v1Factor, c.events*v1EventMemory); g.Memory > s.Memory(s.stored()) {
		return s.fail("reading", fmt.Errorf("%s, and %d events of this one, in %d bytes, take %s; or %s", whole, c.events, size, s.limit(), advice))
	}
	if steps := v1Steps * c.events * int64(len(c.ps)); steps > Steps(s.stored()) {
		return s.fail("reading", fmt.Errorf("to put the first %d events, of %d Ps, in order takes more than %d steps, the limit for a trace that is so small as stored: no program writes such a trace", c.events, len(c.ps), Steps(s.stored())))
	}
	return nil
}

// compactor shortens the names in a trace of the old format while it is read, and counts what costs.
type compactor struct {
	at     int  // the events before are done
	bad    bool // what stands there makes no sense; the reader gives up there too
	events int64
	ps     map[uint64]struct{}
	long   int // names that were cut
}

// compact shortens the names that are in data as a whole, in place, and returns what is left of it.
func (c *compactor) compact(data []byte) []byte {
	from, to := c.at, c.at // events are read at from, and moved to to
	for from < len(data) && !c.bad {
		e := c.next(data[from:])
		if e.len == 0 {
			break
		}
		event := data[from : from+e.len]
		from += e.len
		if e.text < 0 || e.len-e.text <= maxName {
			if to += e.len; from != to {
				copy(data[to-e.len:], event)
			}
			continue
		}
		c.long++
		short := append(slices.Clone(event[e.text:e.text+shortName(event[e.text:])]), cutMark...)
		to += copy(data[to:], event[:e.size])
		to += binary.PutUvarint(data[to:], uint64(len(short)))
		to += copy(data[to:], short)
	}
	c.at = to
	if from == to {
		return data
	}
	return data[:to+copy(data[to:], data[from:])]
}

// cutMark ends a name that was cut.
const cutMark = "…"

// shortName returns how many bytes of a long name are kept: as many as fit with the mark, in whole
// characters.
func shortName(name []byte) int {
	const most = maxName - len(cutMark)
	for n := most; n > most-utf8.UTFMax; n-- {
		if utf8.RuneStart(name[n]) {
			return n
		}
	}
	return most // it is no text
}

// extent is where an event of the old format ends. Its text, which ends with it, begins at text, and
// the number of its bytes at size; -1 if it has none.
type extent struct{ len, size, text int }

// next reads the event at the start of b; its len is 0 if b ends within it, or it makes no sense.
func (c *compactor) next(b []byte) extent {
	kind, narg := b[0]&0x3f, int(b[0]>>6)+1
	e := extent{1, -1, -1}
	ok := true
	number := func() uint64 {
		x, k := binary.Uvarint(b[e.len:])
		if k <= 0 {
			ok, c.bad = false, c.bad || k < 0
			return 0
		}
		e.len += k
		return x
	}
	skip := func(most uint64) {
		size := number()
		if size > most {
			ok, c.bad = false, true
		} else if ok = ok && size <= uint64(len(b)-e.len); ok {
			e.len += int(size)
		}
	}
	text := func() {
		e.size = e.len
		skip(maxTextV1)
		e.text = e.size + uvarintLen(b[e.size:])
	}
	weight := int64(1)
	switch {
	case kind == evStringV1:
		number()
		if ok {
			text()
		}
	case narg <= 3:
		first := number()
		if kind == evBatchV1 && ok {
			c.ps[first] = struct{}{}
		}
		for range narg - 1 {
			number()
		}
	default:
		before := e.len
		if skip(maxArgsV1); kind == evStackV1 {
			weight += int64(e.len-before) / 8 // a frame takes as much as an event
		}
		if kind == evUserLogV1 && ok {
			text()
		}
	}
	if !ok {
		return extent{}
	}
	c.events += weight
	return e
}

// uvarintLen returns the length of the number at the start of b.
func uvarintLen(b []byte) int {
	_, k := binary.Uvarint(b)
	return k
}

// What the reader accepts of a text, and of the arguments of an event, in bytes.
const (
	maxTextV1 = 1e6
	maxArgsV1 = 2048
)

// The events of the old format that a text follows.
const (
	evStringV1  = 37
	evUserLogV1 = 48
)

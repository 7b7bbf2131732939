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
	event  eventV1
}

// compact shortens the names that are in data as a whole, in place, and returns what is left of it.
func (c *compactor) compact(data []byte) []byte {
	from, to := c.at, c.at // events are read at from, and moved to to
	e := &c.event
	for from < len(data) && !c.bad {
		if v := e.read(data[from:]); v != good {
			c.bad = v == bad
			break
		}
		c.events++
		switch {
		case e.kind == evStackV1 && e.long:
			c.events += int64(len(e.raw)-1) / 8 // a frame takes as much as an event
		case e.kind == evBatchV1 && !e.long:
			c.ps[e.args[0]] = struct{}{}
		}
		from += len(e.raw)
		if len(e.text) <= maxName {
			if to += len(e.raw); from != to {
				copy(data[to-len(e.raw):], e.raw)
			}
			continue
		}
		c.long++
		name := append(slices.Clone(e.text[:shortName(e.text)]), cutMark...)
		to += copy(data[to:], e.raw[:e.size])
		to += binary.PutUvarint(data[to:], uint64(len(name)))
		to += copy(data[to:], name)
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

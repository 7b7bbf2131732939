package input

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
)

// v1EventBytes is the share of the limit that an event counts as, at least. The reader takes twice
// 64 bytes of memory for each, however few there are in the file: two in a made-up trace, 3.5 to 20
// in real ones. So the default limit is 64 million events, which take 8 GiB.
const v1EventBytes = 8

// nextV1 reads a whole trace of the old format, which x/exp/trace cannot read in pieces.
func (s *Source) nextV1() (*Generation, error) {
	if s.index > 0 {
		return nil, io.EOF
	}
	var g building
	s.open(&g, 0)
	for {
		p := s.peek(windowSize)
		if len(p) == 0 {
			break
		}
		if g.Bytes+int64(len(p)) > s.maxV1 {
			return nil, s.fail("reading", fmt.Errorf("a trace of Go 1.21 or older must be read as a whole, and this one has more than %d MiB: record a shorter one, or with Go 1.22 or later", s.maxV1>>20))
		}
		if err := s.bomb(); err != nil {
			return nil, err
		}
		s.take(g.Generation, len(p))
	}
	if s.in.ctx.Err() != nil {
		return nil, s.fail("reading", context.Cause(s.in.ctx))
	}
	if n := countV1(g.Data[headerSize:]); n > s.maxV1/v1EventBytes {
		return nil, s.fail("reading", fmt.Errorf("a trace of Go 1.21 or older must be read as a whole, and this one has %d events, more than %d: record a shorter one, or with Go 1.22 or later", n, s.maxV1/v1EventBytes))
	}
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

// countV1 counts the events up to the first that makes no sense, where the reader gives up too.
func countV1(b []byte) (n int64) {
	for len(b) > 0 {
		kind, narg := b[0]&0x3f, int(b[0]>>6)+1
		b = b[1:]
		number := func() uint64 {
			x, k := binary.Uvarint(b)
			if k <= 0 {
				b = nil
				return 0
			}
			b = b[k:]
			return x
		}
		skip := func() { b = b[min(number(), uint64(len(b))):] }
		switch {
		case kind == evStringV1:
			number()
			skip()
		case narg <= 3:
			for range narg {
				number()
			}
		default:
			if skip(); kind == evUserLogV1 {
				skip()
			}
		}
		n++
	}
	return n
}

// The events of the old format that a text follows.
const (
	evStringV1  = 37
	evUserLogV1 = 48
)

package input

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/internal/hugepages"
	"github.com/gmpscope/gmpscope/analyze/wire"
)

// building is a generation that is being read.
type building struct {
	*Generation
	synced   bool // its frequency or sync batch was seen
	damaged  bool
	cut      bool // the file ends within its last batch
	ended    bool // its end marker was seen
	lastKind byte // first data byte of the last batch; 0 if that was experimental or empty
	tooLarge bool // its data is not kept
}

// nextV2 returns the next generation that does not take too much memory.
func (s *Source) nextV2() (*Generation, error) {
	for {
		var g building
		if err := s.build(&g); err != nil {
			return nil, err
		}
		if !g.tooLarge {
			return g.Generation, nil
		}
		s.last = g.Number
		why := fmt.Sprintf("generation %d is left out: to decode it takes %s", g.Number, s.limit())
		if s.stats.OverLimit == "" {
			s.stats.OverLimit = why
		}
		s.loseAt(g.Offset, g.Bytes, g.Number, why)
	}
}

// build reads the next generation.
func (s *Source) build(g *building) error {
	for {
		if err := s.bomb(); err != nil {
			return err
		}
		p := s.peek(maxBatchHeader)
		if len(p) == 0 {
			return s.finish(g)
		}
		if p[0] == wire.EndOfGeneration && s.marked() {
			if g.Generation == nil {
				s.lose(1, 0, "an end-of-generation marker without a generation")
				s.discard(1)
				continue
			}
			s.consume(g, 1)
			g.ended = true
			s.deliver(g, true)
			return nil
		}
		h, v, why := parseHeader(p)
		switch v {
		case short:
			if err := s.truncated(g); err != nil {
				return err
			}
			continue
		case bad:
			if err := s.resync(g, why); err != nil {
				return err
			}
			continue
		}

		p = s.peek(h.total() + maxBatchHeader)
		if len(p) < h.total() {
			if g.Generation != nil && !s.marked() && h.gen == g.Number+1 && s.cut(h, p) {
				s.deliver(g, !s.hurt)
				return nil
			}
			if err := s.truncated(g); err != nil {
				return err
			}
			continue
		}
		next, nextV, _ := parseHeader(p[h.total():])
		if s.marked() && len(p) > h.total() && p[h.total()] == wire.EndOfGeneration {
			nextV = short // as good as the end of the file: nothing speaks against this batch
		}

		if g.Generation == nil || h.gen != g.Number {
			if why := s.doubt(g, h, next, nextV); why != "" {
				if err := s.resync(g, why); err != nil {
					return err
				}
				continue
			}
			if g.Generation != nil {
				// Formats before 1.26 have no other sign of the end.
				if s.marked() {
					s.lose(0, g.Number, "the generation has no end marker")
				}
				s.deliver(g, !s.marked() && !s.hurt)
				return nil
			}
		}

		c := s.chain(h.gen)
		if nextV == bad || nextV == good && (!c.plausible(next) || next.gen-h.gen > 1) {
			// Either this batch has a wrong size, or the header behind it is damaged, or neither.
			// In the first case the true end may be inside what the size covers. In the last, a
			// generation is missing, and the batches behind it say so.
			win := s.peek(windowSize)
			atEnd := len(win) < windowSize
			if nextV == bad || !c.at(win, h.total(), atEnd) {
				if q := c.find(win, 1, h.total(), atEnd); q > 0 {
					s.skip(g, q, h.gen, "a batch with a wrong size")
					continue
				}
			}
			if nextV == bad && h.size > 0 && !c.plausible(h) {
				if err := s.resync(g, "a batch with a wrong size"); err != nil {
					return err
				}
				continue
			}
			p = win
		}
		if g.Generation == nil {
			s.open(g, h.gen)
		}
		s.hurt = false
		s.learn(h, next, nextV)
		g.lastKind = 0
		if h.size > 0 && !h.exp {
			g.lastKind = p[h.len]
		}
		if g.lastKind == syncKind(s.header.Minor) {
			g.synced = true
		}
		if g.Bytes+int64(h.total()) > s.maxGen {
			if err := s.enough(fmt.Errorf("generation %d is larger than %d MiB: no program writes that much in one second; the file is damaged, or no trace", g.Number, s.maxGen>>20)); err != nil {
				return err
			}
			continue
		}
		g.Memory += batchMemory + generationFactor*int64(h.total())
		if g.lastKind == wire.CPUSamples {
			g.Memory += sampleFactor * int64(h.size)
		}
		if !g.tooLarge && g.Memory > s.Memory(s.stored()) {
			g.tooLarge, g.Data = true, nil
		}
		s.consume(g, h.total())
	}
}

// learn notes the habits of the trace, for chainCheck, from two batches in a row that agree: from
// one alone, damage could be learned.
func (s *Source) learn(h, next batchHeader, nextV verdict) {
	if nextV != good || !near(h.time, next.time) {
		return
	}
	if s.time != 0 && !near(s.time, h.time) {
		// Wrongly read headers can agree, but not often.
		if s.strange++; s.strange < farChain {
			return
		}
	}
	s.time, s.strange = h.time, 0
	if h.exp || next.exp || h.padded != next.padded {
		return
	}
	s.loose = s.loose || !h.padded
	s.padded = !s.loose
}

// doubt reports what speaks against a batch that does not belong to the open generation; "" if nothing.
func (s *Source) doubt(g *building, h, next batchHeader, nextV verdict) string {
	cur := s.current(g)
	switch {
	case cur == 0 || h.gen == cur+1 && (g.Generation == nil || !s.marked()):
		// The expected case. But one batch of another generation amid this one is damage.
		if nextV != good || next.gen == h.gen || next.gen == h.gen+1 && !s.marked() {
			return ""
		}
	case nextV != good || next.gen == h.gen:
		win := s.peek(windowSize)
		if s.chain(h.gen).at(win, 0, len(win) < windowSize) {
			if h.gen != cur+1 && !s.hurt && g.Generation == nil {
				s.lose(0, 0, fmt.Sprintf("generation %d is followed by generation %d", cur, h.gen))
			}
			return ""
		}
	}
	return fmt.Sprintf("a batch of generation %d amid generation %d", h.gen, cur)
}

// open starts a generation at the current offset.
func (s *Source) open(g *building, number uint64) {
	data := s.spare
	s.spare = nil
	if left := s.left(); s.whole() {
		if int64(cap(data)) < left+headerSize+1 {
			data = hugepages.Make[byte](int(left) + roomAtOnce)
		}
	} else {
		// The runtime begins one before its time where the program asks for it, so that it is short.
		capacity := slices.Max(s.lengths[:])
		capacity = max(min(capacity+capacity/8, maxHint), firstCap)
		if left >= 0 {
			capacity = int(min(int64(capacity), left+64))
		}
		if cap(data) < capacity {
			data = make([]byte, 0, max(capacity, headerSize))
		}
	}
	data = append(data[:0], s.raw[:]...)
	*g = building{Generation: &Generation{Number: number, Offset: s.off, Data: data}, damaged: s.hurt}
}

// consume moves n bytes that were peeked from the window to the generation.
func (s *Source) consume(g *building, n int) {
	if !g.tooLarge {
		if len(g.Data)+n > cap(g.Data) {
			g.Data = s.grow(g.Data, n)
		}
		g.Data = append(g.Data, s.peek(n)...)
	}
	g.Bytes += int64(n)
	s.discard(n)
}

// grow makes room for n more bytes, and for many more: what append would do copies a generation
// of some 100 MB five times over.
func (s *Source) grow(data []byte, n int) []byte {
	capacity := 2 * cap(data)
	if cap(data) > 64<<20 {
		capacity = cap(data) + cap(data)/2
	}
	if left := s.left(); left >= int64(n) { // less if the file grows while it is read
		capacity = int(min(int64(capacity), int64(len(data))+left+64))
	}
	grown := make([]byte, len(data), max(capacity, len(data)+n))
	copy(grown, data)
	return grown
}

// whole reports whether the trace is so small that its generations lie side by side in one piece of
// memory: how long each is need not be known, and memory is touched once.
func (s *Source) whole() bool { return s.left() >= 0 && s.in.total <= maxWhole }

// left returns the number of uncompressed bytes still to come, or -1 if that is not known.
// It is a hint: a file can change while it is read.
func (s *Source) left() int64 {
	if s.header.Compression != "" || s.in.total <= 0 {
		return -1
	}
	return max(0, s.in.total-s.off)
}

// truncated deals with a rest of the input that is less than the batch it begins with.
func (s *Source) truncated(g *building) error {
	win := s.peek(windowSize)
	if s.in.ctx.Err() != nil {
		return s.fail("reading", context.Cause(s.in.ctx)) // no fault of the trace
	}
	// A wrong size can reach beyond the end as well.
	cur := s.current(g)
	if q := s.chain(cur).find(win, 1, len(win), true); q > 0 {
		s.skip(g, q, number(g), "a batch with a wrong size")
		return nil
	}
	h, v, _ := parseHeader(win)
	if v != good || !s.cut(h, win) || cur != 0 && h.gen != cur && (g.Generation != nil || h.gen != cur+1) {
		why := "the trace ends inside a batch"
		if cur == 0 {
			why = fmt.Sprintf("the trace ends inside its first batch, after %d bytes", len(win))
		}
		s.skip(g, len(win), number(g), why)
		return nil
	}
	if g.Generation == nil {
		s.open(g, h.gen)
	}
	g.cut, g.lastKind = true, 0
	s.lose(0, g.Number, fmt.Sprintf("the trace ends inside a batch, of which %d %% are there", 100*(len(win)-h.len)/h.size))
	s.takeCut(g, h, len(win))
	return nil
}

// cut reports whether p, the rest of the input, is the beginning of a batch with some data in it.
func (s *Source) cut(h batchHeader, p []byte) bool {
	return len(p) > h.len && len(p) < h.total() && !h.exp && s.chain(h.gen).plausible(h) && startsBatch(p[h.len])
}

// takeCut moves the last n bytes of the input to the generation, as a batch of that size.
func (s *Source) takeCut(g *building, h batchHeader, n int) {
	if !g.tooLarge {
		p := s.peek(n)
		g.Data = append(g.Data, p[:h.len-h.sizeLen]...)
		g.Data = binary.AppendUvarint(g.Data, uint64(n-h.len))
		g.Data = append(g.Data, p[h.len:]...)
	}
	g.Bytes += int64(n)
	s.discard(n)
}

// current is the number of the generation that was read last; 0 if none.
func (s *Source) current(g *building) uint64 {
	if g.Generation != nil {
		return g.Number
	}
	return s.last
}

// number is that of the open generation; 0 if none is open.
func number(g *building) uint64 {
	if g.Generation != nil {
		return g.Number
	}
	return 0
}

// hit notes that the open generation, or else the next, is damaged.
func (s *Source) hit(g *building) {
	s.hurt = true
	g.damaged = true
}

// skip gives up the next n bytes.
func (s *Source) skip(g *building, n int, number uint64, why string) {
	s.hit(g)
	s.lose(int64(n), number, why)
	s.discard(n)
}

// resync skips the bytes, at least one, up to where batches go on, or all that is left.
func (s *Source) resync(g *building, why string) error {
	s.hit(g)
	c := s.chain(s.current(g))
	start, from, found := s.off, 1, false
	other := string(s.peek(len(headerStart))) == headerStart // its generations must not be taken for ours
	if other {
		why = "another trace begins here: give it as a file of its own"
	}
	for !found {
		win := s.peek(windowSize)
		if len(win) == 0 {
			break
		}
		atEnd := len(win) < windowSize
		to := len(win)
		if !atEnd {
			to -= chainSpan
		}
		if !other {
			if q := c.find(win, from, to, atEnd); q >= 0 {
				to, found = q, true
			}
		}
		s.discard(to)
		from = 0
		if s.off-start > s.maxScan {
			why += fmt.Sprintf("; gave up after %d MiB", s.maxScan>>20)
			s.stop()
			break
		}
		if err := s.bomb(); err != nil {
			return err
		}
	}
	if s.in.ctx.Err() != nil {
		return s.fail("reading", context.Cause(s.in.ctx))
	}
	if !found && !other {
		why += "; no batch follows"
	}
	s.loseAt(start, s.off-start, number(g), why)
	return nil
}

// finish deals with the end of the input.
func (s *Source) finish(g *building) error {
	if s.in.ctx.Err() != nil {
		return s.fail("reading", context.Cause(s.in.ctx))
	}
	broken := s.readError()
	if broken != nil {
		if g.Generation == nil && s.index == 0 {
			return s.failAt("reading", broken)
		}
		s.lose(0, number(g), "the input broke off: "+withoutPath(broken).Error())
		s.stream.settle()
	}
	s.noteTail()
	if g.Generation == nil {
		return io.EOF
	}
	// The runtime writes the strings of a generation last, in all versions from 1.22 to 1.27.
	complete := !s.marked() && broken == nil && g.lastKind == wire.Strings && g.synced
	if !complete && broken == nil && !g.damaged && !g.cut {
		s.lose(0, g.Number, "the trace ends inside the generation")
	}
	s.deliver(g, complete)
	return nil
}

// deliver completes a generation; whole reports whether its end was seen.
func (s *Source) deliver(g *building, whole bool) {
	g.Skipped = g.damaged
	g.Complete = whole && !g.damaged && !g.cut && (s.marked() || g.synced)
	if g.tooLarge {
		return
	}
	data := g.Data
	if s.marked() && !g.ended {
		data = append(data, wire.EndOfGeneration)
	}
	if n := len(data); s.whole() {
		data, s.spare = data[:n:n], data[n:]
	} else if cap(data) > 2*n+maxSlack {
		data, s.spare = slices.Clone(data), data
	}
	g.Data = data
}

package events

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/wire"
)

// This file reads what is sound of a generation that the public reader refuses. A damaged entry of a
// table costs that entry: what refers to it has no stack, or no name. The events of a thread hold up
// to the first that is none. From there on the generation is partial, as one is from its beginning
// that lacks batches: the events that are there come as states and sequence numbers allow, and where
// they depend on one that is not, a Lost event breaks off what is measured across. Where states
// contradict each other even so, the generation ends.

// salvage reads with our own decoder a generation at which d gave up with the error why. It does
// not decline, but does without what is damaged. It goes on behind the last block that d handed on;
// what it reads before must be the same. If it comes no further than d, d and why stay.
func (d *decoder) salvage(gen *input.Generation, before []byte, why error, emit func(*block) bool) (*decoder, error) {
	if d.v1 {
		return d.repair(gen, why, emit)
	}
	g, err := salvageGeneration(gen, before)
	if err != nil {
		return d, why
	}
	s := newDecoder(d.work, false, d.free)
	var passed emitted
	var tables block // that were handed on, perhaps with other handles
	same, goesOn, partial := true, false, g.salvaged.Partial
	takeOver := func(b *block) {
		if !goesOn && passed.n > 0 {
			b.anew = true
			tables.stacks.add(&b.stacks)
			b.stacks = tables.stacks
			b.strings = append(tables.strings, b.strings...)
			b.messages = append(tables.messages, b.messages...)
		}
		b.partial, goesOn = partial, true
	}
	o := s.newOrder(g, func(b *block) bool {
		if passed.n < d.emitted.n {
			for i := range b.events {
				passed.add(&b.events[i])
			}
			tables.stacks.add(&b.stacks)
			tables.strings = append(tables.strings, b.strings...)
			tables.messages = append(tables.messages, b.messages...)
			same = passed.n < d.emitted.n || passed.sum == d.emitted.sum
			return same
		}
		takeOver(b)
		return emit(b)
	})
	err = o.sound()
	if !same || passed.n < d.emitted.n {
		return d, why
	}
	if errors.Is(err, errStopped) {
		return s, err
	}
	lost := g.salvaged.Lost + o.unread()
	if !goesOn && len(s.cur.events) < len(d.cur.events) {
		d.cur.lost = min(d.cur.lost, lost)
		return d, why
	}
	takeOver(s.cur)
	s.cur.breaks = o.breaks
	s.cur.salvaged, s.cur.lost = g.salvaged, min(lost, gen.Bytes)
	return s, err
}

// sound is all, with an error for people.
func (o *order) sound() (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("a mistake of the decoder") // a test fails if it ever is
		}
	}()
	err = o.all()
	if why, ok := err.(declined); ok {
		err = errors.New(string(why))
	}
	return err
}

// repair is salvage for a trace of Go 1.21 or older. The public reader reads it all the same, without
// what it would refuse.
func (d *decoder) repair(gen *input.Generation, why error, emit func(*block) bool) (*decoder, error) {
	r := gen.Repair()
	if r == nil {
		return d, why
	}
	s := newDecoder(d.work, true, d.free)
	s.emitted, s.takesOver = d.emitted, true
	err := s.run(r.Data, false, emit)
	if errors.Is(err, errStopped) {
		return s, err
	}
	if s.emitted.n == d.emitted.n && len(s.cur.events) <= len(d.cur.events) {
		return d, why
	}
	s.cur.salvaged, s.cur.lost = &Salvage{Stacks: r.Stacks, Strings: r.Strings, Lost: r.Lost, CutNames: r.CutNames}, r.Lost
	switch {
	case err != nil:
		s.cur.lost = max(0, gen.Bytes-2*(s.emitted.n+int64(len(s.cur.events))))
	case r.Cut:
		err = errors.New("something that is no event: what came later is left out")
	}
	return s, err
}

// partial reports whether batches are missing. Then what lasts may have begun or ended unseen.
func (o *order) partial() bool { return o.salvaged != nil && o.salvaged.Partial }

// missStack lets an event have no stack: it declines because the table lacks the entry, or in a
// damaged generation, does without.
func (o *order) missStack(id uint64) {
	if o.salvaged == nil {
		o.why = "an event without its stack"
		return
	}
	o.salvaged.Stacks.Miss(id)
}

// missText is missStack for a name.
func (o *order) missText(id uint64) {
	if o.salvaged == nil {
		o.why = "an event without its string"
		return
	}
	o.salvaged.Strings.Miss(id)
}

// unread returns how many bytes with events were not used.
func (o *order) unread() int64 {
	n := 0
	for _, t := range o.threads {
		n += len(t.data) - t.at
		for i := t.batch; i >= 0; i = o.batches[i].next {
			n += o.batches[i].to - o.batches[i].from
		}
	}
	for _, h := range o.front {
		if t := h.thread; t.kind != lost { // it was read ahead
			n++
			for _, x := range t.args[:wire.TimedArgs[t.kind]] {
				n += wire.UvarintLen(x)
			}
		}
	}
	return int64(n)
}

// salvageGeneration is readGeneration for damaged ones: what it returns may have less in it than the
// data, but nothing else.
func salvageGeneration(gen *input.Generation, before []byte) (*generation, error) {
	g, err := newGeneration(gen.Data)
	if err != nil {
		return nil, err
	}
	x := &Salvage{Partial: gen.Skipped}
	g.salvaged = x
	var texts, stacks, samples []part
	s := scanner{p: g.data, at: headerSize}
	for !s.done() {
		at := s.at
		h, why := s.batch()
		if why != "" {
			x.Lost += int64(len(s.p) - at)
			x.Partial = true
			break
		}
		if h.kind == wire.EndOfGeneration {
			continue
		}
		if g.earliest == 0 || h.ticks < g.earliest {
			g.earliest = h.ticks
		}
		from, to := s.at, s.at+h.size
		s.at = to
		if h.kind == wire.ExperimentalBatch || h.size == 0 {
			continue
		}
		table := part{from + 1, to}
		switch first := g.data[from]; {
		case first == wire.Strings:
			texts = append(texts, table)
		case first == wire.Stacks:
			stacks = append(stacks, table)
		case first == wire.CPUSamples:
			samples = append(samples, table)
		case first == wire.Sync && g.minor >= 25, first == wire.Frequency && g.minor < 25:
			if first == wire.Frequency {
				table.from = from
			}
			sync := scanner{p: g.data[:to], at: table.from}
			if !g.readSync(&sync, h.ticks) || sync.bad {
				x.Lost += int64(to - from)
			}
		default:
			if g.addBatch(h.m, batch{time: h.ticks, from: from, to: to, next: -1}) != nil {
				x.Lost += int64(h.size)
				x.Partial = true
			}
		}
	}
	if g.nsTick == 0 && fixedClock(before) {
		g.nsTick = 1 / (float64(fixedFrequency) / 1e9)
	}
	if g.nsTick == 0 {
		return nil, declined("no frequency")
	}
	// The runtime writes stacks once all threads have handed over their events.
	x.Partial = x.Partial || !gen.Complete && len(stacks) == 0
	g.salvageTexts(texts)
	g.salvageStacks(stacks)
	g.salvageSamples(samples)
	return g, nil
}

// fixedFrequency is that of a monotonic clock of which the runtime drops the last six bits, on all
// systems but those whose clock is too coarse (traceTimeDiv). Where a clock is measured instead, its
// frequency is another in each generation.
const fixedFrequency = 1e9 / 64

// fixedClock reports whether a generation has the fixed frequency.
func fixedClock(data []byte) bool {
	g, err := newGeneration(data)
	if err != nil {
		return false
	}
	for s := (scanner{p: data, at: headerSize}); !s.done(); {
		h, why := s.batch()
		if why != "" {
			return false
		}
		at := scanner{p: s.p[:s.at+h.size], at: s.at}
		s.at += h.size
		if h.kind != wire.EventBatch || at.done() {
			continue
		}
		kind := at.byte()
		if kind == wire.Sync && g.minor >= 25 {
			kind = at.byte()
		}
		if kind == wire.Frequency {
			return at.number() == fixedFrequency && !at.bad
		}
	}
	return false
}

// part is a part of a generation's data that holds entries of a table.
type part struct{ from, to int }

// entries calls read at each place of a table where an entry may begin; it returns where the entry
// ends, or -1 if there is none. An entry counts only if another one or the end of the table follows
// it: a wrong length leads astray. Behind a damaged one, entries go on where several follow each
// other up to the end, or as many as cannot be chance.
func (g *generation) entries(tables []part, kind byte, e *wire.Entries, read func(at, to int) int, keep func()) {
	const (
		chain = 3
		tries = 10_000 // in a generation: real damage takes a few dozen
	)
	for _, t := range tables {
		// next returns where the entry at a place ends if it counts, or else -1.
		next := func(at int) int {
			if g.data[at] != kind {
				return -1
			}
			end := read(at+1, t.to)
			if end >= 0 && end < t.to && g.data[end] != kind {
				return -1
			}
			return end
		}
		for at := t.from; at < t.to; {
			e.Found++
			if end := next(at); end >= 0 {
				keep()
				at = end
				continue
			}
			e.Damaged++
			from := at
			for at++; at < t.to; at++ {
				if g.data[at] != kind {
					continue
				}
				if g.tries++; g.tries > tries {
					at = t.to
					break
				}
				end := at
				for n := 0; end >= 0 && end < t.to && n < chain; n++ {
					end = next(end)
				}
				if end >= 0 {
					break
				}
			}
			g.salvaged.Lost += int64(at - from)
		}
	}
}

// salvageTexts reads the sound entries of the string table. A text with the byte that begins an
// entry is taken for one with a wrong length.
func (g *generation) salvageTexts(tables []part) {
	x := g.salvaged
	var one text
	g.entries(tables, wire.String, &x.Strings, func(at, to int) int {
		s := scanner{p: g.data[:to], at: at}
		id, size := s.number(), s.number()
		if s.bad || id == 0 || size > wire.MaxStringSize || size > uint64(to-s.at) {
			return -1
		}
		end := s.at + int(size)
		if bytes.IndexByte(g.data[s.at:end], wire.String) >= 0 {
			return -1
		}
		one = text{id: id, from: s.at, size: int(size)}
		return end
	}, func() { g.texts = append(g.texts, one) })

	value := func(t *text) []byte { return g.data[t.from : t.from+t.size] }
	g.texts = distinct(g.texts, &x.Strings, func(t *text) uint64 { return t.id }, func(a, b *text) bool { return bytes.Equal(value(a), value(b)) })
	g.textByID, _ = denseIDs(len(g.texts), func(i int) uint64 { return g.texts[i].id })
}

// salvageStacks reads the sound entries of the stack table. A stack with a number of frames that is
// too large would go on with the byte that begins the next one for a program counter, which no
// program has; nor has a file a million lines, which a program counter would be that was taken for
// one.
func (g *generation) salvageStacks(tables []part) {
	const minPC, maxLine = 1 << 12, 1 << 20
	x := g.salvaged
	var id uint64
	var frames []place
	g.entries(tables, wire.Stack, &x.Stacks, func(at, to int) int {
		s := scanner{p: g.data[:to], at: at}
		frames = frames[:0]
		var n uint64
		if id, n = s.number(), s.number(); s.bad || id == 0 || n > maxFrames {
			return -1
		}
		for range n {
			p := s.place()
			if s.bad || p.pc > 0 && p.pc < minPC || p.line > maxLine {
				return -1
			}
			frames = append(frames, p)
		}
		return s.at
	}, func() {
		from := len(g.frames)
		for _, p := range frames {
			g.frames = append(g.frames, int32(len(g.places)))
			g.places = append(g.places, p) // its own, lest a damaged one speaks for others
		}
		g.stacks = append(g.stacks, stackEntry{id, int32(from), int32(len(g.frames))})
	})
	placesOf := func(s *stackEntry) []place { return g.places[s.from:s.to] } // frame i has place i
	g.stacks = distinct(g.stacks, &x.Stacks, func(s *stackEntry) uint64 { return s.id }, func(a, b *stackEntry) bool { return slices.Equal(placesOf(a), placesOf(b)) })
	g.stackByID, _ = denseIDs(len(g.stacks), func(i int) uint64 { return g.stacks[i].id })
	g.stackHandles = make([]Handle, max(1, len(g.stackByID)))
}

func (g *generation) salvageSamples(tables []part) {
	var one sample
	g.entries(tables, wire.CPUSample, &g.salvaged.Samples, func(at, to int) int {
		s := scanner{p: g.data[:to], at: at - 1}
		var ok bool
		if one, ok = s.sample(); !ok {
			return -1
		}
		return s.at
	}, func() {
		one.time = g.nanos(uint64(one.time))
		g.samples = append(g.samples, one)
	})
	slices.SortFunc(g.samples, func(a, b sample) int { return cmp.Compare(a.time, b.time) })
}

// distinct returns the entries whose id can be theirs: none that the runtime would not give, and
// none that another entry has too, unless both say the same.
func distinct[E any](entries []E, count *wire.Entries, id func(*E) uint64, same func(a, b *E) bool) []E {
	most := 4*uint64(len(entries)) + 64 // as denseIDs bounds them
	first := map[uint64]*E{}            // nil for an id that several claim
	keep := func(e *E) bool { return first[id(e)] == e }
	for i := range entries {
		e := &entries[i]
		switch f, known := first[id(e)]; {
		case id(e) > most:
			count.Damaged++
		case !known:
			first[id(e)] = e
		case f == nil:
			count.Damaged++
		case same(f, e):
			count.Found--
		default:
			count.Damaged += 2
			first[id(e)] = nil
		}
	}
	var out []E
	for i := range entries {
		if e := &entries[i]; keep(e) {
			out = append(out, *e)
		}
	}
	return out
}

// patience is how much later events, in ns, may come before one that waits for another, which may be
// missing: when it comes after them, its time is changed to theirs.
const patience = 2000

// goOnWithout goes on without the thread whose turn it is: what follows on it can not be read.
func (o *order) goOnWithout() {
	o.salvaged.Partial, o.salvaged.From = true, o.last
	o.lost()
}

// lost makes an event that breaks off all that is measured across it. It comes at the time of the
// one before, which may be late.
func (o *order) lost() {
	*o.next = lostEvent(o.last, o.last)
	o.next.late = true
}

// These bound how often all that is known is forgotten within a generation and within all of a trace:
// each time costs work for every goroutine.
const (
	maxBreaks    = 1000
	maxAllBreaks = 3000
)

// adopt makes the next event of a thread possible where what it depends on is in a batch that is
// missing: the state of a goroutine or processor that was not mentioned before, or that must have
// changed meanwhile. In the second case all that is measured across this moment would be wrong: it
// is told as lost. Adopt reports whether the event can come.
func (o *order) adopt(t *thread) bool {
	a := &t.args
	switch t.kind {
	case wire.GoStart:
		return o.adoptGoroutine(t, Runnable)
	case wire.GoUnblock, wire.GoSwitch, wire.GoSwitchDestroy:
		return o.adoptGoroutine(t, Waiting)
	case wire.GoSyscallEndBlocked:
		p := o.known(uint64(t.p))
		if p == nil || !o.breakOff() {
			return false
		}
		p.status, t.p = 0, None // somebody took it
		return true
	case wire.ProcStart:
		return t.p == None && o.adoptProc(t, procIdle)
	case wire.ProcSteal:
		return o.adoptProc(t, procAbandoned)
	case wire.GCBegin, wire.GCEnd:
		if a[1] <= o.gcSeq {
			return false
		}
		o.gcSeq, o.gcState = a[1]-1, gcOff
		if t.kind == wire.GCEnd {
			o.gcState = gcOn
		}
		return true
	}
	return false
}

// adoptGoroutine gives the goroutine that the next event of a thread names the state that it must
// have had.
func (o *order) adoptGoroutine(t *thread, state State) bool {
	id, seq := int64(t.args[1]), t.args[2]
	if id <= 0 || seq == 0 {
		return false
	}
	slot := o.goroutines.Find(id)
	if slot == 0 {
		slot = o.goroutines.add(id, state)
		o.goEvent(t, id, Undetermined, state)
		o.commit()
	} else {
		if seq <= o.goroutines.At(slot).seq || !o.breakOff() {
			return false
		}
		for _, other := range o.threads {
			if other.g == id {
				other.g = None
			}
		}
	}
	g := o.goroutines.At(slot)
	g.state, g.seq = state, seq-1
	return true
}

// adoptProc is adoptGoroutine for a processor.
func (o *order) adoptProc(t *thread, status uint8) bool {
	id, seq := t.args[1], t.args[2]
	if id >= maxProcs || seq == 0 {
		return false
	}
	for int(id) >= len(o.procs) {
		o.procs = append(o.procs, proc{})
	}
	p := &o.procs[id]
	if p.status == 0 {
		o.procEvent(t, int32(id), Undetermined, Idle)
		o.commit()
	} else {
		if seq <= p.seq || !o.breakOff() {
			return false
		}
		for _, other := range o.threads {
			if other.p == int32(id) {
				other.p = None
			}
		}
	}
	p.status, p.seq = status, seq-1
	return true
}

// breakOff records that what was known up to here may be wrong; it reports whether that may still be
// told.
func (o *order) breakOff() bool {
	if o.breaks++; o.breaks > maxBreaks {
		return false
	}
	o.lost()
	o.commit()
	return true
}

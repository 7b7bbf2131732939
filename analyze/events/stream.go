package events

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/internal/hugepages"
	"github.com/gmpscope/gmpscope/analyze/wire"
)

// Options configure how a [Stream] decodes. The zero value is usable.
type Options struct {
	// Workers is the number of generations decoded at once; 0 means GOMAXPROCS.
	Workers int
	// Message is the text of a log that is kept, however many there are; it may be empty.
	Message string
}

// Stats reports what a Stream has seen so far.
type Stats struct {
	Events       int64           // as the reader returned them, with one Sync per generation and a last one
	Generations  int             // how many were decoded, whole or in part
	Start        int64           // time of the first event by the trace's own clock, ns
	End          int64           // ns since the first event: the latest time seen
	Wall         time.Time       // wall clock at the first event; zero if the trace has none
	ByKind       [numKinds]int64 // number of events, indexed by Kind
	Failures     []Failure       // generations that were not decoded to their end
	FailCount    int             // number of all of these
	Salvages     []Salvage       // generations that were read though they are damaged, in order, the first 100
	SalvageCount int             // number of all of these
	LostBytes    int64           // of generations that were given: those that hold what was not used
	Gaps         []Gap           // times of which events are lost, in order, the first 100
	GapCount     int             // number of all gaps
	LostNs       int64           // sum of all gaps, ns
	LeftAt       int64           // offset in the trace from which on all was omitted as too much work; 0 if nothing was
}

// Failure is a generation that could not be decoded to its end.
type Failure struct {
	Generation uint64 // number in the file
	Offset     int64  // of its first byte in the trace
	Events     int64  // number of its events that came before the error
	Err        error  // why it could not be decoded further
}

// Salvage is a generation that was read though it is damaged: what is missing of it.
type Salvage struct {
	Generation uint64 // number in the file
	Offset     int64  // of its first byte
	Stacks     wire.Entries
	Strings    wire.Entries
	Samples    wire.Entries // of the CPU profiler
	Lost       int64        // bytes of its tables
	CutNames   int          // of a trace of Go 1.21 or older, that were longer than others may be
	// Partial is set if events of threads are missing: any may have done more than is shown between
	// From and To, in ns since the first event.
	Partial  bool
	From, To int64
}

// Gap is a stretch of time in the trace of which the events are lost, or some of
// them. Times are ns since the first event.
type Gap struct{ From, To int64 }

// maxFailures is the number of failures kept with their text.
const maxFailures = 100

// Stream gives the events of a trace in order. It is not safe for concurrent
// use.
type Stream struct {
	Tables *Tables

	ctx    context.Context
	cancel context.CancelFunc
	order  chan *job
	wg     sync.WaitGroup
	srcErr error // of the source; read after order is closed

	job       *job
	free      chan []Event // handed on, to be used again
	lent      []Event      // of the present block: the caller has some of them
	rest      []Event      // that the caller has not had yet
	block     *block       // the present one, until all its events are given
	remap     remap
	started   bool
	last      int64            // time of the event before
	ordinal   int64            // events of the job so far
	from      int64            // when it begins
	broken    bool             // what followed the last event so far is not known
	late      bool             // what is left of the job comes after MaxTime
	salvaged  *Salvage         // what is damaged of the job; nil if it was not salvaged
	before    input.Generation // without its data
	gap       bool             // events are missing before the next ones
	breaks    int              // in the job so far
	allBreaks int              // in the jobs before
	stored    int64            // bytes as stored up to the end of the job's generation
	steps     int64            // to put the events in order, of all generations so far
	tooMany   bool             // the generation before took too many by itself
	stats     Stats
}

// job is a generation under decoding.
type job struct {
	gen    *input.Generation
	blocks chan *block
}

// remap translates the handles of a generation into those of the stream.
type remap struct {
	stacks  []Handle
	strings []Handle
}

// reset makes it that of a generation of which no table is known.
func (r *remap) reset() {
	r.stacks = append(r.stacks[:0], 0)
	r.strings = r.strings[:0]
	for i := range fixedStrings {
		r.strings = append(r.strings, Handle(i))
	}
}

// queuedBlocks bounds what a worker decodes ahead of the consumer: at 4,096
// events of 56 bytes each, 2 MB. Twice as many gained no time.
const queuedBlocks = 8

// blocksAtOnce is for how many blocks the memory is made at once, to touch less of it for the
// first time by itself: 2 MB.
const blocksAtOnce = 10

// someEvents is how many events of a block are given at once: whoever wants to stop
// somewhere, because memory ends, can do so between them.
const someEvents = 2048

// memoryAtOnce bounds the generations that are decoded at once, but for a single
// one, by what that takes.
const memoryAtOnce = 384 << 20

// New starts decoding src. The caller must Close the stream.
func New(ctx context.Context, src *input.Source, o Options) *Stream {
	workers := o.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &Stream{
		Tables: NewTables(),
		ctx:    ctx,
		cancel: cancel,
		order:  make(chan *job, workers),
		free:   make(chan []Event, 2*queuedBlocks),
	}
	room := hugepages.Make[Event](blocksAtOnce * blockEvents)
	for b := range slices.Chunk(room, blockEvents) {
		s.free <- b[:0]
	}
	s.wg.Add(1)
	go s.dispatch(src, workers, o.Message)
	return s
}

func (s *Stream) dispatch(src *input.Source, workers int, message string) {
	defer s.wg.Done()
	defer close(s.order)
	done := make(chan int64, workers) // memory of generations that were decoded
	running, memory := 0, int64(0)
	wait := func() bool {
		select {
		case n := <-done:
			running--
			memory -= n
			return true
		case <-s.ctx.Done():
			return false
		}
	}
	var last input.Generation
	for {
		if running == workers && !wait() {
			return
		}
		gen, err := src.Next()
		if err != nil {
			if err != io.EOF {
				s.srcErr = err
			}
			return
		}
		for running > 0 && memory+gen.Memory > memoryAtOnce {
			if !wait() {
				return
			}
		}
		running++
		memory += gen.Memory
		j := &job{gen: gen, blocks: make(chan *block, queuedBlocks)}
		var before []byte
		if last.Complete && gen.Number == last.Number+1 && gen.Index == last.Index+1 && last.Memory+gen.Memory <= src.Memory(gen.Stored) {
			before = last.Data
		}
		last = *gen
		s.wg.Go(func() {
			defer func() { done <- gen.Memory }()
			defer close(j.blocks)
			w := workOn(s.ctx, gen)
			w.message = message
			decode(w, gen, before, src.Header().V1, s.free, func(b *block) bool {
				select {
				case j.blocks <- b:
					return true
				case <-s.ctx.Done():
					return false
				}
			})
			gen.Data = nil // the decoder is done with it; the job may be held longer
		})
		select {
		case s.order <- j:
		case <-s.ctx.Done():
			return
		}
	}
}

// Next returns the next events, at most a few thousand, and io.EOF at the end.
// They are the caller's until the next call. Damage within a generation is no
// error: it is in Stats. Once the context is cancelled there is nothing but its
// cause; what Next gave before has no holes.
func (s *Stream) Next() ([]Event, error) {
	if len(s.rest) > 0 {
		return s.placeNext(), nil
	}
	s.giveBack()
	for {
		if s.stats.LeftAt > 0 {
			return nil, io.EOF
		}
		if s.job == nil {
			j, ok := <-s.order
			if !ok {
				if s.ctx.Err() != nil {
					return nil, context.Cause(s.ctx)
				}
				if s.srcErr != nil {
					return nil, s.srcErr
				}
				if s.broken {
					s.broken = false
					return []Event{lostEvent(s.last, s.last)}, nil
				}
				return nil, io.EOF
			}
			s.job, s.ordinal = j, 0
			s.stored = j.gen.Stored
			if s.started && (!s.before.Complete || j.gen.Number != s.before.Number+1) {
				s.gap = true
			}
			s.before = input.Generation{Number: j.gen.Number, Complete: j.gen.Complete}
			s.remap.reset()
		}
		b, ok := <-s.job.blocks
		if s.ctx.Err() != nil {
			return nil, context.Cause(s.ctx) // a decoder that stopped may have left a hole before b
		}
		if !ok {
			s.endJob()
			continue
		}
		if s.allBreaks+b.breaks > maxAllBreaks {
			s.drop(b)
		}
		s.begin(b)
		s.cutLate(b)
		s.learn(b)
		s.lent, s.rest, s.block = b.events, b.events, b
		if len(b.events) > 0 {
			return s.placeNext(), nil
		}
		s.endBlock()
	}
}

// drop gives up the events of a block, and with them what follows in the generation.
func (s *Stream) drop(b *block) {
	b.events = b.events[:0]
	if b.salvaged != nil { // the last
		b.err = errors.New("events are missing in more places than can be gone on from")
		b.lost = max(b.lost, s.job.gen.Bytes-2*s.ordinal) // an event takes two bytes at least
	}
}

// farSync is how long the first event of a generation can come after its Sync. That has the time of
// the first batch, and a generation lasts a second.
const farSync = 10 * int64(time.Second)

// begin sees to it that a generation, and so the trace, begins with something that happened: a Sync
// alone is no event, and its time may be that of a damaged batch.
func (s *Stream) begin(b *block) {
	if s.ordinal > 0 {
		return
	}
	first := slices.IndexFunc(b.events, func(e Event) bool { return e.Kind != Sync })
	if first < 0 {
		b.events = b.events[:0]
		return
	}
	if b.partial || s.job.gen.Skipped {
		s.gap = s.started // who ran before may have stopped in a batch that is missing
	}
	if !s.started {
		s.started = true
		s.stats.Start = b.events[0].Time
		// A break is no event either: it has the time of what is missing after it.
		if i := slices.IndexFunc(b.events, func(e Event) bool { return e.Kind != Sync && e.Kind != Lost }); i >= 0 && b.events[i].Time-s.stats.Start > farSync {
			s.stats.Start = b.events[i].Time
		}
	}
	s.from = s.last
}

// MaxTime is the longest trace, in ns (39 hours), so that a time multiplied by a number
// of goroutines or Ps fits into an int64.
const MaxTime = 1 << 47

// cutLate gives up the events of a block that come after MaxTime, and with them what
// follows in the generation: most likely its clock is damaged.
func (s *Stream) cutLate(b *block) {
	n := len(b.events)
	if s.late {
		n = 0
	} else if n > 0 && b.events[n-1].Time-s.stats.Start > MaxTime {
		n = slices.IndexFunc(b.events, func(e Event) bool { return e.Time-s.stats.Start > MaxTime })
		s.late = true
	}
	if s.late {
		b.events, b.err, b.lost = b.events[:n], nil, 0
	}
}

// placeNext places the next events of the present block.
func (s *Stream) placeNext() []Event {
	n := min(len(s.rest), someEvents)
	events := s.place(s.rest[:n:n])
	if s.rest = s.rest[n:]; len(s.rest) == 0 {
		s.endBlock()
	}
	return events
}

// endBlock notes what ended the present block.
func (s *Stream) endBlock() {
	b := s.block
	s.block = nil
	s.salvaged, s.breaks = b.salvaged, b.breaks
	if b.err != nil {
		s.fail(b.err)
		s.tooMany = errors.As(b.err, new(errTooManySteps))
		s.gap, s.broken = s.started, s.started
		if s.ordinal == 0 {
			b.lost = s.job.gen.Bytes
		}
	}
	s.stats.LostBytes += b.lost
}

// endJob ends a generation.
func (s *Stream) endJob() {
	x := s.salvaged
	if x == nil && s.job.gen.Skipped {
		x = &Salvage{}
	}
	if s.ordinal > 0 {
		s.stats.Generations++
	}
	if x != nil {
		x.Partial = x.Partial || s.job.gen.Skipped
		if s.ordinal > 0 {
			s.noteSalvage(x)
		}
		if x.Partial {
			s.gap, s.broken = s.started, s.started
		}
	}
	if s.late {
		s.late = false
		s.fail(errors.New("it is 39 hours later than the beginning of the trace, or its clock is damaged: what comes so late is left out"))
		s.gap, s.broken = s.started, s.started
		s.stats.LostBytes += max(0, s.job.gen.Bytes-2*s.ordinal) // an event takes two bytes at least
	}
	s.allBreaks += s.breaks
	if most := input.Steps(s.job.gen.Stored); s.steps > most {
		if !s.tooMany {
			s.fail(errTooManySteps(most))
		}
		s.stats.LeftAt = s.job.gen.Offset + s.job.gen.Bytes
		s.Close()
	}
	s.job, s.salvaged, s.breaks = nil, nil, 0
}

// giveBack lets a decoder use the memory of the block that the caller had.
func (s *Stream) giveBack() {
	if s.lent == nil {
		return
	}
	select {
	case s.free <- s.lent:
	default:
	}
	s.lent = nil
}

// learn adds what is new in a block to the tables.
func (s *Stream) learn(b *block) {
	s.steps += b.steps
	if b.anew {
		s.remap.reset()
	}
	s.remap.stacks = s.Tables.addStacks(s.remap.stacks, &b.stacks)
	messages := b.messages
	for _, name := range b.strings {
		var h Handle
		if len(messages) > 0 && int(messages[0]) == len(s.remap.strings) {
			h, messages = s.Tables.message(name), messages[1:]
		} else {
			h = s.Tables.String(name)
		}
		s.remap.strings = append(s.remap.strings, h)
	}
	if !b.wall.IsZero() && s.stats.Wall.IsZero() && s.started {
		s.stats.Wall = b.wall.Add(time.Duration(s.stats.Start - b.wallAt))
	}
}

// place gives events their handles and times in the stream.
//
// Times are moved back in two cases. The statuses that end a generation, on no thread,
// are stamped when the next generation already runs: they get the time of the
// last event before them. A thread descheduled while it wrote can be late by
// some µs at a boundary: such an event gets the time of the one before it.
func (s *Stream) place(out []Event) []Event {
	start, last, end := s.stats.Start, s.last, s.stats.End
	before, lost := last, s.stats.ByKind[Lost]
	stacks, names := s.remap.stacks, s.remap.strings
	for i := range out {
		e := &out[i]
		at := e.Time - start
		end = max(end, at)
		if at < last || e.late {
			at = last
		}
		e.Time, last = at, at
		if e.Stack != 0 {
			e.Stack = stacks[uint32(e.Stack)]
		}
		if e.TStack != 0 {
			e.TStack = stacks[uint32(e.TStack)]
		}
		if e.Reason != 0 {
			e.Reason = names[uint32(e.Reason)]
		}
		s.stats.ByKind[e.Kind]++
	}
	s.last, s.stats.End = last, end
	n := int64(len(out)) - (s.stats.ByKind[Lost] - lost)
	s.stats.Events += n
	s.ordinal += n
	if i := slices.IndexFunc(out, func(e Event) bool { return !e.late }); s.gap && i >= 0 {
		s.gap, s.broken = false, false
		g := Gap{From: before, To: out[i].Time}
		for j := range out[:i] {
			out[j].Time = g.To // nothing is known of the gap
		}
		if g.To > g.From {
			s.stats.GapCount++
			s.stats.LostNs += g.To - g.From
			if len(s.stats.Gaps) < maxFailures {
				s.stats.Gaps = append(s.stats.Gaps, g)
			}
		}
		out = slices.Insert(out, 0, lostEvent(g.From, g.To))
	}
	return out
}

func lostEvent(from, to int64) Event {
	return Event{Time: from, Kind: Lost, Res: to - from, G: None, M: None, P: None}
}

// noteSalvage notes what is missing of the present generation. From is raw trace time so far.
func (s *Stream) noteSalvage(x *Salvage) {
	s.stats.SalvageCount++
	if len(s.stats.Salvages) == maxFailures {
		return
	}
	x.Generation, x.Offset = s.job.gen.Number, s.job.gen.Offset
	x.From, x.To = max(s.from, min(x.From-s.stats.Start, s.last)), s.last
	s.stats.Salvages = append(s.stats.Salvages, *x)
}

func (s *Stream) fail(err error) {
	s.stats.FailCount++
	if len(s.stats.Failures) == maxFailures {
		return
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	s.stats.Failures = append(s.stats.Failures, Failure{
		Generation: s.job.gen.Number,
		Offset:     s.job.gen.Offset,
		Events:     s.ordinal,
		Err:        errors.New(strings.Map(spaced, first)),
	})
}

// spaced keeps a message on one line: it may quote the trace.
func spaced(r rune) rune {
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}

// Stats returns what the Stream has seen so far.
func (s *Stream) Stats() Stats { return s.stats }

// Stored returns the number of bytes, before decompression, up to the end of the
// generation of the last events.
func (s *Stream) Stored() int64 { return s.stored }

// Close stops the decoding and frees what it holds.
func (s *Stream) Close() {
	s.cancel()
	if s.job != nil {
		for range s.job.blocks {
		}
	}
	for j := range s.order {
		for range j.blocks {
		}
	}
	s.wg.Wait()
}

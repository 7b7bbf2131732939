package events

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/analyze/wire"
)

// declined is why the own decoder leaves a generation to the public reader.
type declined string

func (d declined) Error() string { return "declined: " + string(d) }

// generation is what must be known of a generation before its events can be put
// in order: where the batches of each thread are, and the tables.
type generation struct {
	data     []byte
	minor    int     // version of the format: go 1.minor
	nsTick   float64 // ns a tick
	earliest uint64  // batch, in ticks

	threads []*thread // those with events first, in the order of the file
	byID    map[int64]*thread
	batches []batch

	samples []sample // by time

	texts    []text
	textByID []int32 // index of texts plus 1; 0 is none

	stacks       []stackEntry
	stackByID    []int32 // index of stacks plus 1; 0 is none
	stackHandles []Handle
	frames       []int32 // of all stacks: index of places
	places       []place
	blocks       int32 // that were handed on
	pcs          pcTable

	hasWall bool
	wall    time.Time
	wallAt  int64 // ns, raw trace time

	salvaged *Salvage // nil where all must be sound
	tries    int      // of salvaging, to find where the entries of a table go on
}

// batch is a part of data with events of one thread.
type batch struct {
	time     uint64 // ticks
	from, to int
	next     int32 // of the same thread; -1 is none
}

// sample is a CPU sample.
type sample struct {
	time    int64
	g, m, p int64
	stack   uint64
}

// text is an entry of the string table.
type text struct {
	id     uint64
	from   int
	size   int
	handle Handle // 0 until it has one
	value  string // likewise
}

// stackEntry is an entry of the stack table.
type stackEntry struct {
	id       uint64
	from, to int32 // in frames
}

// place is what a program counter stands for. The public reader takes what the
// first stack says that has it.
type place struct {
	pc, fn, file, line uint64
	block, at          int32 // it is at that index of the new places of the block with that number, from 1 on
}

// readGeneration reads the headers of all batches, and the batches that are
// tables.
func readGeneration(data []byte) (*generation, error) {
	g, err := newGeneration(data)
	if err != nil {
		return nil, err
	}
	g.pcs.init()
	err = g.readBatches()
	g.pcs.free()
	if err != nil {
		return nil, err
	}
	if g.nsTick == 0 || g.minor >= 25 && !g.hasWall {
		return nil, declined("no frequency or no clock snapshot")
	}
	var ok bool
	if g.textByID, ok = denseIDs(len(g.texts), func(i int) uint64 { return g.texts[i].id }); !ok {
		return nil, declined("ids of strings that are not as the runtime gives them")
	}
	if g.stackByID, ok = denseIDs(len(g.stacks), func(i int) uint64 { return g.stacks[i].id }); !ok {
		return nil, declined("ids of stacks that are not as the runtime gives them")
	}
	g.stackHandles = make([]Handle, max(1, len(g.stackByID)))
	for _, p := range g.places {
		if !g.hasText(p.fn) || !g.hasText(p.file) {
			return nil, declined("a frame without a name")
		}
	}
	for i := range g.samples {
		s := &g.samples[i]
		if !g.hasStack(s.stack) {
			return nil, declined("a CPU sample without its stack")
		}
		s.time = g.nanos(uint64(s.time))
	}
	// As the public reader sorts, for the same order of equal times.
	slices.SortFunc(g.samples, func(a, b sample) int { return cmp.Compare(a.time, b.time) })
	return g, nil
}

// newGeneration returns one of which nothing is known but the format.
func newGeneration(data []byte) (*generation, error) {
	g := &generation{data: data, byID: map[int64]*thread{}}
	switch string(data[:min(headerSize, len(data))]) {
	case "go 1.22 trace\x00\x00\x00":
		g.minor = 22
	case "go 1.23 trace\x00\x00\x00":
		g.minor = 23
	case "go 1.25 trace\x00\x00\x00":
		g.minor = 25
	case "go 1.26 trace\x00\x00\x00":
		g.minor = 26
	default:
		return nil, declined("a version of the format that is not known here")
	}
	return g, nil
}

// nanos converts ticks exactly as the public reader does.
func (g *generation) nanos(ticks uint64) int64 { return int64(float64(ticks) * g.nsTick) }

func (g *generation) hasText(id uint64) bool {
	return id == 0 || id < uint64(len(g.textByID)) && g.textByID[id] != 0
}

func (g *generation) hasStack(id uint64) bool {
	return id == 0 || id < uint64(len(g.stackByID)) && g.stackByID[id] != 0
}

// text returns the entry of a string, nil if there is none. String 0 is the
// empty one and has none.
func (g *generation) text(id uint64) *text {
	if id == 0 || !g.hasText(id) {
		return nil
	}
	return &g.texts[g.textByID[id]-1]
}

// value returns the string of an id; the empty one if there is none.
func (g *generation) value(id uint64) string {
	t := g.text(id)
	if t == nil {
		if id != 0 && g.salvaged != nil {
			g.salvaged.Strings.Miss(id)
		}
		return ""
	}
	if t.value == "" {
		t.value = string(g.data[t.from : t.from+t.size])
	}
	return t.value
}

// addStack adds the stack of an id to those that are new in the present block.
func (g *generation) addStack(n *newStacks, id uint64) {
	if id != 0 {
		s := &g.stacks[g.stackByID[id]-1]
		for _, i := range g.frames[s.from:s.to] {
			p := &g.places[i]
			if p.block != g.blocks+1 {
				p.block, p.at = g.blocks+1, int32(len(n.places))
				n.places = append(n.places, Frame{Func: g.value(p.fn), File: g.value(p.file), Line: p.line, PC: p.pc})
			}
			n.frames = append(n.frames, p.at)
		}
	}
	n.ends = append(n.ends, int32(len(n.frames)))
}

// denseIDs returns for each id the index of its entry plus 1. The runtime
// numbers entries from 1 on and leaves out few; other ids are not ok, nor
// are those that come twice.
func denseIDs(n int, id func(int) uint64) ([]int32, bool) {
	most := uint64(0)
	for i := range n {
		most = max(most, id(i))
	}
	if most > 4*uint64(n)+64 {
		return nil, false
	}
	byID := make([]int32, most+1)
	for i := range n {
		if id(i) == 0 || byID[id(i)] != 0 {
			return nil, false
		}
		byID[id(i)] = int32(i + 1)
	}
	return byID, true
}

// readBatches walks the batches of the generation, in the order of the file.
func (g *generation) readBatches() error {
	s := scanner{p: g.data, at: headerSize}
	number := uint64(0)
	for !s.done() {
		h, why := s.batch()
		if why != "" {
			return why
		}
		if h.kind == wire.EndOfGeneration {
			if g.minor >= 26 && s.done() {
				return nil
			}
			return declined("no batch where one should begin")
		}
		if h.exp != 0 && h.exp != wire.AllocFree {
			return declined("a batch of an unknown experiment")
		}
		if number == 0 {
			number = h.gen
		}
		if h.gen == 0 || h.gen != number {
			return declined("a batch of another generation")
		}
		if g.earliest == 0 || h.ticks < g.earliest {
			g.earliest = h.ticks
		}
		from := s.at
		s.at += h.size
		if h.kind == wire.ExperimentalBatch {
			continue // the public reader hands it on as it is
		}
		if err := g.readBatch(h.m, h.ticks, from, s.at); err != nil {
			return err
		}
	}
	if s.bad || g.minor >= 26 {
		return declined("a generation without its end")
	}
	return nil
}

// batchHeader is what stands before the data of a batch; or a marker that ends a generation, of
// which there is only the kind.
type batchHeader struct {
	kind, exp  byte
	gen, ticks uint64
	m          int64
	size       int
}

// batch reads a header. It says why if there is none.
func (s *scanner) batch() (h batchHeader, why declined) {
	switch h.kind = s.byte(); h.kind {
	case wire.EventBatch:
	case wire.ExperimentalBatch:
		h.exp = s.byte()
	case wire.EndOfGeneration:
		return h, ""
	default:
		return h, "no batch where one should begin"
	}
	var size uint64
	h.gen, h.m, h.ticks, size = s.number(), int64(s.number()), s.number(), s.number()
	if s.bad || size > wire.MaxBatchSize || size > uint64(len(s.p)-s.at) {
		return h, "a batch that is too long"
	}
	h.size = int(size)
	return h, ""
}

// readBatch reads a table, or notes where the events of a thread are.
func (g *generation) readBatch(m int64, ticks uint64, from, to int) error {
	s := scanner{p: g.data[:to], at: from + 1}
	first := byte(0)
	if from < to {
		first = g.data[from]
	}
	ok := true
	switch {
	case first == wire.Strings:
		ok = g.readStrings(&s)
	case first == wire.Stacks:
		ok = g.readStacks(&s)
	case first == wire.CPUSamples:
		ok = g.readSamples(&s)
	case first == wire.Sync && g.minor >= 25:
		ok = g.readSync(&s, ticks)
	case first == wire.Frequency && g.minor < 25:
		s.at = from
		ok = g.readSync(&s, ticks)
	case first == wire.EndOfGeneration:
		ok = false
	default:
		return g.addBatch(m, batch{time: ticks, from: from, to: to, next: -1})
	}
	if !ok || s.bad {
		return declined("a table that is not as the runtime writes it")
	}
	return nil
}

func (g *generation) readStrings(s *scanner) bool {
	for !s.done() {
		if s.byte() != wire.String {
			return false
		}
		id, size := s.number(), s.number()
		if s.bad || size > wire.MaxStringSize || size > uint64(len(s.p)-s.at) {
			return false
		}
		g.texts = append(g.texts, text{id: id, from: s.at, size: int(size)})
		s.at += int(size)
	}
	return true
}

func (g *generation) readStacks(s *scanner) bool {
	for !s.done() {
		if s.byte() != wire.Stack {
			return false
		}
		id, n := s.number(), s.number()
		if n > maxFrames {
			return false
		}
		from := len(g.frames)
		for range n {
			p := s.place()
			if s.bad {
				return false
			}
			i, known := g.pcs.at(p.pc, int32(len(g.places)))
			if !known {
				g.places = append(g.places, p)
			}
			g.frames = append(g.frames, i)
		}
		g.stacks = append(g.stacks, stackEntry{id, int32(from), int32(len(g.frames))})
	}
	return true
}

// place reads a frame of a stack.
func (s *scanner) place() place {
	return place{pc: s.number(), fn: s.number(), file: s.number(), line: s.number()}
}

func (g *generation) readSamples(s *scanner) bool {
	for !s.done() {
		x, ok := s.sample()
		if !ok {
			return false
		}
		g.samples = append(g.samples, x)
	}
	return true
}

// sample reads an entry of the table of CPU samples.
func (s *scanner) sample() (sample, bool) {
	if s.byte() != wire.CPUSample {
		return sample{}, false
	}
	x := sample{time: int64(s.number()), m: int64(s.number()), p: int64(s.number()), g: int64(s.number()), stack: s.number()}
	if x.g == 0 {
		x.g = None
	}
	return x, !s.bad
}

// readSync reads the frequency and, since Go 1.25, the clock snapshot.
func (g *generation) readSync(s *scanner, ticks uint64) bool {
	var snapshot uint64
	hasWall := false
	for !s.done() {
		switch kind := s.byte(); {
		case kind == wire.Frequency && g.nsTick == 0:
			frequency := s.number()
			if frequency == 0 {
				return false
			}
			g.nsTick = 1 / (float64(frequency) / 1e9)
		case kind == wire.ClockSnapshot && g.minor >= 25 && !g.hasWall && !hasWall:
			snapshot = ticks + s.number()
			s.number() // the monotonic clock
			sec, nsec := s.number(), s.number()
			g.wall, hasWall = time.Unix(int64(sec), int64(nsec)), true
		default:
			return false
		}
	}
	if hasWall {
		if g.nsTick == 0 {
			return false // the runtime writes both into one batch
		}
		g.hasWall, g.wallAt = true, g.nanos(snapshot)
	}
	return true
}

// maxThreads bounds the threads that a generation may name.
const maxThreads = 1 << 17

func (g *generation) addBatch(m int64, b batch) error {
	t := g.thread(m)
	if t == nil {
		return declined("too many threads")
	}
	i := int32(len(g.batches))
	g.batches = append(g.batches, b)
	if t.batch < 0 {
		t.batch = i
	} else {
		g.batches[t.lastBatch].next = i
	}
	t.lastBatch = i
	return nil
}

// thread returns a thread, a new one if it was not known; nil if there are too many.
func (g *generation) thread(m int64) *thread {
	t := g.byID[m]
	if t == nil && len(g.threads) < maxThreads {
		t = &thread{id: m, g: None, p: None, batch: -1}
		g.threads = append(g.threads, t)
		g.byID[m] = t
	}
	return t
}

// pcTable gives program counters numbers, in the order in which they come.
type pcTable struct {
	seed  uint64 // a hostile trace may have chosen the program counters
	shift uint8
	slots []pcSlot
	n     int
}

type pcSlot struct {
	pc    uint64
	place int32 // plus 1; 0 is a free slot
}

// pcSlots are slices of slots to be used again: generations that follow one another have about
// as many program counters.
var pcSlots sync.Pool

func (t *pcTable) init() {
	if used, ok := pcSlots.Get().(*[]pcSlot); ok {
		t.slots = *used
		clear(t.slots)
	} else {
		t.slots = make([]pcSlot, 1<<10)
	}
	t.seed, t.shift = rand.Uint64(), uint8(64-bits.Len(uint(len(t.slots)-1)))
}

// free gives the table up.
func (t *pcTable) free() {
	if slots := t.slots; len(slots) <= 1<<16 {
		pcSlots.Put(&slots)
	}
	*t = pcTable{}
}

// at returns the place of pc; that is next if it was not known.
func (t *pcTable) at(pc uint64, next int32) (place int32, known bool) {
	i := t.find(pc)
	if t.slots[i].place != 0 {
		return t.slots[i].place - 1, true
	}
	t.slots[i] = pcSlot{pc, next + 1}
	if t.n++; 2*t.n > len(t.slots) {
		old := t.slots
		t.slots = make([]pcSlot, 2*len(old))
		t.shift--
		for _, s := range old {
			if s.place != 0 {
				t.slots[t.find(s.pc)] = s
			}
		}
	}
	return next, false
}

// find returns the slot of pc, or the free one where it belongs.
func (t *pcTable) find(pc uint64) int {
	mask := len(t.slots) - 1
	for i := t.hash(pc); ; i = (i + 1) & mask {
		if s := &t.slots[i&mask]; s.place == 0 || s.pc == pc {
			return i & mask
		}
	}
}

func (t *pcTable) hash(pc uint64) int {
	x := (pc ^ t.seed) * 0x9e3779b97f4a7c15
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	return int(x >> t.shift)
}

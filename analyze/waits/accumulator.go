package waits

import (
	"cmp"
	"math/bits"

	"github.com/gmpscope/gmpscope/analyze/ids"
	"github.com/gmpscope/gmpscope/analyze/internal/hugepages"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/reference"
)

// Options of an [Accumulator]. The zero value of a field means its default.
type Options struct {
	// SliceNs is the time slice, in ns, for [Summary.BehindLongNs]. Default 10 ms
	// (reference.Rules.Slice).
	SliceNs int64
	// Worst is the number of longest waits kept, WorstPerClass that for each of the
	// WorstClasses classes with the longest ones. Defaults 20, 3 and 50; negative for none.
	Worst, WorstPerClass, WorstClasses int
	// Classes is the number of classes with an account of their own, first come,
	// first served; all further ones share that of class [ClassOthers]. Default 2000.
	Classes int
	// PastPerP (a power of two) and Past bound the history of the Ps' states, in intervals of
	// about 60 bytes, per P and in total. Defaults 4096 and 1<<19.
	PastPerP, Past int
	ledger.Part    // part of the running time, starts and waits that counts
	// Ended reports whether Accumulator.Ended is to be filled in.
	Ended bool
	// Text returns the string with a handle, the Label of a decision, and Frames the stack with
	// a handle, the Stack of a decision, as lines, innermost frame first. If they are nil,
	// results have no such texts.
	Text   func(handle int32) string
	Frames func(handle int32) []string
}

func (o Options) withDefaults() Options {
	def := func(v *int, d int) { *v = max(cmp.Or(*v, d), 0) }
	if o.SliceNs <= 0 {
		o.SliceNs = 10_000_000
	}
	def(&o.Worst, 20)
	def(&o.WorstPerClass, 3)
	def(&o.WorstClasses, 50)
	def(&o.Classes, 2000)
	def(&o.PastPerP, 4096)
	def(&o.Past, 1<<19)
	o.From, o.To = max(0, o.From), max(0, o.To)
	o.PastPerP = 1 << (bits.Len(uint(max(o.PastPerP, ringStart))) - 1)
	return o
}

// EndedWait is a wait that has ended, or its part in the window, for accumulators that divide
// waits otherwise.
type EndedWait struct {
	From   int64            // beginning of the counted part, ns
	To     int64            // end of the counted part, ns
	Causes [NumCauses]int64 // ns by cause: Causes[i] is due to element i of the function Causes; they sum to To-From
	By     int64            // ID of the goroutine that made the one that waited runnable, or reference.NoG
	Waker  int32            // handle of the class of By; 0 if that is not known, or there is no By
	At     int32            // index, in the block, of the start that ended it
	Woken  int32            // handle of the stack at which By made it runnable; 0 if that is not known, or there is no By
	Kind   Kind             // which Summary of a Result it counts in
	Why    reference.Why    // what made its goroutine runnable
	Begins bool             // it began in the window, where it counts in Summary.Count
}

// EndedWaits are waits that ended in a block, in the order of their starts.
type EndedWaits []EndedWait

// Next returns the wait that decision i of the block ended; nil if it ended none. It drops the waits
// before that, so that i must not decrease from call to call.
func (e *EndedWaits) Next(i int) *EndedWait {
	for len(*e) > 0 && int((*e)[0].At) < i {
		*e = (*e)[1:]
	}
	if len(*e) == 0 || int((*e)[0].At) > i {
		return nil
	}
	return &(*e)[0]
}

// LongWait is a long wait of a goroutine for a P, in Accumulator.Longest.
type LongWait struct {
	G        int64 // ID of the goroutine
	From, To int64 // it is [From, To), ns since the first event of the trace
	At       int   // index, in the block, of the start that ended it
}

// AddTo adds the time of the wait by cause, in ns, to sum, which has the order of [Causes].
func (w *EndedWait) AddTo(sum *[NumCauses]int64) { addCauses(sum, &w.Causes) }

// Bounds against hostile input.
const (
	maxUsable = 1 << 14 // GOMAXPROCS
	maxProcs  = 1 << 13 // Ps that are told apart; what happens on further ones is not seen
	nearProcs = 1 << 12 // P ids below it are found by index
)

// Accumulator builds the account of all waits from a stream of decisions. It is
// not safe for concurrent use.
type Accumulator struct {
	// Ended are the counted waits that ended in the last block, in order, with Options.Ended.
	// The caller may take the slice and replace it.
	Ended []EndedWait
	// Longest are the waits in the last block that were among the longest user waits when
	// they ended.
	Longest []LongWait

	machine
	edge   int64 // of the window, the next one
	at     int   // of which decision of the block
	seq    int64 // of the last goroutine that became runnable
	slots  int32
	spare  []EndedWait      // for Ended
	moved  []int32          // waits that were moved at this instant, perhaps
	causes [numCauses]int64 // scratch

	focus    *window // nil: all is counted
	overTime overTime
}

// machine is what those who wait see: the Ps, who runs on them or holds them, their queues, and for
// how long. What it charges goes to the accounts of their classes.
type machine struct {
	opt          Options
	now          int64
	clk          clocks
	mode         mode
	stw          bool
	stwReason    int32 // index in reasons
	stopper      *proc // that stops the world, or nil
	stopperState pstate
	stopperG     int32
	usable       int64 // GOMAXPROCS, or the number of Ps seen as long as that is unknown
	procsKnown   bool
	seen         int64 // usable Ps in procs
	busy         int64 // usable Ps that are not idle
	procs        []*proc
	procOf       []*proc // by P id
	procFar      map[int32]*proc
	running      []serving // but those that began since the global queue got empty
	pool         pool
	poolPending  []*proc // Ps whose reading of the global queue is pending, perhaps
	pastLen      int
	idleHead     int32 // index of the P that has been idle longest, or none
	idleTail     int32
	idleLast     int32                // that was at the head before
	reasons      []int32              // handles of texts; index 0 is not used
	gors         ids.Parts[goroutine] // by slot; 0 is none
	waitRecords
	accounts
	worst worstWaits
}

// waitRecords are the waits that are not over. Index 0 of its tables is not used.
type waitRecords struct {
	waits    ids.Parts[wait]
	nodes    []node // of the same index as waits
	freeWait int32  // the first that is free, or 0
	mores    ids.Parts[more]
	lastMore int32 // the highest index in mores
	freeMore []int32
	spills   []spill
	freeSpil []int32
}

// accounts are what the waits that are over add up to.
type accounts struct {
	most     int // classes with an account of their own
	totals   [numKinds]tally
	classes  []class
	handles  []int32 // of the classes, by the ledger's index
	classAt  []int32 // by the ledger's index: index in classes plus 1, or 0
	cells    []cell
	cellKeys []uint64
	cellOf   map[uint64]int32
}

// New returns an empty Accumulator.
func New(o Options) *Accumulator {
	o = o.withDefaults()
	a := &Accumulator{machine: machine{
		opt:      o,
		idleHead: none, idleTail: none, idleLast: none,
		reasons:     make([]int32, 1),
		procFar:     map[int32]*proc{},
		waitRecords: waitRecords{nodes: make([]node, 1), spills: make([]spill, 1)},
		accounts:    accounts{most: o.Classes, cellOf: map[uint64]int32{}},
		worst:       newWorstWaits(&o),
	}}
	for k := range a.totals {
		a.totals[k].fine = newFine()
		a.totals[k].bars = &bars{}
	}
	a.classes = append(a.classes, class{id: ClassOthers, worst: none, worstMin: -1})
	a.pool.q.init()
	a.gors.Grow(1)
	a.updateMode()
	a.setWindow()
	return a
}

// Add processes the next block of the stream. It does not retain it.
func (a *Accumulator) Add(b *ledger.Block) {
	a.gors.Grow(b.Slots)
	if cap(a.Ended) == 0 && a.opt.Ended {
		a.makeRoom(len(b.Decisions) / 3) // most waits take three decisions
	}
	a.Ended, a.Longest = a.Ended[:0], a.Longest[:0]
	a.slots = b.Slots
	a.handles = b.Classes
	ds, next, blocked := b.Decisions, 0, b.Blocked // the first that were not taken yet
	notes := b.Notes[:len(ds)]
	for i := range ds {
		if i < next {
			continue
		}
		d, n := &ds[i], &notes[i]
		if d.Time > a.now {
			a.advance(d.Time)
		}
		switch d.Kind {
		case reference.KindReady:
			var before *ledger.Blocked
			if len(blocked) > 0 && int(blocked[0].At) == i {
				before, blocked = &blocked[0], blocked[1:]
			}
			a.ready(d, n, b.Waker(i), before)
		case reference.KindMove:
			a.move(d, n)
		case reference.KindStart:
			a.at = i
			a.start(d, n)
		case reference.KindStop:
			a.stop(d, n)
		case reference.KindSyscall:
			if k := b.Calls(i); k > 0 && a.briefCalls(ds[i:i+k], n) {
				next = i + k
			} else {
				a.syscall(d, n)
			}
		case reference.KindSyscallExit:
			a.syscallExit(d, n)
		default:
			a.rare(d)
		}
	}
}

// endedAtOnce is for how many waits the memory of Ended is made at once: 2 MB.
const endedAtOnce = 1 << 14

// makeRoom gives Ended memory for n waits.
func (a *Accumulator) makeRoom(n int) {
	if len(a.spare) < n {
		a.spare = hugepages.Make[EndedWait](max(n, endedAtOnce))
	}
	a.Ended, a.spare = a.spare[:0:n], a.spare[n:]
}

func (m *machine) rare(d *reference.Decision) {
	switch d.Kind {
	case reference.KindPStart:
		if p := m.proc(d.P); p != nil {
			m.enter(p, pSched, nil)
			p.fresh, p.freshClk = true, m.clk
			m.pool.mark(&p.freshPool, m.clk.service())
		}
	case reference.KindPStop:
		if p := m.proc(d.P); p != nil {
			st := pIdle
			if d.Why == reference.WhyLocked {
				st = pUnavail
				p.unavail, p.stack = culpritLocked, 0
			}
			m.enter(p, st, nil)
		}
	case reference.KindRetake:
		if p := m.proc(d.P); p != nil {
			m.enter(p, pIdle, nil)
		}
	case reference.KindSTWBegin:
		m.stwBegin(d)
	case reference.KindSTWEnd:
		m.stwEnd()
	case reference.KindProcs:
		m.setProcs(int64(d.Batch))
	case reference.KindLost:
		m.lose()
	}
}

// lose is for a gap in the trace, before which all that waited or ran have been
// stopped: nothing is known of a P until it is seen again. That none is known to be idle
// then makes waits right after the gap nobody's fault.
func (m *machine) lose() {
	for _, p := range m.procs {
		if p.state != pSched {
			m.enter(p, pSched, nil)
		}
		p.fresh = false
	}
}

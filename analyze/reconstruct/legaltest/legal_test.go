// Package legaltest writes traces that Go's runtime could write: of runs of a scheduler that has
// the runtime's queues and rules, on threads that go on in any order, with goroutines that do
// anything. Bytes choose what happens, so that a fuzzer can.
//
// It is a second model of runtime/proc.go, beside reference/sim. That one is deterministic, does each
// operation in no time, and knows what is usual. Here a thread can lose its CPU between any two
// operations, so that events and operations of threads mix as they do on a busy machine:
//
//   - legal_test.go: the choices, and who goes on next
//   - sched_test.go: schedule, findRunnable and what they call, sysmon
//   - user_test.go: what goroutines do
//   - world_test.go: stops of the world, procresize, forEachP, garbage collection, generations
//   - emit_test.go: the events
//
// It does without timers' times, the pacer, and the network's fairness: whoever sleeps, waits for
// the network or marks is ready when a choice says so. Functions are named like those of the runtime.
package legaltest

import (
	"bytes"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gmpscope/gmpscope/internal/testkit/tracewriter"
	"github.com/gmpscope/gmpscope/reference"
)

// Run is a run that was made up.
type Run struct {
	Trace  []byte
	Format int     // of the trace: reference.Rules.TraceFormat
	Starts []Start // in the order of the trace
}

// Start is where a goroutine that starts comes from.
type Start struct {
	G   int64
	Src reference.Source
}

// Params is how many choices there are before the first step.
const Params = 10 + int(actions)

// MakeUp makes up a run of at most so many steps, of which a thread takes some for each event. When
// the choices end, others follow from them at random.
func MakeUp(choices []byte, steps int) *Run {
	w := newWorld(choices)
	defer w.close()
	for range min(steps, 1<<(10+w.choose(7))) {
		w.step()
	}
	w.end()
	return &Run{Trace: w.buf.Bytes(), Format: w.rules.TraceFormat, Starts: w.starts}
}

// choose returns a number below n.
func (w *world) choose(n int) int {
	x := 0
	for most := 1; most < n; most <<= 8 {
		x <<= 8
		if len(w.choices) > 0 {
			x |= int(w.choices[0])
			w.choices = w.choices[1:]
		} else {
			x |= w.random.IntN(256)
		}
	}
	return x % n
}

// once reports whether something happens that does once in n times.
func (w *world) once(n int) bool { return w.choose(n) == 0 }

// world is all there is.
type world struct {
	choices []byte
	random  *rand.Rand
	buf     bytes.Buffer
	out     *tracewriter.Encoder
	rules   reference.Rules
	starts  []Start

	now     int64 // ns
	pace    int64 // ns that a step takes at most
	cpus    int
	most    int  // goroutines
	race    bool // the race detector's scheduler: runnext at random
	weights [actions]int
	total   int // of weights

	threads []*thread
	onCPU   []*thread
	ps      []*proc // all that there ever were
	procs   int     // GOMAXPROCS
	lastG   int64
	alive   []*goroutine
	blocked [places][]*goroutine // by where
	global  []*goroutine
	idlePs  []*proc
	idleMs  []*thread

	spinning     int
	needSpinning bool
	sema         bool // who stops the world or begins a generation has it
	stopping     bool // gcwaiting
	waitFor      int  // Ps that have not stopped, or not passed the safe point
	stopper      *thread
	polling      bool // a thread sleeps in the network poller

	marking   bool
	gcSeq     uint64
	dedicated int // mark workers that are wanted
	idleMarks int // idle workers that run
	workers   int // there are
}

// thread is an M. Its code runs in a coroutine, and rests after each step.
type thread struct {
	*world
	id       int64
	p, nextP *proc
	g        *goroutine
	lockedG  *goroutine
	spins    bool
	parked   bool
	noted    bool // the note on which it parks
	until    int64
	rest     func(struct{}) bool
	next     func() (struct{}, bool)
	stop     func()
}

// proc is a P.
type proc struct {
	id          int32
	m           *thread
	status      status
	runnext     *goroutine
	runq        []*goroutine
	schedtick   int
	syscalltick int
	safePoint   bool // it has to pass one
	seen        int  // schedtick when sysmon came by
	seenAt      int64
	seenCall    int
	lastM       *thread
	gen, seq    uint64
}

// goroutine is a G.
type goroutine struct {
	id       int64
	kind     kind
	status   uint64 // in the format
	preempt  bool
	lockedM  *thread
	m        *thread
	src      reference.Source // where it was dequeued
	place    place            // where it is blocked, and at which index
	index    int
	position int   // in alive
	coro     *coro // in which it runs
	inner    *coro // that it may switch to
	gen, seq uint64
	mode     string // of a mark worker
	assists  bool
	region   bool
}

// coro is a coroutine, with the goroutine that waits in it.
type coro struct{ waits *goroutine }

// kind is what a goroutine is for.
type kind uint8

const (
	user     kind = iota
	worker        // marks for the collector
	advancer      // begins the trace's generations
	reader        // of the trace
)

// place is where a goroutine is blocked.
type place uint8

const (
	nowhere place = iota
	inProgram
	inNetwork
	inSleep
	inAssist
	inPool // of mark workers
	asReader
	places
)

// stopped unwinds the coroutine of a thread at the end.
type stopped struct{}

func newWorld(choices []byte) *world {
	seed := uint64(0)
	for _, b := range choices[:min(len(choices), Params)] {
		seed = seed*257 + uint64(b)
	}
	w := &world{choices: choices, random: rand.New(rand.NewPCG(seed, 1)), now: 1000}
	formats := []int{26, 26, 25, 23, 22}
	w.rules = reference.RulesFor(formats[w.choose(len(formats))])
	w.procs = []int{1, 2, 3, 4, 4, 8, 16, 64}[w.choose(8)]
	w.cpus = []int{1, 2, 2, 4, 8, 64}[w.choose(6)]
	w.most = 4 << w.choose(9)
	w.pace = 20 << w.choose(8)
	w.race = w.once(16)
	for a := range w.weights {
		w.weights[a] = weight[a] * max(0, w.choose(8)-2)
		w.total += w.weights[a]
	}
	w.weights[compute]++ // there is always something to do
	w.total++
	w.out = tracewriter.NewEncoder(&w.buf, w.rules.TraceFormat)
	w.out.Begin()
	w.bootstrap()
	return w
}

// step lets one thread that has a CPU do one step.
func (w *world) step() {
	if len(w.onCPU) > 0 && w.once(16) { // its CPU is taken
		i := w.choose(len(w.onCPU))
		w.onCPU = slices.Delete(w.onCPU, i, i+1)
	}
	n := 0
	for _, m := range w.onCPU {
		if m.canGoOn() {
			w.onCPU[n] = m
			n++
		}
	}
	w.onCPU = w.onCPU[:n]
	for i, at := 0, w.choose(len(w.threads)); i < len(w.threads) && len(w.onCPU) < w.cpus; i++ {
		m := w.threads[(at+i)%len(w.threads)]
		if m.canGoOn() && !slices.Contains(w.onCPU, m) {
			w.onCPU = append(w.onCPU, m)
		}
	}
	if len(w.onCPU) == 0 { // sysmon never parks
		next := int64(math.MaxInt64)
		for _, m := range w.threads {
			if !m.parked {
				next = min(next, m.until)
			}
		}
		w.now = next
		return
	}
	w.now += int64(w.choose(int(w.pace))) + 1
	m := w.onCPU[w.choose(len(w.onCPU))]
	m.next()
}

// newThread makes a thread that does f.
func (w *world) newThread(f func(*thread)) *thread {
	m := &thread{world: w, id: int64(len(w.threads))*7 + 100}
	m.next, m.stop = iter.Pull(func(yield func(struct{}) bool) {
		defer func() {
			if e := recover(); e != nil && e != (stopped{}) {
				panic(e)
			}
		}()
		m.rest = yield
		f(m)
	})
	w.threads = append(w.threads, m)
	return m
}

// close ends the coroutines of all threads.
func (w *world) close() {
	for _, m := range w.threads {
		m.stop()
	}
}

func (m *thread) canGoOn() bool { return !m.parked && m.until <= m.now }

// pause ends a step.
func (m *thread) pause() {
	if !m.rest(struct{}{}) {
		panic(stopped{})
	}
}

// sleep lets others go on for some time.
func (m *thread) sleep(ns int64) {
	m.until = m.now + ns
	m.pause()
}

// park waits for wake.
func (m *thread) park() {
	for !m.noted {
		m.parked = true
		m.pause()
	}
	m.noted = false
}

func (m *thread) wake() { m.noted, m.parked = true, false }

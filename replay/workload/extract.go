package workload

import (
	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/reference/sim"
)

// Options bound what an [Extractor] takes from a stream. The zero value is usable.
type Options struct {
	// Until is the end of the workload, a time in ns like those of the decisions of the stream; 0
	// means the end of the stream.
	Until int64
	// MaxSteps bounds the memory: steps (24 bytes each), goroutines and arrivals
	// (about 100) together. What comes when they are used up is left out. 0 means
	// 1<<22.
	MaxSteps int
	// GlobalPoll is that of [reference.Rules]; if it is 0, Workload.Ticks is not known.
	GlobalPoll int
}

// Bounds against hostile input.
const (
	maxClass = 1 << 20
	// maxThreads bounds those of which it is known whether a system call gave
	// the P up at once.
	maxThreads = 1 << 16
)

// pollPeriod is sysmon's (reference.Rules.PollPeriod), in ns.
const pollPeriod = 10_000_000

// state is where a goroutine is.
type state uint8

const (
	runnable state = iota // new, preempted, yielding, suspended, or woken
	running
	blocked
	syscall
)

// live is a goroutine that has not ended.
type live struct {
	state  state
	locked bool
	gives  bool             // its system call gave the P up at once
	paused bool             // it runs, but stops the world
	seg    int64            // when the computing, blocking or system call under way began
	m      int64            // thread of the system call
	p      int32            // where it ran last
	last   int32            // step; none if there is none yet
	cut    int32            // last step before the last stop
	ran    bool             // it was started before
	stack  int32            // where it blocks, if on a semaphore; else 0
	slept  int32            // where it blocks, if in time.Sleep; else none
	reason reference.Reason // for which it blocks
	sent   lastSend         // the last that others noticed of it, if that is one
}

// Extractor builds a [Workload] from a stream of decisions. It never fails: contradictory
// decisions are counted and skipped.
type Extractor struct {
	opt Options
	w   Workload
	now int64

	gs      []live // by index in w.gs
	byID    map[int64]int32
	inCall  map[int64]int32            // by thread: the goroutine of its last system call
	workers map[int64]worker           // mark workers that run
	modes   map[int64]reference.Reason // of mark workers: the last that was told

	cycles   []cycle
	marking  bool
	ending   bool // gc-end was seen, the stop-the-world that ends the cycle was not
	stw      stw
	timers   struct{ m, at int64 } // the thread that fires timers, and since when; NoM if none does
	polls    polls
	sweeper  int32         // bgsweep, if it has swept since it was told from others; else none
	procs    map[int]int64 // ns by GOMAXPROCS
	procsNow int
	procsAt  int64
	looked   []int64 // by P: when it began to run, and looked at no timers since
	slices   []int32 // by P: time slices since the beginning
	on       []int32 // by P: the goroutine that runs there, or none
	last     int64   // when a goroutine of the program stopped
	costs    costs
	peers    peers
	sends    map[int32]lastSends          // by class
	puts     struct{ runnext, local int } // by a goroutine that creates or wakes
}

// NewExtractor returns an Extractor at the beginning of a stream.
func NewExtractor(o Options) *Extractor {
	if o.MaxSteps <= 0 {
		o.MaxSteps = 1 << 22
	}
	e := &Extractor{opt: o, byID: map[int64]int32{}, inCall: map[int64]int32{}, workers: map[int64]worker{}, modes: map[int64]reference.Reason{}, procs: map[int]int64{}, sends: map[int32]lastSends{}}
	e.w.ran = map[int64]bool{}
	e.timers.m = reference.NoM
	e.polls.m, e.sweeper = reference.NoM, none
	return e
}

// Add processes the next decision, and reports whether it is part of the workload.
func (e *Extractor) Add(d *reference.Decision) bool {
	t := min(max(d.Time, 0), reference.MaxTime)
	switch {
	case e.w.Omitted > 0, e.opt.Until > 0 && t > e.opt.Until:
		e.w.Omitted++
		return false
	case int(e.w.steps.n)+len(e.w.gs)+len(e.w.outer)+len(e.cycles)+len(e.workers) >= e.opt.MaxSteps:
		e.w.Omitted, e.w.Capped = 1, true
		return false
	}
	e.now = max(e.now, t)
	e.costs.add(d, e.now)
	if d.M == e.timers.m && (d.Kind != reference.KindReady || d.Why != reference.WhyTimer) {
		e.timers.m = reference.NoM
	}
	e.polls.add(d, e.now)
	switch d.Kind {
	case reference.KindReady:
		e.ready(d)
	case reference.KindStart:
		e.start(d)
	case reference.KindStop:
		e.stop(d)
	case reference.KindSyscall:
		e.enter(d)
	case reference.KindSyscallExit:
		e.exit(d)
	case reference.KindPStop:
		e.pStop(d)
	case reference.KindPStart:
		e.looks(d.P)
	case reference.KindRetake:
		e.stopping(d.Why)
	case reference.KindSTWBegin:
		e.stwBegin(d)
	case reference.KindSTWEnd:
		e.stwEnd()
	case reference.KindGCBegin:
		e.gcBegin()
	case reference.KindGCEnd:
		e.gcEnd()
	case reference.KindProcs:
		e.setProcs(int(d.Batch))
	}
	return true
}

// setProcs notes a GOMAXPROCS. One that is not the first comes from outside,
// with the stop-the-world that is under way, or else with one of no length.
func (e *Extractor) setProcs(n int) {
	n = min(max(n, 0), sim.MaxProcs)
	switch {
	case n == 0 || n == e.procsNow:
	case e.procsNow == 0:
		e.w.FirstProcs = n
	case e.stw.open:
		e.stw.procs = n
	default:
		e.w.outer = append(e.w.outer, arrival{at: e.now, kind: sim.ArriveSTW, procs: n})
	}
	e.bookProcs()
	e.procsNow = n
}

func (e *Extractor) bookProcs() {
	e.procs[e.procsNow] += e.now - e.procsAt
	e.procsAt = e.now
}

// find returns the goroutine of a decision. One that was not seen before comes
// from outside, now.
func (e *Extractor) find(d *reference.Decision) int32 {
	if i, ok := e.byID[d.G]; ok {
		e.name(i, d)
		return i
	}
	i := e.new(d)
	e.w.outer = append(e.w.outer, arrival{at: e.now, kind: sim.ArriveGo, g: i})
	return i
}

func (e *Extractor) new(d *reference.Decision) int32 {
	i := int32(len(e.w.gs))
	e.w.gs = append(e.w.gs, goroutine{id: d.G, first: none})
	e.name(i, d)
	e.gs = append(e.gs, live{seg: e.now, last: none, cut: none, sent: lastSend{to: none}})
	e.byID[d.G] = i
	return i
}

// name notes what kind of goroutine it is, which a trace may show late.
func (e *Extractor) name(i int32, d *reference.Decision) {
	if d.Class > 0 && d.Class <= maxClass {
		e.w.gs[i].class = d.Class
	}
	e.w.gs[i].flags |= d.Flags & (reference.FlagSystem | reference.FlagTracer)
}

// program reports whether d is about a goroutine of the workload.
func (e *Extractor) program(d *reference.Decision) bool {
	return d.G >= 0 && d.Flags&reference.FlagGC == 0
}

// add appends a step to those of a goroutine.
func (e *Extractor) add(g int32, s step) {
	x := &e.gs[g]
	if s.kind.noticed() {
		x.sent.to = none
	}
	x.last = e.behind(g, x.last, s)
}

// behind puts a step behind another one of a goroutine, or before all of its steps, and returns it.
func (e *Extractor) behind(g, other int32, s step) int32 {
	i := e.w.steps.add(s)
	next := &e.w.gs[g].first
	if other != none {
		next = &e.w.steps.at(other).next
	}
	e.w.steps.at(i).next, *next = *next, i
	return i
}

// insert puts a step between the last one before a goroutine's last stop and
// that stop.
func (e *Extractor) insert(g int32, s step) {
	x := &e.gs[g]
	if i := e.behind(g, x.cut, s); x.last == x.cut {
		x.last = i
	}
}

// flush books the computing of a goroutine that runs, up to now.
func (e *Extractor) flush(g int32) {
	x := &e.gs[g]
	ns := e.now - x.seg
	x.seg = e.now
	switch {
	case x.state != running || x.paused || ns <= 0:
	case x.last != none && e.w.steps.at(x.last).kind == kRun:
		e.w.steps.at(x.last).ns += ns
	default:
		e.add(g, step{kind: kRun, ns: ns})
	}
}

func (e *Extractor) ready(d *reference.Decision) {
	if !e.program(d) {
		return
	}
	if d.Why == reference.WhyCreate || d.Why == reference.WhyUnblock {
		switch d.To {
		case reference.QueueRunnext:
			e.puts.runnext++
		case reference.QueueLocal:
			e.puts.local++
		}
	}
	by := none // in a system call nobody wakes others
	if i, ok := e.byID[d.By]; ok && d.By != d.G && d.By >= 0 && e.gs[i].state != syscall {
		by = i
	}
	i, ok := e.byID[d.G]
	if ok && d.Why == reference.WhyCreate { // its end was lost
		e.w.Odd++
		ok = false
	}
	if !ok {
		if by == none {
			delete(e.byID, d.G)
			e.find(d)
			a := &e.w.outer[len(e.w.outer)-1]
			if d.Why == reference.WhyUnknown { // nobody has put it there since the trace began
				a.at = 0
				e.w.ran[d.G] = true
				if d.To == reference.QueueLocal {
					a.queued = d.P + 1
				}
			}
			a.timer = d.Why == reference.WhyCreate && d.P >= 0 && d.Flags.OfProgram()
			return
		}
		i = e.new(d)
		e.flush(by)
		e.add(by, step{kind: kGo, arg: i})
		return
	}
	x := &e.gs[i]
	if x.state != blocked {
		if x.state == running { // its stop was lost
			e.w.Odd++
			e.flush(i)
			x.cut = x.last
		}
		x.state = runnable
		return
	}
	switch {
	case d.Why == reference.WhyTimer:
		// Timers that are fired together were all due when the first was
		// (time.go: timers.check looks at the clock once).
		if e.timers.m != d.M {
			e.timers.m, e.timers.at = d.M, e.now
		}
		due := e.due(d.P, e.timers.at, x.seg)
		if e.costs.slept(d.P) { // the kernel woke the thread late, as it does in the model
			due = e.looked[d.P] - sim.DefaultCosts().Slack
		}
		e.add(i, step{kind: kSleep, ns: max(0, due-x.seg), arg: x.slept})
	case d.Why == reference.WhyNetwork:
		e.w.Network++
		e.add(i, step{kind: kNetwork})
		at, seen := e.due(d.P, e.now, x.seg), e.now
		if e.costs.slept(d.P) { // the thread had to wake up first
			at = max(x.seg, e.looked[d.P])
			seen = at
		}
		e.w.outer = append(e.w.outer, arrival{at: at, kind: sim.ArriveSend, g: i, net: true, sent: e.sent(i, x.seg, seen)})
	case by != none:
		e.flush(by)
		send := step{kind: kSend, arg: i, stack: x.stack}
		if d.To == reference.QueueLocal {
			send.kind = kSendTail
		}
		e.add(by, send)
		e.add(i, step{kind: kRecv, stack: x.stack})
		e.link(by, i, x.reason)
	case e.inTail(d.By) != nil:
		e.add(i, step{kind: kRecvGC})
		t := e.inTail(d.By)
		t.wakes = append(t.wakes, wake{i, d.To == reference.QueueLocal})
	case d.To == reference.QueueDirect && d.Flags&reference.FlagTracer != 0:
		// There was data since some time that the P did not look.
		e.add(i, step{kind: kRecv})
		e.w.outer = append(e.w.outer, arrival{at: e.due(d.P, e.now, x.seg), kind: sim.ArriveSend, g: i, from: sim.WakerTrace})
	case d.P < 0 && d.By < 0 && e.w.gs[i].flags&reference.FlagSystem != 0 && e.sweepRequested(i, x.seg):
		e.add(i, step{kind: kRecv})
	default:
		a := arrival{at: e.now, kind: sim.ArriveSend, g: i, stack: x.stack}
		k := kRecv
		switch _, ok := e.workers[d.By]; {
		case ok:
			a.from, k = sim.WakerMark, kRecvGC
		case d.P < 0 && d.By < 0 && e.w.gs[i].flags&reference.FlagSystem != 0: // since some time after its last pass
			a.from, a.at = sim.WakerSysmon, e.due(d.P, e.now, x.seg)
		}
		e.add(i, step{kind: k, stack: x.stack})
		e.w.outer = append(e.w.outer, a)
	}
	x.state = runnable
}

// sweepRequested has the sweeper ask for a goroutine, which has been blocked since some time, if it has
// ended a sweep since: whoever ends it wants the scavenger, which sysmon wakes (sweepone, scavenger.ready).
func (e *Extractor) sweepRequested(g int32, since int64) bool {
	s := e.sweeper
	if s == none || s == g || e.gs[s].state != blocked || e.gs[s].seg < max(since, e.now-2*pollPeriod) {
		return false
	}
	e.insert(s, step{kind: kAsk, arg: g})
	e.gs[s].cut = e.gs[s].last
	e.sweeper = none
	return true
}

// knows makes room for a P, and reports whether its number makes sense.
func (e *Extractor) knows(p int32) bool {
	if p < 0 || p >= sim.MaxProcs {
		return false
	}
	for int(p) >= len(e.looked) {
		e.looked, e.on, e.slices, e.w.Ticks = append(e.looked, 0), append(e.on, none), append(e.slices, 0), append(e.w.Ticks, none)
	}
	return true
}

// looks notes that a P begins to run something.
func (e *Extractor) looks(p int32) {
	if e.knows(p) {
		e.looked[p] = e.now
	}
}

// due estimates when a timer was due, or the network had an answer, that p saw
// at a time: some time since p had looked before it ran something. What no P saw
// was seen by sysmon, which looks every 10 ms when nobody else does. But it was
// not before since.
func (e *Extractor) due(p int32, at, since int64) int64 {
	from := at - pollPeriod
	if p >= 0 && int(p) < len(e.looked) {
		from = e.looked[p]
	}
	return at - (at-min(max(from, since), at))/2
}

func (e *Extractor) start(d *reference.Decision) {
	e.looks(d.P)
	e.tick(d)
	if e.isWorker(d) {
		e.occupy(d.P, none)
		if d.Reason != reference.ReasonNone { // one that was preempted goes on as it was, and does not tell
			e.modes[d.G] = d.Reason
		}
		e.workers[d.G] = worker{e.now, e.modes[d.G]}
		return
	}
	if !e.program(d) {
		return
	}
	if _, ok := e.byID[d.G]; !ok { // it ran before the trace began; the model has to start a thread first
		e.w.outer = append(e.w.outer, arrival{at: max(0, e.now-sim.DefaultCosts().ThreadStart), kind: sim.ArriveGo, g: e.new(d)})
		e.w.ran[d.G] = true
	}
	i := e.find(d)
	x := &e.gs[i]
	if x.state == running || x.state == blocked {
		e.w.Odd++
		e.flush(i)
	}
	if d.Src != reference.SrcSyscallExit && x.ran {
		if locked := d.Flags&reference.FlagLocked != 0; locked != x.locked {
			x.locked = locked
			k := kUnlock
			if locked {
				k = kLock
			}
			e.insert(i, step{kind: k})
		}
	}
	x.state, x.seg, x.paused, x.ran = running, e.now, false, true
	e.occupy(d.P, i)
}

// tick counts the time slices of a P (execute: schedtick), up to the first that a P took from
// the global queue because it was its turn (findRunnable): the number of the slices before it is
// a multiple of 61.
func (e *Extractor) tick(d *reference.Decision) {
	if !e.knows(d.P) {
		return
	}
	if n := int32(e.opt.GlobalPoll); d.Src == reference.SrcGlobalTick && e.w.Ticks[d.P] == none && n > 0 {
		e.w.Ticks[d.P] = (n - e.slices[d.P]%n) % n
	}
	if d.Flags&reference.FlagInherits == 0 && d.Src != reference.SrcSyscallExit {
		e.slices[d.P]++
	}
}

// isWorker reports whether a decision is about a mark worker. A trace may show that
// late; what it ran until then was marking, too.
func (e *Extractor) isWorker(d *reference.Decision) bool {
	if d.Flags&reference.FlagGC == 0 {
		return false
	}
	if i, ok := e.byID[d.G]; ok {
		if x := &e.gs[i]; x.state == running {
			e.workers[d.G] = worker{since: x.seg}
		}
		e.gs[i].state = runnable // for ever
		delete(e.byID, d.G)
	}
	return true
}

// occupy notes that a goroutine of the program, or none, runs on a P. If another
// one does, its stop was lost.
func (e *Extractor) occupy(p, g int32) {
	if !e.knows(p) {
		return
	}
	if old := e.on[p]; old != none && old != g && e.gs[old].state == running && e.gs[old].p == p {
		e.w.Odd++
		e.flush(old)
		e.gs[old].state = runnable
	}
	e.on[p] = g
	if g != none {
		e.gs[g].p = p
	}
}

func (e *Extractor) stop(d *reference.Decision) {
	if e.isWorker(d) {
		if x, ok := e.workers[d.G]; ok {
			if t := e.inTail(d.G); t != nil && t.g == d.G && t.ns == 0 {
				t.ns = max(1, e.now-t.from)
			}
			e.marked(x)
			delete(e.workers, d.G)
		}
		return
	}
	if !e.program(d) {
		return
	}
	i := e.find(d)
	x := &e.gs[i]
	if x.state != running && d.Why != reference.WhyLost {
		e.w.Odd++
	}
	e.flush(i)
	x.cut, x.paused = x.last, false
	if e.w.gs[i].flags == 0 {
		e.last = e.now
	}
	switch d.Why {
	case reference.WhyExit, reference.WhyLost:
		e.add(i, step{kind: kExit})
		e.ends(i)
		x = &e.gs[i]
		x.state = runnable // for ever
		delete(e.byID, d.G)
		return
	case reference.WhyGosched:
		e.add(i, step{kind: kGosched})
		if e.w.gs[i].flags&reference.FlagSystem != 0 {
			e.sweeper = i // no other goroutine of the runtime yields
		}
	case reference.WhyGoyield:
		e.add(i, step{kind: kGoyield})
	case reference.WhyGC, reference.WhyGeneration:
		e.add(i, step{kind: kPreempt, arg: int32(d.Why)})
	case reference.WhyBlock, reference.WhyCoroutine, reference.WhyUnknown:
		x.state, x.seg, x.stack, x.slept, x.reason = blocked, e.now, 0, none, d.Reason
		switch d.Reason {
		case reference.ReasonSync:
			x.stack = d.Stack
		case reference.ReasonSleep:
			x.slept = d.Stack
		}
		return
	}
	x.state = runnable
}

func (e *Extractor) enter(d *reference.Decision) {
	if !e.program(d) {
		return
	}
	i := e.find(d)
	e.flush(i)
	x := &e.gs[i]
	x.cut = x.last
	x.state, x.seg, x.m, x.gives = syscall, e.now, d.M, false
	if e.w.gs[i].flags == 0 { // the tracer writes to its file, and to nobody
		e.peers.enter(i, e.now, x.last)
	}
	if _, ok := e.inCall[d.M]; ok || len(e.inCall) < maxThreads {
		e.inCall[d.M] = i
	}
}

func (e *Extractor) exit(d *reference.Decision) {
	if !e.program(d) {
		return
	}
	i := e.find(d)
	x := &e.gs[i]
	if x.state == syscall {
		k := kSyscall
		if x.gives {
			k = kSyscallBlock
		}
		e.add(i, step{kind: k, ns: e.now - x.seg})
		e.peers.exit(i, e.gs[i].last)
	} else {
		e.flush(i)
	}
	x.state, x.seg = runnable, e.now
	if d.P >= 0 {
		x.state, x.ran = running, true
		e.occupy(d.P, i)
	}
}

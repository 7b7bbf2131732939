package workload

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/reference/sim"
)

// cycle is a cycle of the garbage collector.
type cycle struct {
	at    int64
	end   int64 // of the marking; 0 if that was not seen
	mark  int64
	idle  int64 // of mark, by idle workers
	stops int64 // ns, of its stop-the-worlds
	n     int64 // of them
	by    int64 // who asked for the first of them; 0: not known
	tail  tail
	cut   bool // it began before the first decision
	step  bool // a step of the goroutine that asked for it begins it
}

// tail is what a worker does between the end of the marking and its own.
type tail struct {
	g     int64 // the worker; 0: none
	from  int64 // when the world started again
	ns    int64 // for which it ran on
	wakes []wake
}

// wake is one whom the end of a cycle woke: the sweeper, say, or who had to wait for it.
type wake struct {
	g    int32
	tail bool // it was put at the tail of the P's ring
}

// stw is a stop-the-world that is under way.
type stw struct {
	open    bool
	cycle   bool // it begins or ends the current cycle
	at      int64
	stopped int64 // when the last P stopped
	g       int64 // who asked for it
	procs   int   // GOMAXPROCS that it sets; 0 if none
	step    int32 // in Workload.stops, if a step of a goroutine stops it; none
}

// cycle returns the current or last cycle. Marking that belongs to none, because
// the trace begins in the middle, makes one.
func (e *Extractor) cycle() *cycle {
	if len(e.cycles) == 0 {
		e.cycles = append(e.cycles, cycle{at: e.now, cut: true})
	}
	return &e.cycles[len(e.cycles)-1]
}

// worker is a mark worker that runs.
type worker struct {
	since int64
	mode  reference.Reason
}

// marked books what a worker has marked up to now. What it runs after the end of
// the marking (gcMarkTermination, which waits for all Ps) is no marking.
func (e *Extractor) marked(x worker) {
	c, ns := e.cycle(), e.now-x.since
	if !e.marking && c.end > 0 {
		ns = max(c.end-x.since, 0)
	}
	c.mark += ns
	if x.mode == reference.ReasonIdle {
		c.idle += ns
	}
}

// shares reports how the marking of a cycle was shared out. Of a cycle that began
// before the trace, or has not ended, that is not known.
func (c *cycle) shares() sim.Marking {
	return sim.Marking{Known: c.end > c.at && !c.cut, Idle: c.idle}
}

// gcBegin begins a cycle: before its first stop-the-world (gcStart opens the
// range first) or, in a simulated run, within it.
func (e *Extractor) gcBegin() {
	e.marking, e.ending = true, false
	at, by := e.now, int64(0)
	if e.stw.open {
		at, by, e.stw.cycle = e.stw.at, max(0, e.stw.g), true
	}
	e.cycles = append(e.cycles, cycle{at: at, by: by})
}

// gcEnd ends the marking: within the cycle's last stop-the-world or, in a
// simulated run, before it.
func (e *Extractor) gcEnd() {
	e.marking = false
	e.cycle().end = e.now
	e.stw.cycle = e.stw.open
	e.ending = !e.stw.open
}

func (e *Extractor) stwBegin(d *reference.Decision) {
	if e.stw.open {
		e.w.Odd++
		e.stwEnd()
	}
	e.stw = stw{open: true, at: e.now, stopped: e.now, g: d.G, step: none}
	if e.marking && e.cycle().n == 0 {
		e.cycle().by = max(0, d.G)
	}
	if e.ending || e.marking && e.cycle().n == 0 {
		e.stw.cycle, e.ending = true, false
	}
	e.pause(true)
	e.stopStep()
}

// stopStep makes it a step of the goroutine that stops the world, if it is one of the
// program's and runs: it allocates, say, or reads memory statistics, and would do so at
// the same point of its work under any schedule (gcStart, stopTheWorldGC). Where the
// marking ends is not the work of who sees it.
func (e *Extractor) stopStep() {
	i, ok := e.byID[e.stw.g]
	if !ok || e.gs[i].state != running || e.w.gs[i].flags != 0 {
		return
	}
	switch {
	case !e.stw.cycle:
		e.stw.step = int32(len(e.w.stops))
		e.w.stops = append(e.w.stops, arrival{kind: sim.ArriveSTW})
		e.add(i, step{kind: kStop, arg: e.stw.step})
	case e.marking && e.cycle().n == 0 && !e.cycle().step && !e.cycle().cut:
		e.cycle().step = true
		e.add(i, step{kind: kCycle, arg: int32(len(e.cycles) - 1)})
	}
}

func (e *Extractor) stwEnd() {
	if !e.stw.open {
		e.w.Odd++
		return
	}
	e.stw.open = false
	ns := e.now - e.stw.stopped
	switch {
	case e.stw.step != none:
		e.w.Stops++
		x := &e.w.stops[e.stw.step]
		x.ns, x.procs = ns, e.stw.procs
	case !e.stw.cycle:
		e.w.Stops++
		e.w.outer = append(e.w.outer, arrival{at: e.stw.at, kind: sim.ArriveSTW, ns: ns, by: max(0, e.stw.g), procs: e.stw.procs})
	case e.stw.procs > 0: // that makes no sense, but is what was seen
		e.w.outer = append(e.w.outer, arrival{at: e.stw.at, kind: sim.ArriveSTW, procs: e.stw.procs})
		fallthrough
	default:
		c := e.cycle()
		c.stops += ns
		c.n++
		if _, ok := e.workers[e.stw.g]; ok && !e.marking && c.tail.g == 0 {
			c.tail.g, c.tail.from = e.stw.g, e.now
		}
	}
	e.pause(false)
}

// pause removes what the goroutine that stopped the world runs meanwhile from
// its work.
func (e *Extractor) pause(on bool) {
	if x, ok := e.workers[e.stw.g]; ok {
		if on {
			e.marked(x)
		}
		x.since = e.now
		e.workers[e.stw.g] = x
		return
	}
	i, ok := e.byID[e.stw.g]
	if !ok || e.gs[i].state != running {
		return
	}
	e.flush(i)
	if !on && e.gs[i].paused && e.w.gs[i].flags == 0 {
		e.w.StopperNs += e.now - e.stw.at
		if e.stw.cycle {
			e.w.GCStopperNs += e.now - e.stw.at
		}
	}
	e.gs[i].paused = on
}

// inTail returns the tail of the current cycle, if the worker g is in it: it has stopped
// the world, or the marking has ended. Nil if not.
func (e *Extractor) inTail(g int64) *tail {
	_, ok := e.workers[g]
	if !ok || len(e.cycles) == 0 || e.marking && !(e.stw.open && e.stw.g == g) {
		return nil
	}
	return &e.cycle().tail
}

// stopping notes that a P loses its thread.
func (e *Extractor) stopping(why reference.Why) {
	if e.stw.open && why == reference.WhySTW {
		e.stw.stopped = e.now
	}
}

// pStop sees who gives up the P for a system call (entersyscallblock), besides.
func (e *Extractor) pStop(d *reference.Decision) {
	e.stopping(d.Why)
	if d.Why != reference.WhySyscall {
		return
	}
	if i, ok := e.inCall[d.M]; ok && e.gs[i].state == syscall && e.gs[i].m == d.M {
		e.gs[i].gives = true
	}
}

// manyPuts is how many puts tell that there is no runnext.
const manyPuts = 20

// unstarted deals with a goroutine that is runnable at the end: the simulation
// would let it run, if not for long, as the trace does not.
func (e *Extractor) unstarted(g int32) {
	last := e.gs[g].last
	if last == none {
		e.w.gs[g].never = true
		return
	}
	switch s := e.w.steps.at(last); s.kind {
	case kRecv, kRecvGC, kNetwork, kSleep, kGosched, kGoyield, kPreempt:
		*s = step{kind: kForever, next: none}
	}
}

// Finish ends the extraction at a time, in ns, that of the last decision or
// later, and returns the workload. What has not ended by then does what it was
// at up to that time, and no more: who runs, or is in a system call, ends; who is
// blocked stays so.
func (e *Extractor) Finish(end int64) *Workload {
	if e.w.Omitted == 0 {
		e.now = max(e.now, min(end, reference.MaxTime))
	}
	w := &e.w
	w.EndNs = e.now
	if e.stw.open {
		e.stwEnd()
	}
	w.TailNs = e.now - e.last
	e.unbuffered()
	w.findPolls()
	for i := range e.gs {
		g := int32(i)
		if s := e.gs[g].state; w.gs[g].flags == 0 && (s == running || s == syscall) {
			w.TailNs = 0
		}
		switch x := &e.gs[g]; x.state {
		case running:
			e.flush(g)
		case runnable:
			e.unstarted(g)
		case blocked:
			e.add(g, step{kind: kForever})
		case syscall:
			e.add(g, step{kind: kSyscall, ns: e.now - x.seg})
		}
	}
	e.bookProcs()
	delete(e.procs, 0)
	w.ProcsChanged = len(e.procs) > 1
	for n, ns := range e.procs {
		if most := e.procs[w.Procs]; w.Procs == 0 || ns > most || ns == most && n > w.Procs {
			w.Procs = n
		}
	}
	if w.Procs == 0 {
		w.Procs = max(len(e.looked), 1)
		w.FirstProcs = w.Procs
	}
	for _, x := range e.workers {
		e.marked(x)
	}
	for i, c := range e.cycles {
		a := arrival{at: c.at, kind: sim.ArriveGC, ns: c.stops / max(c.n, 1), mark: c.mark, by: c.by, cycle: int32(i)}
		w.cycles = append(w.cycles, a)
		if !c.step {
			w.outer = append(w.outer, a)
		}
		w.marking = append(w.marking, c.shares())
		w.tails = append(w.tails, c.tail)
		w.MarkNs += c.mark
	}
	slices.SortStableFunc(w.outer, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
	w.NoRunnext = e.puts.runnext == 0 && e.puts.local >= manyPuts
	w.Switches, w.SwitchNs = e.costs.switches.finish(fewSwitches)
	w.ThreadWakes, w.ThreadWakeNs = e.costs.wakes.finish(fewWakes)
	w.Yields, _ = e.costs.yields.finish(fewSwitches)
	w.Timers, _ = e.costs.timers.finish(fewSwitches)
	w.Polls, _ = e.costs.polls.finish(fewSwitches)
	w.Goroutines, w.Steps, w.Arrivals, w.Cycles = len(w.gs), int(w.steps.n), len(w.outer), len(e.cycles)
	e.gs, e.byID = nil, nil
	return w
}

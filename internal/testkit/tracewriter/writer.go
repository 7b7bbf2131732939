package tracewriter

import (
	"errors"
	"fmt"
	"io"

	"github.com/gmpscope/gmpscope/analyze/wire"
	"github.com/gmpscope/gmpscope/reference"
)

// Options select the format of the trace that a [Writer] writes, and how long its generations
// are. Format is needed.
type Options struct {
	// Format is the minor version in the header: reference.Rules.TraceFormat.
	Format int
	// Generation is after how many ns a new generation begins; 0 is a second, as
	// in the runtime.
	Generation int64
}

// Who is in no simulated run. Threads and Ps of a run have smaller numbers.
const (
	sysmonThread = 1_000_000 // and those that bring arrivals
	worldThread  = 1_000_001 // of who stops the world
	worldP       = 1 << 14
	// WorldG is the ID of the goroutine that stops the world, collects garbage and states
	// GOMAXPROCS.
	WorldG = 1 << 50
)

// Writer writes a trace. It is not safe for concurrent use.
type Writer struct {
	o   Options
	out *Encoder
	err error

	ps map[int32]*proc
	gs map[int64]*goroutine
	ms map[int64]*thread

	began   int64 // of the generation, in ns
	now     int64
	gcSeq   uint64
	stopped bool // the world
	procs   int32
	retaken *reference.Decision // a P, by a thread that the next decision names
}

// status of a goroutine or a P, as the format has it.
const (
	gRunnable = 1
	gRunning  = 2
	gSyscall  = 3
	gWaiting  = 4

	pRunning = 1
	pIdle    = 2
	pSyscall = 3
)

// goroutine is one that has not ended.
type goroutine struct {
	status uint64
	gen    uint64 // in which its status was said last
	seq    uint64
	m      int64 // running or in a system call
}

// proc is a P.
type proc struct {
	status   uint64
	gen, seq uint64
	m        int64 // unless idle
}

// thread is what an M has.
type thread struct {
	p int32 // NoP if none
	g int64 // NoG if none
}

// New returns a Writer to w. Close must be called at the end.
func New(w io.Writer, o Options) *Writer {
	if o.Generation == 0 {
		o.Generation = 1_000_000_000
	}
	x := &Writer{o: o, out: NewEncoder(w, o.Format), ps: map[int32]*proc{}, gs: map[int64]*goroutine{}, ms: map[int64]*thread{}}
	x.out.Begin()
	x.procOf(worldP)
	x.gs[WorldG] = &goroutine{status: gWaiting}
	return x
}

// Add processes the next decision. It does not retain d. It is made for sim.Options.Emit:
// an error shows itself in Close.
func (w *Writer) Add(d *reference.Decision) {
	if w.err != nil {
		return
	}
	w.now = d.Time
	if w.now-w.began >= w.o.Generation {
		w.out.End()
		w.out.Begin()
		w.began = w.now
	}
	if w.retaken != nil {
		w.takeP(w.retaken, d.M)
		w.retaken = nil
	}
	switch d.Kind {
	case reference.KindProcs:
		w.procs = d.Batch
		if !w.stopped { // else it is said when the world starts again
			w.beginWorld()
			w.event(worldThread, wire.ProcsChange, uint64(w.procs), 0)
			w.endWorld()
		}
	case reference.KindReady:
		w.ready(d)
	case reference.KindStart:
		w.start(d)
	case reference.KindStop:
		w.stop(d)
	case reference.KindSyscall:
		p := w.ps[d.P]
		w.context(d.M)
		p.seq++
		w.event(d.M, wire.GoSyscallBegin, p.seq, 0)
		p.status = pSyscall
		w.gs[d.G].status = gSyscall
	case reference.KindSyscallExit:
		if d.P >= 0 {
			w.event(d.M, wire.GoSyscallEnd)
			w.ps[d.P].status = pRunning
			w.gs[d.G].status = gRunning
		} else {
			w.event(d.M, wire.GoSyscallEndBlocked)
			w.gs[d.G].status = gRunnable
			w.thread(d.M).g = reference.NoG
		}
	case reference.KindPStart:
		w.startP(d.P, d.M)
	case reference.KindPStop:
		if p := w.ps[d.P]; p.status != pIdle { // taken from a system call before
			w.stopP(d.M)
		}
	case reference.KindRetake:
		switch d.Why {
		case reference.WhyRetakeReturn: // by who gets it next
			own := *d
			w.retaken = &own
		case reference.WhySTW:
			w.takeP(d, worldThread)
		default:
			w.takeP(d, sysmonThread)
		}
	case reference.KindSTWBegin:
		w.beginWorld()
		w.stopped = true
		w.event(worldThread, wire.STWBegin, w.out.String("GC sweep termination"), 0)
	case reference.KindSTWEnd:
		w.event(worldThread, wire.ProcsChange, uint64(w.procs), 0)
		w.event(worldThread, wire.STWEnd)
		w.stopped = false
		w.endWorld()
	case reference.KindGCBegin:
		w.beginWorld()
		w.gcSeq++
		w.event(worldThread, wire.GCBegin, w.gcSeq, 0)
	case reference.KindGCEnd:
		w.beginWorld()
		w.gcSeq++
		w.event(worldThread, wire.GCEnd, w.gcSeq)
		if !w.stopped {
			w.endWorld()
		}
	}
}

// Close ends the trace. The error is the first of all.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	w.out.End()
	return w.out.Err()
}

// ready writes what makes a goroutine runnable.
func (w *Writer) ready(d *reference.Decision) {
	g, ok := w.gs[d.G]
	m := d.M
	if m == reference.NoM {
		m = sysmonThread
	}
	switch {
	case ok && g.status == gRunnable: // it yielded, or came out of a system call
		return
	case !ok && d.Why == reference.WhyCreate && d.By != reference.NoG:
		w.gs[d.G] = &goroutine{status: gRunnable, gen: w.out.Generation()}
		w.event(m, wire.GoCreate, uint64(d.G), w.out.Stack(fmt.Sprintf("main.class%d", d.Class)), w.out.Stack("main.create"))
		return
	case !ok && w.out.Generation() > 1 && w.thread(m).p == reference.NoP:
		w.gs[d.G] = &goroutine{status: gRunnable, gen: w.out.Generation()}
		w.event(m, wire.GoCreateSyscall, uint64(d.G))
		w.event(m, wire.GoSyscallEndBlocked)
		return
	case !ok && w.out.Generation() > 1: // a mark worker that runs for the first time
		if w.o.Format < 23 {
			w.err = errors.New("tracewriter: a mark worker begins after the first generation, which format go 1.22 cannot say")
			return
		}
		g = &goroutine{status: gWaiting, gen: w.out.Generation()}
		w.gs[d.G] = g
		w.event(m, wire.GoCreateBlocked, uint64(d.G), w.out.Stack("runtime.gcBgMarkWorker"), 0)
	case !ok:
		g = &goroutine{status: gWaiting}
		w.gs[d.G] = g
	}
	w.context(m)
	w.announceG(d.G, m)
	g.seq++
	stack := uint64(0)
	if d.By != reference.NoG {
		stack = w.out.Stack("main.wake")
	}
	w.event(m, wire.GoUnblock, uint64(d.G), g.seq, stack)
	g.status = gRunnable
}

func (w *Writer) start(d *reference.Decision) {
	g := w.gs[d.G]
	w.context(d.M)
	w.announceG(d.G, d.M)
	g.seq++
	w.event(d.M, wire.GoStart, uint64(d.G), g.seq)
	g.status, g.m = gRunning, d.M
	w.thread(d.M).g = d.G
	if label, ok := labels[d.Reason]; ok {
		w.event(d.M, wire.GoLabel, w.out.String(label))
	}
}

// labels are those of mark workers (gcMarkWorkerModeStrings, mgc.go).
var labels = map[reference.Reason]string{
	reference.ReasonDedicated: "GC (dedicated)", reference.ReasonFractional: "GC (fractional)", reference.ReasonIdle: "GC (idle)",
}

func (w *Writer) stop(d *reference.Decision) {
	g := w.gs[d.G]
	w.context(d.M)
	switch d.Why {
	case reference.WhyExit:
		w.event(d.M, wire.GoDestroy)
		delete(w.gs, d.G)
	case reference.WhyBlock:
		reason := d.Reason.String()
		if d.Flags&reference.FlagGC != 0 {
			reason = "system goroutine wait"
		}
		w.event(d.M, wire.GoBlock, w.out.String(reason), w.out.Stack("main.block"))
		g.status = gWaiting
	case reference.WhyGosched:
		w.event(d.M, wire.GoStop, w.out.String("runtime.Gosched"), w.out.Stack("runtime.Gosched"))
		g.status = gRunnable
	case reference.WhyGoyield:
		w.event(d.M, wire.GoStop, w.out.String("preempted"), w.out.Stack("runtime.goyield"))
		g.status = gRunnable
	default:
		w.event(d.M, wire.GoStop, w.out.String("preempted"), w.out.Stack("runtime.asyncPreempt"))
		g.status = gRunnable
	}
	w.thread(d.M).g = reference.NoG
}

func (w *Writer) startP(p int32, m int64) {
	w.announceP(p, m)
	x := w.procOf(p)
	x.seq++
	w.event(m, wire.ProcStart, uint64(p), x.seq)
	x.status, x.m = pRunning, m
	w.thread(m).p = p
}

func (w *Writer) stopP(m int64) {
	w.event(m, wire.ProcStop)
	t := w.thread(m)
	w.ps[t.p].status = pIdle
	t.p = reference.NoP
}

// takeP has thread by take a P out of a system call.
func (w *Writer) takeP(d *reference.Decision, by int64) {
	p := w.ps[d.P]
	w.context(d.M)
	p.seq++
	w.event(by, wire.ProcSteal, uint64(d.P), p.seq, uint64(p.m))
	w.thread(p.m).p = reference.NoP
	p.status = pIdle
}

// beginWorld has the goroutine run that stops the world, unless it does.
func (w *Writer) beginWorld() {
	if g := w.gs[WorldG]; g.status != gWaiting {
		return
	}
	w.startP(worldP, worldThread)
	w.ready(&reference.Decision{G: WorldG, M: worldThread, By: reference.NoG})
	w.start(&reference.Decision{G: WorldG, M: worldThread})
}

func (w *Writer) endWorld() {
	w.stop(&reference.Decision{G: WorldG, M: worldThread, Why: reference.WhyBlock, Reason: reference.ReasonSleep})
	w.stopP(worldThread)
}

func (w *Writer) procOf(p int32) *proc {
	x, ok := w.ps[p]
	if !ok {
		x = &proc{status: pIdle}
		w.ps[p] = x
	}
	return x
}

func (w *Writer) thread(m int64) *thread {
	t, ok := w.ms[m]
	if !ok {
		t = &thread{p: reference.NoP, g: reference.NoG}
		w.ms[m] = t
	}
	return t
}

// event writes an event of a thread.
func (w *Writer) event(m int64, kind byte, args ...uint64) {
	w.context(m)
	w.out.Event(m, w.now, kind, args...)
}

// context reports of a thread's P and goroutine what each generation says anew,
// before the thread's first event in it.
func (w *Writer) context(m int64) {
	t := w.thread(m)
	if t.p != reference.NoP {
		w.announceP(t.p, m)
	}
	if t.g != reference.NoG {
		w.announceG(t.g, m)
	}
}

func (w *Writer) announceP(p int32, m int64) {
	if x := w.procOf(p); x.gen != w.out.Generation() {
		x.gen, x.seq = w.out.Generation(), 0
		w.out.Event(m, w.now, wire.ProcStatus, uint64(p), x.status)
	}
}

func (w *Writer) announceG(id, m int64) {
	g := w.gs[id]
	if g.gen == w.out.Generation() {
		return
	}
	g.gen, g.seq = w.out.Generation(), 0
	on := noThread
	if g.status == gRunning || g.status == gSyscall {
		on = uint64(g.m)
	}
	w.out.Event(m, w.now, wire.GoStatus, uint64(id), on, g.status)
}

package workload

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/reference"
)

// Window makes a stream of decisions begin later, as a trace does whose
// recording began then: it tells who runs, is runnable or is in a system call on
// its P at the beginning, which Ps have threads, and whether the garbage
// collector marks; and then goes on with the decisions, their times counted from
// the beginning. Who is blocked shows when it is woken.
type Window struct {
	from  int64
	emit  func(*reference.Decision)
	open  bool
	n     int64
	gs    map[int64]present
	ps    map[int32]int64 // thread by P
	on    map[int32]int64 // goroutine by P
	procs int32
	marks bool
	stw   *reference.Decision
}

// present is a goroutine that is not blocked.
type present struct {
	seen  reference.Decision // that made it what it is
	since int64              // order
	state state
}

// NewWindow returns a Window from a time on, in ns. emit gets the stream, and
// must not keep its decisions.
func NewWindow(from int64, emit func(*reference.Decision)) *Window {
	return &Window{from: from, emit: emit, gs: map[int64]present{}, ps: map[int32]int64{}, on: map[int32]int64{}}
}

// Add takes the next decision.
func (w *Window) Add(d *reference.Decision) {
	if !w.open {
		if d.Time < w.from {
			w.note(d)
			return
		}
		w.begin()
	}
	x := *d
	x.Time -= w.from
	w.emit(&x)
}

// note keeps what a decision before the beginning changes.
func (w *Window) note(d *reference.Decision) {
	w.n++
	is := func(s state) {
		w.gs[d.G] = present{seen: *d, since: w.n, state: s}
		if s != runnable {
			w.on[d.P] = d.G
		}
	}
	switch d.Kind {
	case reference.KindReady:
		is(runnable)
	case reference.KindMove:
		if x, ok := w.gs[d.G]; ok && x.state == runnable {
			x.seen.To, x.seen.P = d.To, d.P
			w.gs[d.G] = x
		}
	case reference.KindStart:
		is(running)
	case reference.KindStop:
		delete(w.gs, d.G)
	case reference.KindSyscall:
		is(syscall)
	case reference.KindSyscallExit:
		if d.P >= 0 {
			is(running)
		} else {
			delete(w.gs, d.G)
		}
	case reference.KindPStart:
		w.ps[d.P] = d.M
	case reference.KindPStop, reference.KindRetake:
		delete(w.ps, d.P)
		if g, ok := w.on[d.P]; ok {
			if x := w.gs[g]; x.state == syscall && x.seen.P == d.P {
				delete(w.gs, g)
			}
			delete(w.on, d.P)
		}
	case reference.KindProcs:
		w.procs = d.Batch
	case reference.KindGCBegin:
		w.marks = true
	case reference.KindGCEnd:
		w.marks = false
	case reference.KindSTWBegin:
		x := *d
		w.stw = &x
	case reference.KindSTWEnd:
		w.stw = nil
	}
}

// begin tells what there is at the beginning.
func (w *Window) begin() {
	w.open = true
	say := func(d reference.Decision) {
		d.Time, d.Basis = 0, reference.Known(reference.Inferred, reference.RuleInitial)
		w.emit(&d)
	}
	nobody := reference.Decision{G: reference.NoG, P: reference.NoP, M: reference.NoM, By: reference.NoG, Victim: reference.NoP}
	world := func(k reference.Kind) reference.Decision {
		d := nobody
		d.Kind = k
		return d
	}
	if w.procs > 0 {
		d := world(reference.KindProcs)
		d.Batch, d.Why = w.procs, reference.WhyProcs
		say(d)
	}
	if w.marks {
		say(world(reference.KindGCBegin))
	}
	ps := make([]int32, 0, len(w.ps))
	for p := range w.ps {
		ps = append(ps, p)
	}
	slices.Sort(ps)
	for _, p := range ps {
		d := world(reference.KindPStart)
		d.P, d.M = p, w.ps[p]
		say(d)
	}
	gs := make([]present, 0, len(w.gs))
	for _, x := range w.gs {
		gs = append(gs, x)
	}
	slices.SortFunc(gs, func(a, b present) int { return cmp.Compare(a.since, b.since) })
	for _, x := range gs {
		d := nobody
		d.G, d.P, d.M, d.Class, d.Reason = x.seen.G, x.seen.P, x.seen.M, x.seen.Class, x.seen.Reason
		d.Flags = x.seen.Flags & reference.FlagsRuntime
		if x.state == runnable {
			d.Kind, d.To, d.Why = reference.KindReady, x.seen.To, x.seen.Why
			d.Flags |= reference.FlagFirst
			say(d)
			continue
		}
		d.Kind, d.Src, d.Wait = reference.KindStart, reference.SrcDirect, -1
		say(d)
		if x.state == syscall {
			d = nobody
			d.Kind, d.G, d.P, d.M, d.Class, d.Why = reference.KindSyscall, x.seen.G, x.seen.P, x.seen.M, x.seen.Class, reference.WhySyscall
			say(d)
		}
	}
	if w.stw != nil {
		say(*w.stw)
	}
	w.gs, w.ps, w.on = nil, nil, nil
}

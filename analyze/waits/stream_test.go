package waits

import (
	"math/rand/v2"

	"github.com/gmpscope/gmpscope/reference"
)

// world makes random streams of decisions that obey the grammar of
// reference.Kind, and with care visits all that matters here.
type world struct {
	*rand.Rand
	now   int64
	out   []reference.Decision
	np    int32
	ps    []wProc
	gs    []wGor
	stw   bool
	ticks int64 // longest step of time
	calm  bool  // GOMAXPROCS stays as it is
	tidy  bool  // nothing is taken before it starts
}

type wProc struct {
	thread, unavail bool
	g               int // -1 none
}

type wGor struct {
	state byte // 'b'locked, 'w'aiting, 'r'unning, 's'yscall
	p     int32
	ready int64
	class int32
	flags reference.Flags
}

// randomStream returns a stream of about that many decisions. crowd asks for
// more classes in a queue than it can tell apart.
func randomStream(seed uint64, steps int, crowd bool) []reference.Decision {
	w := &world{Rand: rand.New(rand.NewPCG(seed, 7))}
	w.np = 1 + w.Int32N(5)
	w.ps = make([]wProc, w.np+2)
	for i := range w.ps {
		w.ps[i].g = -1
	}
	w.gs = make([]wGor, 2+w.IntN(14))
	classes := 1 + w.Int32N(6)
	if crowd {
		w.np = 1 + w.Int32N(2)
		w.gs = make([]wGor, 60)
		classes = 60
	}
	for i := range w.gs {
		w.gs[i] = wGor{state: 'b', p: -1, class: 1 + w.Int32N(classes)}
		switch w.IntN(12) {
		case 0:
			w.gs[i].flags = reference.FlagGC | reference.FlagSystem
		case 1:
			w.gs[i].flags = reference.FlagTracer
		case 2:
			w.gs[i].flags = reference.FlagSystem
		}
	}
	w.ticks = []int64{3, 40, 5_000, 8_000_000}[w.IntN(4)]
	w.calm = w.IntN(2) == 0
	w.tidy = w.IntN(2) == 0
	w.now = w.Int64N(1000)
	if w.IntN(4) > 0 {
		w.emit(reference.Decision{Kind: reference.KindProcs, Batch: w.np})
	}
	for range steps {
		if w.IntN(5) > 1 {
			w.now += 1 + w.Int64N(w.ticks)
		}
		w.step()
	}
	return w.out
}

func (w *world) emit(d reference.Decision) {
	d.Time = w.now
	w.out = append(w.out, d)
}

// pick returns a random goroutine in a state, -1 if there is none.
func (w *world) pick(state byte) int {
	var of []int
	for i := range w.gs {
		if w.gs[i].state == state {
			of = append(of, i)
		}
	}
	if len(of) == 0 {
		return -1
	}
	return of[w.IntN(len(of))]
}

// pickP returns a random P for which ok holds, -1 if there is none.
func (w *world) pickP(ok func(p *wProc) bool) int32 {
	var of []int32
	for i := range w.ps[:w.np] {
		if ok(&w.ps[i]) {
			of = append(of, int32(i))
		}
	}
	if len(of) == 0 {
		return -1
	}
	return of[w.IntN(len(of))]
}

func (w *world) place() (reference.Queue, int32) {
	switch w.IntN(12) {
	case 0:
		return reference.QueueDirect, -1
	case 1:
		return reference.QueueUnknown, -1
	case 2, 3, 4:
		return reference.QueueGlobal, -1
	case 5, 6:
		return reference.QueueRunnext, w.Int32N(w.np)
	}
	return reference.QueueLocal, w.Int32N(w.np)
}

func (w *world) ready(gi int, why reference.Why) {
	g := &w.gs[gi]
	g.state, g.ready, g.p = 'w', w.now, -1
	to, p := w.place()
	w.emit(reference.Decision{Kind: reference.KindReady, G: int64(gi), Class: g.class, Flags: g.flags, To: to, P: p, Why: why})
}

func (w *world) start(gi int, p int32) {
	g := &w.gs[gi]
	wait := w.now - g.ready
	if w.IntN(50) == 0 {
		wait = -1
	}
	w.emit(reference.Decision{Kind: reference.KindStart, G: int64(gi), Class: g.class, Flags: g.flags, P: p, Wait: wait})
	g.state, g.p = 'r', p
	w.ps[p] = wProc{thread: true, g: gi}
}

func (w *world) move(gi int, to reference.Queue, p int32) {
	w.emit(reference.Decision{Kind: reference.KindMove, G: int64(gi), Class: w.gs[gi].class, To: to, P: p, Why: reference.WhySteal})
}

func (w *world) stop(gi int, why reference.Why) {
	g := &w.gs[gi]
	w.emit(reference.Decision{Kind: reference.KindStop, G: int64(gi), Class: g.class, P: g.p, Why: why})
	w.ps[g.p].g = -1
	g.state = 'b'
}

func (w *world) step() {
	free := func(p *wProc) bool { return p.thread && p.g < 0 }
	switch w.IntN(24) {
	case 0, 1:
		if p := w.pickP(func(p *wProc) bool { return !p.thread }); p >= 0 {
			w.emit(reference.Decision{Kind: reference.KindPStart, P: p})
			w.ps[p] = wProc{thread: true, g: -1}
		}
	case 2:
		if p := w.pickP(free); p >= 0 {
			why := []reference.Why{reference.WhyIdle, reference.WhyIdle, reference.WhySTW, reference.WhyLocked}[w.IntN(4)]
			w.emit(reference.Decision{Kind: reference.KindPStop, P: p, Why: why})
			w.ps[p] = wProc{unavail: why == reference.WhyLocked, g: -1}
		}
	case 3, 4, 5, 6, 7:
		if g := w.pick('b'); g >= 0 {
			why := reference.WhyUnblock
			if w.IntN(6) == 0 {
				why = reference.WhyGosched
			}
			w.ready(g, why)
		}
	case 8, 9:
		for range 1 + w.IntN(2) {
			if g := w.pick('w'); g >= 0 {
				to, p := w.place()
				if to == reference.QueueDirect { // taken by a P's thread
					if w.tidy {
						continue
					}
					p = w.Int32N(w.np)
				}
				w.move(g, to, p)
			}
		}
	case 10, 11, 12:
		g, p := w.pick('w'), w.pickP(free)
		if g >= 0 && p >= 0 {
			w.start(g, p)
		}
	case 13: // steal, or a batch
		p := w.pickP(free)
		if p < 0 {
			return
		}
		var g int
		for range 1 + w.IntN(3) {
			if g = w.pick('w'); g < 0 {
				return
			}
			w.move(g, reference.QueueLocal, p)
		}
		if w.IntN(3) == 0 {
			w.now += 1 + w.Int64N(w.ticks)
		}
		w.start(g, p)
	case 14, 15, 16:
		if g := w.pick('r'); g >= 0 {
			w.stop(g, reference.WhyBlock)
		}
	case 17:
		if g := w.pick('r'); g >= 0 {
			w.stop(g, reference.WhyExit)
		}
	case 18:
		if g := w.pick('r'); g >= 0 {
			w.stop(g, reference.WhySlice)
			w.ready(g, reference.WhySlice)
		}
	case 19:
		if g := w.pick('r'); g >= 0 {
			p := w.gs[g].p
			w.emit(reference.Decision{Kind: reference.KindSyscall, G: int64(g), Class: w.gs[g].class, P: p})
			w.gs[g].state = 's'
			w.ps[p] = wProc{thread: true, unavail: true, g: g}
		}
	case 20:
		if g := w.pick('s'); g >= 0 {
			x := &w.gs[g]
			p := int32(-1)
			if x.p >= 0 && w.ps[x.p].unavail && w.ps[x.p].g == g {
				p = x.p
			}
			w.emit(reference.Decision{Kind: reference.KindSyscallExit, G: int64(g), Class: x.class, P: p})
			if p >= 0 {
				x.state = 'r'
				w.ps[p] = wProc{thread: true, g: g}
			} else {
				w.ready(g, reference.WhySyscallExit)
			}
		}
	case 21:
		if p := w.pickP(func(p *wProc) bool { return p.unavail && p.thread }); p >= 0 {
			w.emit(reference.Decision{Kind: reference.KindRetake, P: p})
			w.gs[w.ps[p].g].p = -1
			w.ps[p] = wProc{g: -1}
		}
	case 22:
		if w.stw || w.IntN(3) > 0 {
			w.stw = false
			w.emit(reference.Decision{Kind: reference.KindSTWEnd})
			return
		}
		d := reference.Decision{Kind: reference.KindSTWBegin, P: -1, G: -1, Label: 1 + w.Int32N(3)}
		if g := w.pick('r'); g >= 0 && w.IntN(4) > 0 {
			d.P, d.G = w.gs[g].p, int64(g)
		}
		w.stw = true
		w.emit(d)
		if w.IntN(2) == 0 { // stop the others
			for i := range w.ps {
				if p := int32(i); p != d.P && w.ps[i].thread && !w.ps[i].unavail {
					w.now += w.Int64N(w.ticks)
					if g := w.ps[i].g; g >= 0 {
						w.stop(g, reference.WhySTW)
						w.ready(g, reference.WhySTW)
					}
					w.emit(reference.Decision{Kind: reference.KindPStop, P: p, Why: reference.WhySTW})
					w.ps[i] = wProc{g: -1}
				}
			}
		}
	case 23:
		if !w.calm && w.IntN(8) == 0 {
			w.np = 1 + w.Int32N(int32(len(w.ps)))
			w.emit(reference.Decision{Kind: reference.KindProcs, Batch: w.np})
		}
	}
}

package waits

import (
	"fmt"
	"math/big"
	"sort"

	"github.com/gmpscope/gmpscope/reference"
)

// oracle computes the account of a stream of decisions by the definitions, as
// literally and as slowly as they are written in the package comment: it keeps
// a picture of the whole world for every stretch of time in which nothing
// happens, and walks all of them for each wait.
type oracle struct {
	slice   int64
	now     int64
	stw     bool
	stopper int32 // P id, or -1
	n       int64 // GOMAXPROCS; 0: unknown
	ps      map[int32]*oProc
	gs      map[int64]*oGor
	seq     int64
	runs    []int64 // length of each run interval
	scenes  []scene

	waits   []oWait // finished
	starts  map[int32]int64
	running map[int32]int64
	charged map[[2]int32]float64
	held    map[oHold]float64
	reason  int32                // handle
	long    map[[2]int64]float64 // class or -1-kind, run interval
	open    map[Kind]int64
	openNs  map[Kind]int64
}

// oHold is a class that waits and what held a P meanwhile.
type oHold struct {
	waiting int32
	cause   Cause
	class   int32
	reason  string
}

type oProc struct {
	by              oHold // while unavailable
	thread, unavail bool
	g               int64 // -1: none
	run             int   // run interval of g
	from            int64 // start of that
	fresh           bool
	freshAt         int64
}

type oGor struct {
	class   int32
	flags   reference.Flags
	seq     int64
	p       int32
	from    int64 // running since, or -1
	waiting bool
	ready   int64
	kind    Kind
	queue   oQueue
	path    []oQueue // queue in each scene since ready
	first   int      // first scene
}

// oQueue is a queue: kind 'p', 'g' or 'd', and the P of the first, or that took
// the goroutine out of its queue.
type oQueue struct {
	kind byte
	p    int32
}

// scene is the world during one stretch of time.
type scene struct {
	from, to int64
	mode     mode
	usable   []oState // of all usable Ps seen
	unseen   int64    // usable Ps that were never seen
	all      map[int32]oState
}

type oState struct {
	by      oHold // cause "": nothing
	state   pstate
	fresh   bool
	freshAt int64
	seq     int64
	class   int32
	g       int64
	run     int
}

type oWait struct {
	g        int64
	class    int32
	kind     Kind
	from, to int64
	causes   [numCauses]int64
	queue    oQueue // last one of some length
	startP   int32
}

func newOracle(slice int64) *oracle {
	return &oracle{
		slice: slice, stopper: -1, ps: map[int32]*oProc{}, gs: map[int64]*oGor{},
		starts: map[int32]int64{}, running: map[int32]int64{}, charged: map[[2]int32]float64{}, held: map[oHold]float64{},
		long: map[[2]int64]float64{}, open: map[Kind]int64{}, openNs: map[Kind]int64{},
	}
}

func (o *oracle) usable(id int32) bool { return o.n == 0 || int64(id) < o.n }

func (o *oracle) state(id int32) oState {
	p := o.ps[id]
	switch {
	case o.stopper == id || !p.thread && !p.unavail:
		return oState{state: pIdle, g: -1}
	case p.unavail:
		return oState{state: pUnavail, g: -1}
	case p.g < 0:
		return oState{state: pSched, g: -1}
	}
	g := o.gs[p.g]
	s := oState{state: pRun, seq: g.seq, class: g.class, g: p.g, run: p.run}
	if g.flags&reference.FlagGC != 0 {
		s.state = pGC
	} else if g.flags&reference.FlagTracer != 0 {
		s.state = pTracer
	}
	return s
}

func (o *oracle) advance(t int64) {
	if t <= o.now {
		return
	}
	s := scene{from: o.now, to: t, all: map[int32]oState{}}
	total, busy := o.n, int64(0)
	for id := range o.ps {
		st := o.state(id)
		st.fresh, st.freshAt = o.ps[id].fresh, o.ps[id].freshAt
		switch {
		case st.state == pUnavail:
			st.by = o.ps[id].by
		case st.state == pGC:
			st.by = oHold{cause: CauseGC, class: st.class, reason: "mark worker"}
		case st.state == pIdle && o.stw:
			st.by = o.stopped()
		}
		s.all[id] = st
		if o.usable(id) {
			s.usable = append(s.usable, st)
			if st.state != pIdle {
				busy++
			}
		}
	}
	if total == 0 {
		total = int64(len(o.ps))
	}
	s.unseen = total - int64(len(s.usable))
	switch {
	case o.stw && busy == 0:
		s.mode = modeStopped
	case o.stw:
		s.mode = modeStopping
	case busy < total:
		s.mode = modeIdle
	}
	o.scenes = append(o.scenes, s)
	dt := t - o.now
	serving := s.mode == modeBusy || s.mode == modeStopping
	for _, g := range o.gs {
		if !g.waiting {
			continue
		}
		g.path = append(g.path, g.queue)
		hold := func(by oHold, ns float64) {
			if by.waiting = g.class; by.cause != "" {
				o.held[by] += ns
			}
		}
		switch {
		case g.queue.kind == 'p':
			hold(s.all[g.queue.p].by, float64(dt))
		case g.queue.kind == 'g' && s.mode == modeStopped:
			hold(o.stopped(), float64(dt))
		case g.queue.kind == 'g' && serving:
			for _, st := range s.usable {
				hold(st.by, float64(dt)/float64(total))
			}
		}
		if !serving || g.queue.kind == 'd' {
			continue
		}
		charge := func(st oState, ns float64) {
			if st.state == pRun {
				o.charged[[2]int32{g.class, st.class}] += ns
				o.long[[2]int64{int64(g.class), int64(st.run)}] += ns
				o.long[[2]int64{-1 - int64(g.kind), int64(st.run)}] += ns
			}
		}
		if g.queue.kind == 'p' {
			charge(s.all[g.queue.p], float64(dt))
		} else {
			for _, st := range s.usable {
				charge(st, float64(dt)/float64(total))
			}
		}
	}
	o.now = t
}

func (o *oracle) stopped() oHold {
	return oHold{cause: CauseSTW, reason: fmt.Sprint("text ", o.reason)}
}

func (o *oracle) proc(id int32) *oProc {
	if o.ps[id] == nil {
		o.ps[id] = &oProc{g: -1}
	}
	return o.ps[id]
}

func (o *oracle) gor(d *reference.Decision) *oGor {
	g := o.gs[d.G]
	if g == nil {
		g = &oGor{class: d.Class, p: -1, from: -1}
		o.gs[d.G] = g
	}
	g.flags |= d.Flags & (reference.FlagSystem | reference.FlagTracer | reference.FlagGC)
	return g
}

func (o *oracle) queueOf(d *reference.Decision) oQueue {
	switch {
	case d.To == reference.QueueDirect && d.Kind == reference.KindMove && d.P >= 0:
		o.proc(d.P)
		return oQueue{'d', d.P}
	case d.To == reference.QueueDirect:
		return oQueue{'d', -1}
	case d.To == reference.QueueRunnext || d.To == reference.QueueLocal:
		o.proc(d.P)
		return oQueue{'p', d.P}
	}
	return oQueue{'g', -1}
}

// endRun ends the run interval on p, if there is one.
func (o *oracle) endRun(p *oProc) {
	if p.g >= 0 {
		o.runs[p.run] = o.now - p.from
		p.g = -1
	}
}

func (o *oracle) leave(id int64, g *oGor, unavail bool) {
	if g.from < 0 {
		return
	}
	o.running[g.class] += o.now - g.from
	g.from = -1
	if p := o.ps[g.p]; p != nil && p.g == id {
		if o.stopper == g.p {
			o.stopper = -1
		}
		o.endRun(p)
		p.thread, p.unavail = !unavail, unavail
	}
}

func (o *oracle) run(id int64, g *oGor, pid int32) {
	p := o.proc(pid)
	if o.stopper == pid {
		o.stopper = -1
	}
	o.endRun(p)
	p.thread, p.unavail, p.g, p.fresh, p.from = true, false, id, false, o.now
	p.run = len(o.runs)
	o.runs = append(o.runs, 0)
	g.p, g.from = pid, o.now
}

func (o *oracle) add(d *reference.Decision) {
	o.advance(d.Time)
	switch d.Kind {
	case reference.KindReady:
		g := o.gor(d)
		o.leave(d.G, g, false)
		o.seq++
		g.seq, g.waiting, g.ready, g.queue, g.path, g.first = o.seq, true, o.now, o.queueOf(d), nil, len(o.scenes)
		g.kind = KindUser
		if g.flags != 0 {
			g.kind = KindSystem
		} else if d.Why == reference.WhyGosched {
			g.kind = KindSelf
		}
	case reference.KindMove:
		if g := o.gs[d.G]; g != nil && g.waiting {
			g.queue = o.queueOf(d)
		}
	case reference.KindStart:
		p := o.proc(d.P)
		g := o.gor(d)
		o.leave(d.G, g, false)
		o.starts[g.class]++
		if g.waiting && d.Wait >= 0 {
			o.waits = append(o.waits, o.explain(d, g, p))
		}
		g.waiting = false
		o.run(d.G, g, d.P)
	case reference.KindStop:
		g := o.gs[d.G]
		if g == nil {
			return
		}
		o.leave(d.G, g, false)
		if d.Why == reference.WhyExit {
			delete(o.gs, d.G)
		}
	case reference.KindSyscall:
		g := o.gor(d)
		pid := g.p
		if g.from < 0 {
			pid = d.P
		}
		if pid >= 0 {
			o.proc(pid).by = oHold{cause: CauseUnavailable, class: g.class, reason: "system call"}
		}
		o.leave(d.G, g, true)
	case reference.KindSyscallExit:
		g := o.gor(d)
		if d.P >= 0 && !g.waiting {
			o.run(d.G, g, d.P)
		}
	case reference.KindPStart, reference.KindPStop, reference.KindRetake:
		p := o.proc(d.P)
		if o.stopper == d.P {
			o.stopper = -1
		}
		o.endRun(p)
		p.thread, p.unavail = d.Kind == reference.KindPStart, d.Kind == reference.KindPStop && d.Why == reference.WhyLocked
		if p.thread {
			p.fresh, p.freshAt = true, o.now
		}
		if p.unavail {
			p.by = oHold{cause: CauseUnavailable, reason: "locked"}
		}
	case reference.KindSTWBegin:
		if o.stw {
			return
		}
		o.stw, o.reason = true, d.Label
		if d.P >= 0 {
			if p := o.proc(d.P); p.thread || p.unavail {
				o.stopper = d.P
				if p.g >= 0 {
					o.runs[p.run] = o.now - p.from
					p.run = len(o.runs)
					o.runs = append(o.runs, 0)
				}
			}
		}
	case reference.KindSTWEnd:
		if !o.stw {
			return
		}
		o.stw = false
		if o.stopper >= 0 {
			if p := o.ps[o.stopper]; p.g >= 0 {
				p.run, p.from = len(o.runs), o.now
				o.runs = append(o.runs, 0)
			}
			o.stopper = -1
		}
	case reference.KindProcs:
		o.n = int64(d.Batch)
	}
}

// explain walks all scenes of a wait.
func (o *oracle) explain(d *reference.Decision, g *oGor, f *oProc) oWait {
	w := oWait{g: d.G, class: g.class, kind: g.kind, from: g.ready, to: o.now, startP: d.P}
	for i := 0; i < len(g.path); {
		q, j := g.path[i], i
		for j < len(g.path) && g.path[j] == q {
			j++
		}
		last := j == len(g.path)
		if last {
			w.queue = q
		}
		fresh, freshAt := last && f.fresh, f.freshAt
		if !last && g.path[j].kind == 'd' && g.path[j].p >= 0 {
			taker := o.scenes[g.first+j].all[g.path[j].p]
			fresh, freshAt = taker.fresh, taker.freshAt
		}
		var weights [numCauses]int64
		var shared int64
		for ; i < j; i++ {
			s := &o.scenes[g.first+i]
			dt := s.to - s.from
			waking := fresh && s.from >= freshAt
			switch {
			case q.kind == 'd' && q.p >= 0:
				c := causeAt(s.mode, s.all[q.p], g.seq, waking)
				if c != iSTW && c != iUnavailable && c != iPWakingUp {
					c = iOverhead
				}
				w.causes[c] += dt
			case q.kind == 'd' && s.mode == modeStopped:
				w.causes[iSTW] += dt
			case q.kind == 'd':
				w.causes[iOverhead] += dt
			case q.kind == 'p':
				w.causes[causeAt(s.mode, s.all[q.p], g.seq, waking)] += dt
			case s.mode == modeStopped:
				w.causes[iSTW] += dt
			case waking:
				w.causes[iPWakingUp] += dt
			case s.mode == modeIdle:
				w.causes[iIdlePAvailable] += dt
			default:
				shared += dt
				for _, st := range s.usable {
					weights[causeAt(s.mode, st, g.seq, false)] += dt
				}
				weights[causeAt(s.mode, oState{state: pIdle}, g.seq, false)] += dt * s.unseen
			}
		}
		for c, ns := range largestRemainder(shared, weights) {
			w.causes[c] += ns
		}
	}
	return w
}

// causeAt is the table of detectors.md, first match wins.
func causeAt(m mode, p oState, seq int64, waking bool) int {
	switch {
	case m == modeStopped || m == modeStopping && p.state == pIdle:
		return iSTW
	case p.state == pUnavail:
		return iUnavailable
	case p.state == pGC:
		return iGC
	case waking:
		return iPWakingUp
	case m == modeIdle:
		return iIdlePAvailable
	case p.state == pRun && p.seq < seq:
		return iQueueing
	case p.state == pRun:
		return iOvertaken
	case p.state == pTracer:
		return iTracer
	}
	return iOverhead
}

func largestRemainder(ns int64, weights [numCauses]int64) (out [numCauses]int64) {
	sum := big.NewInt(0)
	for _, w := range weights {
		sum.Add(sum, big.NewInt(w))
	}
	if sum.Sign() == 0 {
		out[iOverhead] = ns
		return out
	}
	type rest struct {
		i int
		r *big.Int
	}
	var rests []rest
	left := ns
	for i, w := range weights {
		q, r := new(big.Int).QuoRem(new(big.Int).Mul(big.NewInt(ns), big.NewInt(w)), sum, new(big.Int))
		out[i] = q.Int64()
		left -= out[i]
		rests = append(rests, rest{i, r})
	}
	sort.SliceStable(rests, func(i, j int) bool { return rests[i].r.Cmp(rests[j].r) > 0 })
	for i := range left {
		out[rests[i].i]++
	}
	return out
}

func (o *oracle) finish(end int64) {
	o.advance(end)
	for _, g := range o.gs {
		if g.from >= 0 {
			o.running[g.class] += o.now - g.from
		}
		if g.waiting {
			o.open[g.kind]++
			o.openNs[g.kind] += o.now - g.ready
		}
	}
	for id, p := range o.ps {
		if p.g >= 0 && o.stopper != id {
			o.endRun(p)
		}
	}
}

// longNs is the time that a class (or a kind, as -1-kind) waited under run
// intervals longer than a slice.
func (o *oracle) longNs(who int64) (ns float64) {
	for k, v := range o.long {
		if k[0] == who && o.runs[k[1]] > o.slice {
			ns += v
		}
	}
	return ns
}

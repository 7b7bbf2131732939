package span

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/ids"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/reference"
)

// Result is work and span of the program's goroutines. Times are in ns.
type Result struct {
	WorkNs int64 `json:"work_ns"` // T1: time that they ran, system calls left out
	SpanNs int64 `json:"span_ns"` // Tinf: the longest chain of it
	// BusyNs is for how long at least one of them ran or was ready to.
	BusyNs int64 `json:"busy_ns"`
	// Procs and Usable are the means over that time of GOMAXPROCS, and of the Ps
	// that neither ran a mark worker nor were stopped.
	Procs  float64   `json:"procs"`
	Usable float64   `json:"usable"`
	Hops   int64     `json:"hops"` // wake-ups and creations along the chain
	Path   []Segment `json:"path"` // the chain by class, longest first
	// OtherNs is the rest of the chain, of classes with too little of it.
	OtherNs int64 `json:"other_ns"`
}

// Segment is what the goroutines of one class add to the critical path.
type Segment struct {
	Class int32 `json:"class"` // handle
	// Stack is where the longest piece ended: the goroutine blocked there, woke
	// somebody or was preempted.
	Stack int32 `json:"stack"`
	Ns    int64 `json:"ns"`
	worst int64
}

// Parallelism is T1/Tinf: the most Ps that the work could keep busy on average.
// It is 0 where nothing ran.
func (r *Result) Parallelism() float64 {
	if r.SpanNs == 0 {
		return 0
	}
	return float64(r.WorkNs) / float64(r.SpanNs)
}

// BoundNs is max(T1/P, Tinf): no scheduler is done earlier.
func (r *Result) BoundNs() int64 {
	return max(int64(float64(r.WorkNs)/max(1, r.Procs)), r.SpanNs)
}

// ABPNs is T1/Pa + Tinf·P/Pa: the order of time that work stealing needs where
// only Pa of P Ps are there.
func (r *Result) ABPNs() int64 {
	pa := r.Usable
	if pa <= 0 {
		return 0
	}
	return int64((float64(r.WorkNs) + float64(r.SpanNs)*r.Procs) / pa)
}

// Efficiency is the bound as a share of the busy time: 1 means that nothing
// could have been done faster on these Ps. It is 0 where nothing ran.
func (r *Result) Efficiency() float64 {
	if r.BusyNs == 0 {
		return 0
	}
	return min(1, float64(r.BoundNs())/float64(r.BusyNs))
}

// RecoverableNs is the busy time beyond the bound: what better scheduling, with
// the program as it is, could gain at most.
func (r *Result) RecoverableNs() int64 { return max(0, r.BusyNs-r.BoundNs()) }

// Accumulator measures a stream of decisions. Memory follows the goroutines that
// are alive.
type Accumulator struct {
	ps  *procs.Tracker
	own bool // ps is driven from here

	now    int64
	gs     ids.Table[goroutine]
	more   []rest // of the paths that need it; index 0 is not used
	free   []int32
	active int64

	work, busy         int64
	procsSum, usableNs float64
	procs, usable      int64
	best               path
}

// maxSegments is how many classes a path tells apart.
const maxSegments = 5

// path is the longest chain that ends at some instant of a goroutine. It is
// copied at each wake-up that makes a chain longer; so it is small, and of fixed
// size. Most chains have few classes; the rest of a longer one lies apart.
type path struct {
	ns   int64 // sum of seg, and of the rest
	hops int64
	seg  [nearSegments]Segment
	rest int32 // index in Accumulator.more, 0 for none
	n    int32
}

const nearSegments = 3

type rest struct {
	other int64
	seg   [maxSegments - nearSegments]Segment
}

type goroutine struct {
	from   int64 // since when it runs, as far as not yet in path; -1: it does not
	path   path
	class  int32
	system bool
	active bool // runs or is ready to
}

// New returns an Accumulator that has seen nothing. ps follows the Ps of the
// same stream, each decision before Add is called with it; nil: the Accumulator
// follows them itself.
func New(ps *procs.Tracker) *Accumulator {
	a := &Accumulator{ps: ps, gs: ids.NewTable[goroutine](), more: make([]rest, 1), usable: 1, procs: 1}
	if ps == nil {
		a.ps, a.own = procs.NewTracker(), true
	}
	return a
}

// Kinds are the decisions that Add does something for, where the Accumulator does
// not follow the Ps itself.
func Kinds() []reference.Kind {
	return []reference.Kind{
		reference.KindReady, reference.KindStart, reference.KindStop, reference.KindSyscall, reference.KindSyscallExit,
		reference.KindPStart, reference.KindPStop, reference.KindSTWEnd, reference.KindProcs,
	}
}

const notOfProgram = reference.FlagSystem | reference.FlagTracer | reference.FlagGC

// Add takes the next decision. It does not keep d.
func (a *Accumulator) Add(d *reference.Decision) {
	a.advance(d.Time)
	switch d.Kind {
	case reference.KindReady:
		if d.G >= 0 {
			a.ready(d)
		}
	case reference.KindStart, reference.KindSyscallExit:
		if d.G >= 0 && d.P >= 0 {
			if g := a.goroutine(d); g != nil {
				a.flush(g, 0)
				g.from = a.now
				a.setActive(g, true)
			}
		}
	case reference.KindSyscall:
		if d.G >= 0 {
			if g := a.goroutine(d); g != nil {
				a.stop(g, d.Stack)
			}
		}
	case reference.KindStop:
		if d.G >= 0 {
			if g := a.goroutine(d); g != nil {
				a.stop(g, d.Stack)
				if d.Why == reference.WhyExit || d.Why == reference.WhyLost {
					a.exit(d.G, a.gs.Find(d.G))
				}
			}
		}
	}
	if a.own {
		a.ps.Apply(d)
	}
	switch d.Kind {
	case reference.KindPStart, reference.KindPStop, reference.KindSTWEnd, reference.KindProcs:
		a.count()
	default:
		// Of the others only those of mark workers change what is usable.
		if d.Flags&reference.FlagGC != 0 {
			a.count()
		}
	}
}

func (a *Accumulator) count() {
	a.procs, a.usable = max(1, int64(a.ps.Procs())), a.ps.Usable()
}

func (a *Accumulator) advance(to int64) {
	dt := to - a.now
	if dt <= 0 {
		return
	}
	a.now = to
	if a.active > 0 {
		a.busy += dt
		a.procsSum += float64(a.procs) * float64(dt)
		a.usableNs += float64(a.usable) * float64(dt)
	}
}

// goroutine returns that of d; nil if it is none of the program.
func (a *Accumulator) goroutine(d *reference.Decision) *goroutine {
	i := a.gs.Find(d.G)
	if i == 0 {
		i = a.gs.Add(d.G)
		*a.gs.At(i) = goroutine{from: -1}
	}
	g := a.gs.At(i)
	if d.Class != 0 {
		g.class = d.Class
	}
	if d.Flags&notOfProgram != 0 && !g.system {
		a.setActive(g, false)
		a.drop(&g.path)
		g.system, g.from, g.path = true, -1, path{}
	}
	if g.system {
		if d.Kind == reference.KindStop && (d.Why == reference.WhyExit || d.Why == reference.WhyLost) {
			a.exit(d.G, i)
		}
		return nil
	}
	return g
}

func (a *Accumulator) setActive(g *goroutine, on bool) {
	if g.active != on {
		g.active = on
		if on {
			a.active++
		} else {
			a.active--
		}
	}
}

func (a *Accumulator) ready(d *reference.Decision) {
	g := a.goroutine(d)
	if g == nil {
		return
	}
	a.flush(g, 0)
	g.from = -1
	a.setActive(g, true)
	if d.By < 0 || d.By == d.G {
		return
	}
	i := a.gs.Find(d.By)
	if i == 0 {
		return
	}
	w := a.gs.At(i)
	if w.system || w.from < 0 {
		return
	}
	a.flush(w, d.Stack)
	if w.path.ns > g.path.ns {
		a.copy(&g.path, &w.path)
		g.path.hops++
	}
}

func (a *Accumulator) stop(g *goroutine, stack int32) {
	a.flush(g, stack)
	g.from = -1
	a.setActive(g, false)
}

// flush puts what g ran into the work and into its path.
func (a *Accumulator) flush(g *goroutine, stack int32) {
	if g.from < 0 {
		return
	}
	ns := a.now - g.from
	g.from = a.now
	if ns > 0 {
		a.work += ns
		a.extend(&g.path, Segment{Class: g.class, Stack: stack, Ns: ns, worst: ns})
	}
}

func (a *Accumulator) exit(id int64, place int32) {
	g := a.gs.At(place)
	a.keepBest(&g.path)
	a.drop(&g.path)
	a.gs.Remove(id, place)
}

func (a *Accumulator) keepBest(p *path) {
	if p.ns > a.best.ns {
		a.copy(&a.best, p)
	}
}

// copy makes to the path that from is.
func (a *Accumulator) copy(to, from *path) {
	i := to.rest
	*to = *from
	if from.rest == 0 {
		to.rest = i
		a.drop(to)
		return
	}
	if to.rest = i; i == 0 {
		a.lengthen(to)
	}
	a.more[to.rest] = a.more[from.rest]
}

// lengthen gives p room for all classes.
func (a *Accumulator) lengthen(p *path) {
	if n := len(a.free); n > 0 {
		p.rest, a.free = a.free[n-1], a.free[:n-1]
		a.more[p.rest] = rest{}
		return
	}
	p.rest = int32(len(a.more))
	a.more = append(a.more, rest{})
}

// drop gives back the room of p beyond the first classes.
func (a *Accumulator) drop(p *path) {
	if p.rest != 0 {
		a.free = append(a.free, p.rest)
		p.rest = 0
	}
}

// segment returns the i-th one of p.
func (a *Accumulator) segment(p *path, i int32) *Segment {
	if i < nearSegments {
		return &p.seg[i]
	}
	return &a.more[p.rest].seg[i-nearSegments]
}

// extend makes a path longer. Where it has too many classes, the one with least
// is given up.
func (a *Accumulator) extend(p *path, x Segment) {
	p.ns += x.Ns
	var least *Segment
	for i := range p.n {
		s := a.segment(p, i)
		if s.Class == x.Class {
			s.Ns += x.Ns
			if x.worst > s.worst && (x.Stack != 0 || s.Stack == 0) {
				s.worst, s.Stack = x.worst, x.Stack
			}
			return
		}
		if least == nil || s.Ns < least.Ns {
			least = s
		}
	}
	if p.n < maxSegments {
		if p.n == nearSegments {
			a.lengthen(p)
		}
		*a.segment(p, p.n) = x
		p.n++
		return
	}
	a.more[p.rest].other += least.Ns
	*least = x
}

// Finish returns the account of a stream that ended at endNs. The Accumulator
// cannot be used afterwards.
func (a *Accumulator) Finish(endNs int64) Result {
	a.advance(endNs)
	for i := int32(1); i < a.gs.Len(); i++ {
		g := a.gs.At(i)
		a.flush(g, 0)
		g.from = -1
		a.keepBest(&g.path)
	}
	b := &a.best
	r := Result{WorkNs: a.work, SpanNs: b.ns, BusyNs: a.busy, Hops: b.hops, OtherNs: a.more[b.rest].other, Path: make([]Segment, 0, b.n)}
	for i := range b.n {
		r.Path = append(r.Path, *a.segment(b, i))
	}
	if a.busy > 0 {
		r.Procs, r.Usable = a.procsSum/float64(a.busy), a.usableNs/float64(a.busy)
	}
	slices.SortFunc(r.Path, func(x, y Segment) int {
		return cmp.Or(cmp.Compare(y.Ns, x.Ns), cmp.Compare(x.Class, y.Class))
	})
	return r
}

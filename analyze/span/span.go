package span

import (
	"cmp"
	"iter"
	"slices"
)

// Result is work and span of the program's goroutines. Times are in ns.
type Result struct {
	WorkNs int64 `json:"work_ns"` // T1: time that they ran, system calls left out
	SpanNs int64 `json:"span_ns"` // Tinf: the longest chain of it
	// BusyNs is the time with at least one of them running or runnable.
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

// Segment is the part of the critical path by the goroutines of one class.
type Segment struct {
	Class int32 `json:"class"` // handle of the class: the Class of a reference.Decision
	// Stack is the handle of the stack at which the longest piece ended: the goroutine blocked
	// there, woke another or was preempted. 0 is none.
	Stack int32 `json:"stack"`
	Ns    int64 `json:"ns"` // running time on the path, summed
	worst int64
}

// Parallelism returns T1/Tinf: the most Ps that the work could keep busy on average. It
// is 0 if nothing ran.
func (r *Result) Parallelism() float64 {
	if r.SpanNs == 0 {
		return 0
	}
	return float64(r.WorkNs) / float64(r.SpanNs)
}

// BoundNs returns max(T1/P, Tinf), in ns: the least time of any scheduler.
func (r *Result) BoundNs() int64 {
	return max(int64(float64(r.WorkNs)/max(1, r.Procs)), r.SpanNs)
}

// ABPNs returns T1/Pa + Tinf·P/Pa, in ns: the order of the time that work stealing needs
// with Pa of P Ps usable.
func (r *Result) ABPNs() int64 {
	pa := r.Usable
	if pa <= 0 {
		return 0
	}
	return int64((float64(r.WorkNs) + float64(r.SpanNs)*r.Procs) / pa)
}

// Efficiency returns BoundNs / BusyNs: 1 means that no schedule is faster on these Ps. It
// is 0 if nothing ran.
func (r *Result) Efficiency() float64 {
	if r.BusyNs == 0 {
		return 0
	}
	return min(1, float64(r.BoundNs())/float64(r.BusyNs))
}

// RecoverableNs returns BusyNs − BoundNs: the most that better scheduling of the same
// program could gain, in ns.
func (r *Result) RecoverableNs() int64 { return max(0, r.BusyNs-r.BoundNs()) }

// Accumulator computes work and span. Its caller keeps a [Node] for each goroutine of the
// program, not of the runtime, and reports events: [Accumulator.Pass] first at each time,
// and [Accumulator.Ps] after changes of the Ps.
type Accumulator struct {
	now    int64
	since  int64  // when busy and the two sums below it were brought up to date
	more   []rest // of the paths that need it; index 0 is not used
	free   []int32
	active int64

	work, busy         int64
	procsSum, usableNs int64 // integrals over the busy time
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
	n    int8
	last int8 // the segment that was made longer last, if it is in seg
}

const nearSegments = 3

type rest struct {
	other int64
	seg   [maxSegments - nearSegments]Segment
}

// Node is the state of a goroutine in an [Accumulator], whose methods name goroutines by pointers to their
// Nodes, and classes and stacks by their handles. The zero value is a new goroutine. A Node must not be
// copied.
type Node struct {
	from   int64 // since when it runs, as far as not yet in path
	runs   bool
	active bool // runs or is ready to
	path   path
}

// New returns an empty Accumulator.
func New() *Accumulator { return &Accumulator{more: make([]rest, 1), usable: 1, procs: 1} }

// Pass advances time to now, in ns. Times must not decrease.
func (a *Accumulator) Pass(now int64) {
	a.now = now
}

// settle brings the integrals over the busy time up to date: what they are of is
// about to change.
func (a *Accumulator) settle() {
	dt := a.now - a.since
	a.since = a.now
	if a.active > 0 {
		a.busy += dt
		a.procsSum += a.procs * dt
		a.usableNs += a.usable * dt
	}
}

// Ps records the number of Ps from now on, and how many of them can run goroutines of the
// program.
func (a *Accumulator) Ps(procs, usable int64) {
	a.settle()
	a.procs, a.usable = max(1, procs), usable
}

// begin makes g active, and end makes it idle.
func (a *Accumulator) begin(g *Node) {
	if a.active == 0 {
		a.settle()
	}
	a.active++
	g.active = true
}

func (a *Accumulator) end(g *Node) {
	if a.active == 1 {
		a.settle()
	}
	a.active--
	g.active = false
}

// Ready records that g, of the class with a handle, is ready to run.
func (a *Accumulator) Ready(g *Node, class int32) {
	if g.runs {
		a.flush(g, class, 0)
		g.runs = false
	}
	if !g.active {
		a.begin(g)
	}
}

// Wake records that w, of the class with a handle, made g ready, at the stack with a handle.
func (a *Accumulator) Wake(g, w *Node, class, stack int32) {
	if !w.runs {
		return
	}
	a.flush(w, class, stack)
	if w.path.ns > g.path.ns {
		a.copy(&g.path, &w.path)
		g.path.hops++
	}
}

// Run records that g, of the class with a handle, runs from now on.
func (a *Accumulator) Run(g *Node, class int32) {
	if g.runs {
		a.flush(g, class, 0)
	}
	g.from, g.runs = a.now, true
	if !g.active {
		a.begin(g)
	}
}

// Stop records that g, of the class with a handle, stopped at the stack with a handle, or entered a
// system call there.
func (a *Accumulator) Stop(g *Node, class, stack int32) {
	if g.runs {
		a.flush(g, class, stack)
		g.runs = false
	}
	if g.active {
		a.end(g)
	}
}

// Call records a system call of g at a stack, from one time to another, in ns: Stop, Pass
// and Run in one.
func (a *Accumulator) Call(g *Node, class, stack int32, from, to int64) {
	a.Pass(from)
	if !g.runs || a.active <= 1 { // somebody is active only then
		a.Stop(g, class, stack)
		a.Pass(to)
		a.Run(g, class)
		return
	}
	a.flush(g, class, stack)
	a.Pass(to)
	g.from = a.now
}

// flush puts what g, which runs, ran into the work and into its path.
func (a *Accumulator) flush(g *Node, class, stack int32) {
	ns := a.now - g.from
	if ns <= 0 {
		return
	}
	g.from = a.now
	a.work += ns
	p := &g.path
	p.ns += ns
	if s := &p.seg[p.last]; s.Class == class && p.n > 0 {
		s.add(stack, ns)
		return
	}
	a.extend(p, class, stack, ns)
}

// Exit records the end of g, which has stopped.
func (a *Accumulator) Exit(g *Node) {
	a.keepBest(&g.path)
	a.drop(&g.path)
	*g = Node{}
}

// Forget records that g is no goroutine of the program. No other event of it may follow.
func (a *Accumulator) Forget(g *Node) {
	if g.active {
		a.end(g)
	}
	a.drop(&g.path)
	*g = Node{}
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
func (a *Accumulator) segment(p *path, i int8) *Segment {
	if i < nearSegments {
		return &p.seg[i]
	}
	return &a.more[p.rest].seg[i-nearSegments]
}

// extend adds a piece of ns to the segments of a path. Where it has too many
// classes, the one with least is given up.
func (a *Accumulator) extend(p *path, class, stack int32, ns int64) {
	var least *Segment
	for i := range p.n {
		s := a.segment(p, i)
		if s.Class == class {
			s.add(stack, ns)
			if i < nearSegments {
				p.last = i
			}
			return
		}
		if least == nil || s.Ns < least.Ns {
			least = s
		}
	}
	x := Segment{Class: class, Stack: stack, Ns: ns, worst: ns}
	if p.n < maxSegments {
		if p.n == nearSegments {
			a.lengthen(p)
		}
		*a.segment(p, p.n) = x
		if p.n < nearSegments {
			p.last = p.n
		}
		p.n++
		return
	}
	a.more[p.rest].other += least.Ns
	*least = x
}

func (s *Segment) add(stack int32, ns int64) {
	s.Ns += ns
	if ns > s.worst && (stack != 0 || s.Stack == 0) {
		s.worst, s.Stack = ns, stack
	}
}

// Finish returns the result for a stream that ended at endNs, in ns. all yields at least the
// live goroutines, each with the handle of its class, in a deterministic order. The
// Accumulator cannot be used afterwards.
func (a *Accumulator) Finish(endNs int64, all iter.Seq2[int32, *Node]) Result {
	a.Pass(endNs)
	a.settle()
	for class, g := range all {
		if g.runs {
			a.flush(g, class, 0)
		}
		a.keepBest(&g.path)
	}
	b := &a.best
	r := Result{WorkNs: a.work, SpanNs: b.ns, BusyNs: a.busy, Hops: b.hops, OtherNs: a.more[b.rest].other, Path: make([]Segment, 0, b.n)}
	for i := range b.n {
		r.Path = append(r.Path, *a.segment(b, i))
	}
	if a.busy > 0 {
		r.Procs, r.Usable = float64(a.procsSum)/float64(a.busy), float64(a.usableNs)/float64(a.busy)
	}
	slices.SortFunc(r.Path, func(x, y Segment) int {
		return cmp.Or(cmp.Compare(y.Ns, x.Ns), cmp.Compare(x.Class, y.Class))
	})
	return r
}

package waits

import (
	"fmt"
	"math"
	"testing"

	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
	"github.com/gmpscope/gmpscope/reference"
)

// BenchmarkQueued is the steady state of a program with many goroutines queued:
// each P runs the head of its own queue (or, in the second variant, of the
// global one) for some µs and puts it back at the tail, while a pair that wakes
// each other through runnext overtakes all the others.
func BenchmarkQueued(b *testing.B) {
	for _, global := range []bool{false, true} {
		for _, np := range []int32{1, 8, 64} {
			for _, n := range []int{100, 10_000, 100_000} {
				where := "local"
				if global {
					where = "global"
				}
				b.Run(fmt.Sprintf("%s/P%d/queued%d", where, np, n), func(b *testing.B) {
					benchmarkQueued(b, np, n, global)
				})
			}
		}
	}
}

func benchmarkQueued(b *testing.B, np int32, n int, global bool) {
	_, step := queued(np, n, global)
	for i := range 4*n + 1000*int(np) {
		step(i)
	}
	b.ReportAllocs()
	b.ResetTimer()
	i := 0
	for b.Loop() {
		step(i)
		i++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(3*i), "ns/decision")
}

// queued returns an account of np Ps with n goroutines queued, and what does a
// step of three decisions.
func queued(np int32, n int, global bool) (a driven, step func(i int)) {
	a = drive(New(Options{}))
	d := reference.Decision{Kind: reference.KindProcs, Batch: np}
	add := func(k reference.Kind, t, g int64, p int32, to reference.Queue) {
		d = reference.Decision{Kind: k, Time: t, G: g, P: p, To: to, Class: 1 + int32(g&3)}
		a.Add(&d)
	}
	a.Add(&d)
	var now int64
	heads := make([]int, np)
	queues := make([][]int64, np)
	for p := range np {
		now += 10
		add(reference.KindPStart, now, 0, p, 0)
	}
	to, qp := reference.QueueLocal, func(p int32) int32 { return p }
	if global {
		to, qp = reference.QueueGlobal, func(int32) int32 { return reference.NoP }
	}
	for g := range n {
		now += 10
		p := int32(g) % np
		queues[p] = append(queues[p], int64(g))
		add(reference.KindReady, now, int64(g), qp(p), to)
	}
	pair := int64(n)
	return a, func(i int) {
		p := int32(i) % np
		now += 300
		if i%5 == 0 {
			q := queues[p]
			g := q[heads[p]]
			heads[p] = (heads[p] + 1) % len(q)
			add(reference.KindStart, now, g, p, 0)
			now += 2000
			add(reference.KindStop, now, g, p, 0)
			add(reference.KindReady, now, g, qp(p), to)
			return
		}
		g := pair + int64(p)
		add(reference.KindReady, now, g, p, reference.QueueRunnext)
		add(reference.KindStart, now+50, g, p, 0)
		now += 400
		add(reference.KindStop, now, g, p, 0)
	}
}

// TestCost is what a step costs with 1,000 and with 100,000 goroutines queued,
// counted, not timed: no allocation, and an order of each queue (all that grows)
// that is a list, where paths have one node, or a balanced tree.
func TestCost(t *testing.T) {
	for _, global := range []bool{false, true} {
		for _, n := range []int{1_000, 100_000} {
			if !tracetest.Long() {
				n = min(n, 20_000)
			}
			const np = 4
			a, step := queued(np, n, global)
			i := 0
			for ; i < n+20_000; i++ { // the past of the Ps fills its rings
				step(i)
			}
			if got := testing.AllocsPerRun(1000, func() { step(i); i++ }); got > 0 {
				t.Errorf("global %v, %d queued: %v allocations a step", global, n, got)
			}
			o, size := &a.pool.q.order, n
			if !global {
				o, size = &a.procs[0].q.order, n/np
			}
			paths, nodes := 0, 0
			var walk func(v int32, depth int)
			walk = func(v int32, depth int) {
				if v != 0 {
					paths += depth
					nodes++
					walk(a.nodes[v].left, depth+1)
					walk(a.nodes[v].right, depth+1)
				}
			}
			walk(o.root, 1)
			for v := o.first; v != 0; v = a.nodes[v].right {
				paths++
				nodes++
			}
			if nodes < size-np {
				t.Errorf("global %v: %d of %d queued", global, nodes, size)
			}
			if mean, most := float64(paths)/float64(nodes), 3*math.Log2(float64(size)); mean > most {
				t.Errorf("global %v, %d queued: paths of %.1f nodes on average, at most %.1f", global, n, mean, most)
			}
		}
	}
}

// BenchmarkDrain starts 100,000 goroutines that all were queued first, so that
// each wait is longer than all before it.
func BenchmarkDrain(b *testing.B) {
	const n = 100_000
	b.ReportAllocs()
	for b.Loop() {
		a := drive(New(Options{}))
		for g := range int64(n) {
			a.Add(&reference.Decision{Kind: reference.KindReady, Time: g, G: g, Class: 1, P: reference.NoP, To: reference.QueueGlobal})
		}
		for g := range int64(n) {
			t := n + 300*g
			a.Add(&reference.Decision{Kind: reference.KindStart, Time: t, G: g, Class: 1})
			a.Add(&reference.Decision{Kind: reference.KindStop, Time: t + 200, G: g, Class: 1, Why: reference.WhyExit})
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(3*n*b.N), "ns/decision")
}

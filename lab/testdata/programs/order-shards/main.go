// Order-shards routes orders by customer to four shards, each of which applies
// its orders one after the other.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type order struct{ customer, number int }

type shard struct {
	in   chan order
	busy time.Duration
}

type router struct{ shards [4]*shard }

func (r *router) pick(o order) *shard { return r.shards[o.customer%len(r.shards)] }

func (s *shard) run() {
	for o := range s.in {
		start := time.Now()
		s.apply(o)
		s.busy += time.Since(start)
	}
}

func (s *shard) apply(o order) { rec.Work(400 + o.number%50) }

func main() {
	var r router
	var workers, accepts sync.WaitGroup
	var blocked [3]time.Duration
	rec.Start()
	begin := time.Now()
	for i := range r.shards {
		s := &shard{in: make(chan order, 16)}
		r.shards[i] = s
		workers.Go(s.run)
	}
	for i := range blocked {
		accepts.Go(func() { blocked[i] = acceptOrders(&r, 400) })
	}
	accepts.Wait()
	var busy []time.Duration
	for _, s := range r.shards {
		close(s.in)
	}
	workers.Wait()
	took := time.Since(begin)
	rec.Stop()
	for _, s := range r.shards {
		busy = append(busy, s.busy)
	}
	fmt.Fprintf(os.Stderr, "proof: of %v, the shards were busy for %v; the accepts were blocked for %v\n", took, busy, blocked)
}

func acceptOrders(r *router, n int) (blocked time.Duration) {
	for number := range n {
		o := order{customer: 6, number: number}
		if number%20 == 0 {
			o.customer = number / 20
		}
		rec.Work(40)
		start := time.Now()
		r.pick(o).in <- o
		blocked += time.Since(start)
	}
	return blocked
}

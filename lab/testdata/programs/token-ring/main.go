// Token-ring has two peers pass a token to each other and stamp it, and
// reports the depths of four queues every 3 ms.
package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type token struct{ rounds, stamps int }

type peer struct {
	in   <-chan *token
	next chan<- *token
	last int
}

func (p *peer) run(stop *atomic.Bool) {
	defer close(p.next)
	for t := range p.in {
		if stop.Load() {
			return
		}
		p.pass(t)
	}
}

func (p *peer) pass(t *token) {
	t.rounds++
	t.stamps += t.rounds & 7
	p.last = t.rounds
	rec.Work(25)
	p.next <- t
}

func reportDepth(n int) { rec.Work(50 + n%7) }

// reportDepths reports the depths of four queues, and returns when each report
// was done.
func reportDepths(n int) []time.Duration {
	took := make([]time.Duration, 4)
	var reports sync.WaitGroup
	start := time.Now()
	for i := range took {
		reports.Go(func() {
			reportDepth(n + i)
			took[i] = time.Since(start)
		})
	}
	reports.Wait()
	return took
}

func measure(n int) (late []time.Duration) {
	for i := range n {
		time.Sleep(3 * time.Millisecond)
		late = append(late, reportDepths(i)...)
	}
	return late
}

func main() {
	a, b := make(chan *token, 1), make(chan *token, 1)
	left, right := &peer{in: a, next: b}, &peer{in: b, next: a}
	var stop atomic.Bool
	var peers sync.WaitGroup
	rec.Start()
	peers.Go(func() { left.run(&stop) })
	peers.Go(func() { right.run(&stop) })
	t := &token{}
	a <- t
	late := measure(30)
	stop.Store(true)
	peers.Wait()
	rec.Stop()
	slices.Sort(late)
	fmt.Fprintf(os.Stderr, "proof: the token made %d passes; reports of 0.05 ms took p50 %v, p90 %v\n", max(left.last, right.last), late[len(late)/2], late[len(late)*9/10])
}

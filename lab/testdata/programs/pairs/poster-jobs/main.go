// Poster-jobs renders posters as they are ordered. Before, a fixed pool of
// workers takes the orders from a channel; after, each order has a goroutine of
// its own, and a semaphore lets as many render as there were workers.
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	orders  = 360
	period  = 2500 * time.Microsecond
	workers = 4
)

type order struct {
	id, size int
	due      time.Time
}

// A shop renders orders; Submit does not wait for that.
type shop interface {
	Submit(o order)
	Close() // returns when all orders are rendered
}

type press struct {
	took []time.Duration
}

// render renders a poster.
func (p *press) render(o order) {
	rec.Work(500 + 100*o.size)
	p.took[o.id] = time.Since(o.due)
}

type poolShop struct {
	orders  chan order
	workers sync.WaitGroup
}

func newPoolShop(p *press) *poolShop {
	s := &poolShop{orders: make(chan order, orders)}
	for range workers {
		s.workers.Go(func() {
			for o := range s.orders {
				p.render(o)
			}
		})
	}
	return s
}

func (s *poolShop) Submit(o order) { s.orders <- o }

func (s *poolShop) Close() {
	close(s.orders)
	s.workers.Wait()
}

type slotShop struct {
	press *press
	slots chan struct{}
	open  sync.WaitGroup
}

func newSlotShop(p *press) *slotShop {
	return &slotShop{press: p, slots: make(chan struct{}, workers)}
}

func (s *slotShop) Submit(o order) {
	s.open.Go(func() {
		s.slots <- struct{}{}
		defer func() { <-s.slots }()
		s.press.render(o)
	})
}

func (s *slotShop) Close() { s.open.Wait() }

func main() {
	p := &press{took: make([]time.Duration, orders)}
	var s shop
	if os.Getenv("SIDE") == "after" {
		s = newSlotShop(p)
	} else {
		s = newPoolShop(p)
	}
	rng := rand.New(rand.NewPCG(21, 4))
	rec.Start()
	start := time.Now()
	for id := range orders {
		due := start.Add(time.Duration(id) * period)
		time.Sleep(time.Until(due))
		s.Submit(order{id, rng.IntN(6), due})
	}
	s.Close()
	rec.Stop()
	slices.Sort(p.took)
	fmt.Fprintf(os.Stderr, "proof: %d orders (0.5 to 1 ms of work), p50 %v, p90 %v, p99 %v\n",
		orders, p.took[orders/2], p.took[orders*9/10], p.took[orders*99/100])
}

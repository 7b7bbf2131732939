// Route-planner works out tours for couriers: for each stop of a tour, it tries
// the roads to it, and for each road the times of departure.
package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	stops      = 30
	roads      = 16
	departures = 8
)

type planner struct {
	options atomic.Int64
	most    atomic.Int64 // goroutines at once
}

// planTour returns when all options have been tried.
func (p *planner) planTour(tour int) {
	var wg sync.WaitGroup
	for stop := range stops {
		wg.Go(func() { p.expandStop(tour, stop) })
	}
	wg.Wait()
}

func (p *planner) expandStop(tour, stop int) {
	var wg sync.WaitGroup
	for road := range roads {
		wg.Go(func() { p.expandRoad(tour, stop, road) })
	}
	wg.Wait()
}

func (p *planner) expandRoad(tour, stop, road int) {
	var wg sync.WaitGroup
	for departure := range departures {
		wg.Go(func() { p.estimate(tour, stop, road, departure) })
	}
	wg.Wait()
}

func (p *planner) estimate(int, int, int, int) {
	rec.Work(15)
	p.most.Store(max(p.most.Load(), int64(runtime.NumGoroutine())))
	p.options.Add(1)
}

func main() {
	p := &planner{}
	var busy, tracking sync.WaitGroup
	var late []time.Duration
	rec.Start()
	tracking.Go(func() { late = trackCouriers() })
	for tour := range 5 {
		busy.Go(func() { p.planTour(tour) })
		time.Sleep(90 * time.Millisecond)
	}
	busy.Wait()
	tracking.Wait()
	rec.Stop()
	slices.Sort(late)
	fmt.Fprintf(os.Stderr, "proof: %d options, up to %d goroutines at once; positions were late by p50 %v, p95 %v\n",
		p.options.Load(), p.most.Load(), late[len(late)/2], late[len(late)*95/100])
}

// trackCouriers takes a position every 2 ms, and returns how late each was.
func trackCouriers() []time.Duration {
	var late []time.Duration
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	for range 200 {
		due := <-ticker.C
		late = append(late, time.Since(due))
		rec.Work(25)
	}
	return late
}

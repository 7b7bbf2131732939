// Alert-rules checks the readings of devices against rules and sends alerts.
// Before, each reading got a goroutine of its own; after, four workers take
// them from a queue.
package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	rounds = 150
	batch  = 6
	period = 5 * time.Millisecond
)

type reading struct {
	id    int
	value int
	came  time.Time
}

type alerter struct {
	queue chan reading // nil: a goroutine for each reading
	took  []time.Duration
	open  sync.WaitGroup
}

func main() {
	a := &alerter{took: make([]time.Duration, rounds*batch)}
	rec.Start()
	var workers sync.WaitGroup
	if os.Getenv("SIDE") == "after" {
		a.queue = make(chan reading, 4*batch)
		for range 4 {
			workers.Go(a.work)
		}
	}
	a.receive()
	a.open.Wait()
	if a.queue != nil {
		close(a.queue)
	}
	workers.Wait()
	rec.Stop()
	slices.Sort(a.took)
	n := len(a.took)
	fmt.Fprintf(os.Stderr, "proof: %d readings, p50 %v, p90 %v, p99 %v\n", n, a.took[n/2], a.took[n*9/10], a.took[n*99/100])
}

// receive takes a few readings at each tick.
func (a *alerter) receive() {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for round := range rounds {
		<-ticker.C
		for i := range batch {
			r := reading{round*batch + i, round * i % 97, time.Now()}
			a.open.Add(1)
			if a.queue != nil {
				a.queue <- r
			} else {
				go a.check(r)
			}
		}
	}
}

func (a *alerter) work() {
	for r := range a.queue {
		a.check(r)
	}
}

// check checks a reading against all rules.
func (a *alerter) check(r reading) {
	defer a.open.Done()
	for rule := range 5 {
		if rec.Work(20)%101 == uint64(r.value+rule) {
			rec.Work(1)
		}
	}
	a.took[r.id] = time.Since(r.came)
}

// Trigger sleeps for a millisecond at a time, beside goroutines that compute on
// all Ps: a timer fires only when a P comes through its scheduler, at the end of
// a time slice (golang/go#38860).
//
// Near-miss has one goroutine that computes: the other P has time for the timers. It
// sleeps for times drawn by lot.
//
//gmpscope:case procs=2 go=go1.26.8 want=timer-lateness:warning may=starvation,convoy,late-preemption
//gmpscope:case procs=2 go=go1.23.12 want=timer-lateness:warning may=starvation,convoy,late-preemption
//gmpscope:case case=near-miss procs=2 go=go1.26.8 want=
package main

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	sleepers = 4
	tickers  = 2
)

// Sleeps are of a millisecond, and up to more beyond it.
var (
	computers = 2
	running   = time.Second
	more      = time.Duration(1)
)

func main() {
	if rec.Case() == "near-miss" {
		computers, running, more = 1, 500*time.Millisecond, 10*time.Millisecond
	}
	rec.Start()
	end := time.Now().Add(running)
	var done sync.WaitGroup
	done.Add(computers + sleepers + tickers)
	for range computers {
		go compute(end, &done)
	}
	for range sleepers {
		go sleeper(end, &done)
	}
	for range tickers {
		go ticked(end, &done)
	}
	done.Wait()
	rec.Stop()
}

func compute(end time.Time, done *sync.WaitGroup) {
	defer done.Done()
	for time.Now().Before(end) {
		rec.Work(1000)
	}
}

func sleeper(end time.Time, done *sync.WaitGroup) {
	defer done.Done()
	for time.Now().Before(end) {
		time.Sleep(time.Millisecond + rand.N(more))
		rec.Work(20)
	}
}

func ticked(end time.Time, done *sync.WaitGroup) {
	defer done.Done()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for now := range ticker.C {
		if !now.Before(end) {
			return
		}
		rec.Work(20)
	}
}

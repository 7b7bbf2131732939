// Trigger sleeps for a millisecond at a time, beside goroutines that compute on
// all Ps: a timer fires only when a P comes through its scheduler, at the end of
// a time slice (golang/go#38860).
//
//gmpscope:case procs=2 go=go1.26.8 want=timer-lateness:warning may=starvation,convoy,late-preemption
//gmpscope:case procs=2 go=go1.23.12 want=timer-lateness:warning may=starvation,convoy,late-preemption
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/rec"
)

const (
	sleepers  = 4
	tickers   = 2
	computers = 2
	running   = time.Second
)

func main() {
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
		time.Sleep(time.Millisecond)
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

// Near-miss sleeps for times drawn by lot, and waits for tickers, beside
// one goroutine that computes: the other P has time for the timers.
//
//gmpscope:case procs=2 go=go1.26.8 want=
package main

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/rec"
)

const (
	sleepers  = 4
	tickers   = 2
	computers = 1
	running   = 500 * time.Millisecond
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
		time.Sleep(time.Millisecond + rand.N(10*time.Millisecond))
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

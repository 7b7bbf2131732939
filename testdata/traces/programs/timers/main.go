// Timers wakes goroutines by the clock in the four usual ways: Sleep, a
// ticker, a timer channel, and AfterFunc.
//
// The trace must show, all from events without a goroutine in their context
// (the timers are run by a P's scheduler): twenty goroutines of class
// main.sleeper that block on "sleep" ten times each; five of class main.ticked
// that block on "chan receive"; one of class main.timeout that blocks on
// "select"; and 50 of class main.fired, which no goroutine created, since
// their 50 timers were due at the same moment: those that one P's scheduler
// runs in a row fill its local run queue, the last one first in runnext.
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	sleepers = 20
	sleeps   = 10
	tickers  = 5
	ticks    = 10
	funcs    = 50
)

var all sync.WaitGroup

func main() {
	rec.Start()
	all.Add(sleepers + tickers + 1 + funcs)
	for i := 0; i < sleepers; i++ {
		go sleeper()
	}
	for i := 0; i < tickers; i++ {
		go ticked()
	}
	go timeout()
	due := time.Now().Add(20 * time.Millisecond)
	for i := 0; i < funcs; i++ {
		time.AfterFunc(time.Until(due), fired)
	}
	all.Wait()
	rec.Stop()
}

func sleeper() {
	for i := 0; i < sleeps; i++ {
		time.Sleep(3 * time.Millisecond)
		rec.Work(20)
	}
	all.Done()
}

func ticked() {
	ticker := time.NewTicker(4 * time.Millisecond)
	for i := 0; i < ticks; i++ {
		<-ticker.C
		rec.Work(20)
	}
	ticker.Stop()
	all.Done()
}

func timeout() {
	never := make(chan int)
	select {
	case <-never:
	case <-time.After(25 * time.Millisecond):
	}
	all.Done()
}

func fired() {
	rec.Work(50)
	all.Done()
}

// Ticker-storm has hundreds of goroutines, each with a ticker of its own, all of
// which were started together: they are due at once, and the last of them gets a P
// milliseconds late.
//
//gmpscope:case procs=2 go=go1.26.8 want=timer-lateness:warning may=starvation,convoy,thundering-herd,runnable-burst
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	tickers = 300
	period  = 25 * time.Millisecond
	ticks   = 20
)

func main() {
	rec.Start()
	var done sync.WaitGroup
	done.Add(tickers)
	for range tickers {
		go ticked(time.NewTicker(period), &done)
	}
	done.Wait()
	rec.Stop()
}

func ticked(t *time.Ticker, done *sync.WaitGroup) {
	defer done.Done()
	defer t.Stop()
	for range ticks {
		<-t.C
		rec.Work(50)
	}
}

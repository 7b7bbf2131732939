// Two hundred connections each have a ticker of their own for keep-alives, all
// made at the same moment and with the same period: they fire together, and
// each has next to nothing to do.
//
//gmpscope:case procs=2 go=go1.26.8 want=thundering-herd:warning may=wakeup-cost
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	conns  = 200
	period = 20 * time.Millisecond
)

func main() {
	rec.Start()
	var wg sync.WaitGroup
	wg.Add(conns)
	for range conns {
		go keepAlive(&wg)
	}
	wg.Wait()
	rec.Stop()
}

func keepAlive(wg *sync.WaitGroup) {
	defer wg.Done()
	t := time.NewTicker(period)
	defer t.Stop()
	for range 10 {
		<-t.C
		rec.Work(5)
	}
}

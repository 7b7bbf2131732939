// Timers is driven by time alone: twenty goroutines each wake every five
// milliseconds and work for 30 µs, as heartbeats and polls do.
//
// All is well: together they need an eighth of one P.
//
//gmpscope:case procs=1 go=go1.26.8 want=
//gmpscope:case procs=2 go=go1.26.8 want=
//gmpscope:case procs=2 go=go1.22.12 want=
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	rec.Start()
	var wg sync.WaitGroup
	for i := 0; i < 20; i++ {
		wg.Add(1)
		go heartbeat(&wg)
	}
	wg.Wait()
	rec.Stop()
}

func heartbeat(wg *sync.WaitGroup) {
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for i := 0; i < 60; i++ {
		<-ticker.C
		rec.Work(30)
	}
	wg.Done()
}

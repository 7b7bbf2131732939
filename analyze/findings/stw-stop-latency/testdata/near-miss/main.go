// Near-miss stops the world far more often than trigger does, beside the same
// loop; but the loop can be interrupted, and so the world stops at once.
//
//gmpscope:case procs=2 go=go1.26.8 want= may=stop-the-world-calls
//gmpscope:case procs=2 go=go1.24.9 want= may=stop-the-world-calls
package main

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	rec.Start()
	var stop atomic.Bool
	done := make(chan bool)
	go func() {
		for !stop.Load() {
			rec.Work(5000)
		}
		close(done)
	}()
	var stats runtime.MemStats
	for range 200 {
		time.Sleep(2 * time.Millisecond)
		runtime.ReadMemStats(&stats)
	}
	stop.Store(true)
	<-done
	rec.Stop()
}

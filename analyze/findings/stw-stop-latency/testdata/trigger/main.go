// Trigger runs a loop without calls, with asynchronous preemption off, beside
// a goroutine that asks for the memory statistics every few milliseconds. Each
// time the world can stop only when the loop is through, up to 5 ms later: the
// state of golang/go#10958, and of every such loop before Go 1.14.
//
//gmpscope:case procs=2 go=go1.26.8 want=stw-stop-latency:warning env=GODEBUG=asyncpreemptoff=1 may=stop-the-world-calls
//gmpscope:case procs=2 go=go1.24.9 want=stw-stop-latency:warning env=GODEBUG=asyncpreemptoff=1 may=stop-the-world-calls
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
			piece()
		}
		close(done)
	}()
	var stats runtime.MemStats
	for range 60 {
		time.Sleep(7 * time.Millisecond)
		runtime.ReadMemStats(&stats)
	}
	stop.Store(true)
	<-done
	rec.Stop()
}

// piece can be interrupted when it begins, and not before it ends.
//
//go:noinline
func piece() { rec.Work(5000) }

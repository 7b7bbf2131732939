// Big-copy copies 64 MB at a time, beside a goroutine that runs one GC cycle
// after another. A copy is one call of assembly code that cannot be interrupted,
// whatever GODEBUG says: a cycle can begin, and end, only when it is through.
//
//gmpscope:case procs=2 go=go1.26.8 want=stw-stop-latency:warning may=stop-the-world-calls,late-preemption
package main

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	from, to := make([]byte, 64<<20), make([]byte, 64<<20)
	copy(to, from) // the first time takes longer
	rec.Start()
	var stop atomic.Bool
	done := make(chan bool)
	go func() {
		for !stop.Load() {
			copy(to, from)
			rec.Work(500)
		}
		close(done)
	}()
	for range 30 {
		time.Sleep(10 * time.Millisecond)
		runtime.GC()
	}
	stop.Store(true)
	<-done
	rec.Stop()
}

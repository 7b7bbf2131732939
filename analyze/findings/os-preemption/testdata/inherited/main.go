// Inherited has goroutines that compute for 12 ms and then sleep for one. Whoever
// is preempted, after 10 to 20 ms of a time slice, is often followed by one whose
// timer is due, which inherits the slice and is preempted 10 ms later: the slice
// lasts for 30 ms and more, but nobody was late to end it.
//
//gmpscope:case procs=1 go=go1.26.8 want= may=convoy,starvation,preemption-thrash,timer-lateness,late-preemption
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	computers = 3
	rounds    = 20
)

func main() {
	rec.Start()
	var done sync.WaitGroup
	for range computers {
		done.Add(1)
		go compute(&done)
	}
	done.Wait()
	rec.Stop()
}

func compute(done *sync.WaitGroup) {
	for range rounds {
		rec.Work(12_000)
		time.Sleep(time.Millisecond)
	}
	done.Done()
}

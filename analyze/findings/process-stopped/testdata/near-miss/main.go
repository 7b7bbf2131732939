// Near-miss is a service that is silent now and then: each of its two handlers
// computes for 15 ms at a time, and once in a while nobody asks for 40 ms.
//
//gmpscope:case procs=2 go=go1.26.8 want= may=serialization,os-preemption,late-preemption
package main

import (
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const rounds = 12

func main() {
	rec.Start()
	requests := make(chan int)
	for range 2 {
		go handle(requests)
	}
	for round := range rounds {
		requests <- 1
		time.Sleep(time.Duration(5+3*round) * time.Millisecond)
	}
	rec.Stop()
}

func handle(requests chan int) {
	for range requests {
		rec.Work(15_000)
	}
}

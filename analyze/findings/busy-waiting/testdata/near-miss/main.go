// Near-miss computes on one of two Ps all the time, which is what it is for. Others
// have little to do, and a P to do it on.
//
//gmpscope:case procs=2 go=go1.26.8 want= may=serialization,os-preemption,late-preemption,work-conservation
package main

import (
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const lasting = 200 * time.Millisecond

func main() {
	rec.Start()
	go compute()
	for end := time.Now().Add(lasting); time.Now().Before(end); {
		rec.Work(50)
		time.Sleep(2 * time.Millisecond)
	}
	rec.Stop()
}

func compute() {
	for {
		rec.Work(5000)
	}
}

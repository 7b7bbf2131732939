// Clock paces its work by looking at the clock until it is time.
//
//gmpscope:case procs=2 go=go1.26.8 want=busy-waiting:warning may=serialization,convoy,starvation,os-preemption,work-conservation,late-preemption,timer-lateness,slow-stage
package main

import (
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const lasting = 300 * time.Millisecond

func main() {
	rec.Start()
	go pace()
	for end := time.Now().Add(lasting); time.Now().Before(end); {
		rec.Work(100)
		time.Sleep(time.Millisecond)
	}
	rec.Stop()
}

func pace() {
	for next := time.Now(); ; {
		next = next.Add(3 * time.Millisecond)
		for time.Now().Before(next) {
		}
		rec.Work(20)
	}
}

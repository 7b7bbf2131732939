// Ping-pong is a pair that passes a counter to and fro and does nothing else, while
// others have a little to do on the other P.
//
//gmpscope:case procs=2 go=go1.26.8 want=wakeup-cost may=steal-storm,runnext-monopoly,p-thrash,starvation,serialization,work-conservation,locality-loss,convoy,os-preemption
package main

import (
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const lasting = 9 * time.Millisecond

func main() {
	rec.Start()
	there, back := make(chan int), make(chan int)
	go ping(there, back)
	go pong(there, back)
	for end := time.Now().Add(lasting); time.Now().Before(end); {
		rec.Work(100)
		time.Sleep(time.Millisecond)
	}
	rec.Stop()
}

func ping(there, back chan int) {
	for i := 0; ; i++ {
		there <- i
		<-back
	}
}

func pong(there, back chan int) {
	for n := range there {
		back <- n
	}
}

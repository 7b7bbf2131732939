// Hot-shard hands requests to four workers by a hash that sends nine of ten to the
// first of them. Its channel is full, and the others have nothing to do.
//
//gmpscope:case procs=2 go=go1.26.8 want=slow-stage:warning may=serialization,convoy,starvation,os-preemption,work-conservation,steal-storm,locality-loss,runnext-monopoly
package main

import (
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const lasting = 300 * time.Millisecond

func main() {
	rec.Start()
	var shards []chan int
	for range 4 {
		c := make(chan int, 8)
		shards = append(shards, c)
		go serve(c)
	}
	go route(shards)
	time.Sleep(lasting)
	rec.Stop()
}

func route(shards []chan int) {
	for i := 0; ; i++ {
		rec.Work(5)
		to := 0
		if i%10 == 0 {
			to = 1 + i/10%3
		}
		shards[to] <- i
	}
}

func serve(requests <-chan int) {
	for range requests {
		rec.Work(300)
	}
}

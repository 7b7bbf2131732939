// Trigger is a pipeline of three readers, one encoder and three writers: the encoder
// takes 400 µs for what the others do in 50.
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
	read, encoded := make(chan int, 4), make(chan int, 4)
	for range 3 {
		go reader(read)
		go writer(encoded)
	}
	go encoder(read, encoded)
	time.Sleep(lasting)
	rec.Stop()
}

func reader(out chan<- int) {
	for i := 0; ; i++ {
		rec.Work(50)
		out <- i
	}
}

func encoder(in <-chan int, out chan<- int) {
	for n := range in {
		rec.Work(400)
		out <- n
	}
}

func writer(in <-chan int) {
	for range in {
		rec.Work(50)
	}
}

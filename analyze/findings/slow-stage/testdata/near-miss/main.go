// Near-miss is a pipeline whose three stages take the same time.
//
//gmpscope:case procs=2 go=go1.26.8 want= may=os-preemption,work-conservation,locality-loss,starvation,steal-storm
package main

import (
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const lasting = 200 * time.Millisecond

func main() {
	rec.Start()
	read, encoded := make(chan int, 4), make(chan int, 4)
	go reader(read)
	go encoder(read, encoded)
	go writer(encoded)
	time.Sleep(lasting)
	rec.Stop()
}

func reader(out chan<- int) {
	for i := 0; ; i++ {
		rec.Work(200)
		out <- i
	}
}

func encoder(in <-chan int, out chan<- int) {
	for n := range in {
		rec.Work(200)
		out <- n
	}
}

func writer(in <-chan int) {
	for range in {
		rec.Work(200)
	}
}

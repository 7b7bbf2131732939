// A reader that waits for the outside world hands an item to a worker every
// 2 ms: one goroutine after the other runs, and never two at once. But the
// program is idle most of the time, so there is nothing to gain.
//
//gmpscope:case procs=2 go=go1.26.8 want=
package main

import (
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const items = 80

func main() {
	rec.Start()
	in := make(chan int)
	done := make(chan bool)
	go work(in, done)
	for i := range items {
		time.Sleep(2 * time.Millisecond)
		rec.Work(200)
		in <- i
	}
	close(in)
	<-done
	rec.Stop()
}

func work(in <-chan int, done chan<- bool) {
	for range in {
		rec.Work(200)
	}
	done <- true
}

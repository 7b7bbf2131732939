// A pipeline of three stages: one goroutine reads, four transform, one writes.
// Reading takes 300 µs for an item, transforming 40 µs: the four wait for the
// reader nearly all the time, and the second P has nothing to do.
//
//gmpscope:case procs=2 go=go1.26.8 want=serialization:warning may=slow-stage,convoy
package main

import (
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	items   = 500
	workers = 4
)

func main() {
	rec.Start()
	in := make(chan int)
	out := make(chan int)
	var wg sync.WaitGroup
	wg.Add(workers)
	go read(in)
	for range workers {
		go transform(in, out, &wg)
	}
	go func() {
		wg.Wait()
		close(out)
	}()
	write(out)
	rec.Stop()
}

func read(in chan<- int) {
	for i := range items {
		rec.Work(300)
		in <- i
	}
	close(in)
}

func transform(in <-chan int, out chan<- int, wg *sync.WaitGroup) {
	defer wg.Done()
	for i := range in {
		rec.Work(40)
		out <- i
	}
}

func write(out <-chan int) {
	for range out {
		rec.Work(5)
	}
}

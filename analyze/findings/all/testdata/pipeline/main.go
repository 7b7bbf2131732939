// Pipeline has three stages, each of which needs 100 µs for an item, with
// channels of 16 items between them; its source gives an item every 400 µs.
//
// All is well: the stages are in balance, and together need three quarters of
// one P.
//
//gmpscope:case procs=1 go=go1.26.8 want=
//gmpscope:case procs=2 go=go1.26.8 want=
//gmpscope:case procs=2 go=go1.27.4 want=
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const items = 600

func main() {
	rec.Start()
	first, second, third := make(chan int, 16), make(chan int, 16), make(chan int, 16)
	var wg sync.WaitGroup
	wg.Add(4)
	go source(first, &wg)
	go stage(first, second, &wg)
	go stage(second, third, &wg)
	go sink(third, &wg)
	wg.Wait()
	rec.Stop()
}

func source(out chan<- int, wg *sync.WaitGroup) {
	ticker := time.NewTicker(400 * time.Microsecond)
	for i := 0; i < items; i++ {
		<-ticker.C
		out <- i
	}
	close(out)
	wg.Done()
}

func stage(in <-chan int, out chan<- int, wg *sync.WaitGroup) {
	for i := range in {
		rec.Work(100)
		out <- i
	}
	close(out)
	wg.Done()
}

func sink(in <-chan int, wg *sync.WaitGroup) {
	for range in {
		rec.Work(100)
	}
	wg.Done()
}

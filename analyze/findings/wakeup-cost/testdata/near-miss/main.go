// Near-miss passes rows on in batches of some hundred, which take 20 µs each.
//
//gmpscope:case procs=2 go=go1.26.8 want= may=serialization
package main

import (
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const batches = 3000

func main() {
	rec.Start()
	c := make(chan int)
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go sum(c, &wg)
	}
	for i := range batches {
		rec.Work(10)
		c <- i
	}
	close(c)
	wg.Wait()
	rec.Stop()
}

func sum(in <-chan int, wg *sync.WaitGroup) {
	defer wg.Done()
	for range in {
		rec.Work(20)
	}
}

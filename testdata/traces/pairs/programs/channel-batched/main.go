// Channel-batched has four producers send values to four consumers over
// unbuffered channels, one by one, or, after the change, in batches of 50. Each
// value costs its producer and its consumer little; one by one, each also costs
// a block and a wake-up.
package main

import (
	"os"
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	pairs  = 4
	values = 600
)

func main() {
	batch := 1
	if os.Getenv("SIDE") == "after" {
		batch = 50
	}
	rec.Start()
	var wg sync.WaitGroup
	for range pairs {
		c := make(chan []int)
		wg.Add(2)
		go producer(c, batch, &wg)
		go consumer(c, &wg)
	}
	wg.Wait()
	rec.Stop()
}

func producer(c chan<- []int, batch int, wg *sync.WaitGroup) {
	defer wg.Done()
	for i := 0; i < values; i += batch {
		rec.Work(2 * batch)
		c <- make([]int, batch)
	}
	close(c)
}

func consumer(c <-chan []int, wg *sync.WaitGroup) {
	defer wg.Done()
	for b := range c {
		rec.Work(2 * len(b))
	}
}

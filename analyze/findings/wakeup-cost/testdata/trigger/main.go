// Trigger sends sixteen thousand rows, one by one, on a channel without a buffer to
// goroutines that add up one column.
//
//gmpscope:case procs=2 go=go1.26.8 want=wakeup-cost may=steal-storm,runnext-monopoly,p-thrash,starvation,serialization,work-conservation,locality-loss
package main

import (
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const rows = 16_000

type row struct{ id, amount int }

func main() {
	rec.Start()
	c := make(chan row)
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go sum(c, &wg)
	}
	scan(c)
	wg.Wait()
	rec.Stop()
}

func scan(out chan<- row) {
	for i := range rows {
		out <- row{i, i}
	}
	close(out)
}

func sum(in <-chan row, wg *sync.WaitGroup) {
	defer wg.Done()
	total := 0
	for r := range in {
		total += r.amount
	}
}

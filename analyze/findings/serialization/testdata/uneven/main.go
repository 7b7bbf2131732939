// Uneven cuts each round into four pieces, of which one takes thirty times as long as the
// others.
//
//gmpscope:case procs=2 go=go1.26.8 want=serialization:warning may=work-conservation
package main

import (
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const rounds = 200

func main() {
	rec.Start()
	for range rounds {
		merge([]int{50, 50, 50, 1500})
	}
	rec.Stop()
}

func merge(shards []int) {
	var wg sync.WaitGroup
	for _, size := range shards {
		wg.Add(1)
		go func() {
			defer wg.Done()
			compact(size)
		}()
	}
	wg.Wait()
}

func compact(size int) { rec.Work(size) }

// Each round computes two halves side by side, and then merges them in one
// goroutine, which takes three times as long: the law of Amdahl.
//
//gmpscope:case procs=2 go=go1.26.8 want=serialization:warning
package main

import (
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const rounds = 40

func main() {
	rec.Start()
	for range rounds {
		var wg sync.WaitGroup
		wg.Add(1)
		go half(&wg)
		rec.Work(1000)
		wg.Wait()
		merge()
	}
	rec.Stop()
}

func half(wg *sync.WaitGroup) {
	defer wg.Done()
	rec.Work(1000)
}

func merge() {
	rec.Work(3000)
}

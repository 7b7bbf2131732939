// Workers has exactly as many goroutines compute as there are Ps, for 300 ms
// each, with nobody else about.
//
// All is well: each has a P for itself, is preempted now and then, and goes on at
// once.
//
//gmpscope:case procs=1 go=go1.26.8 want=
//gmpscope:case procs=2 go=go1.26.8 want=
//gmpscope:case procs=2 go=go1.22.12 want=
package main

import (
	"runtime"
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	rec.Start()
	var wg sync.WaitGroup
	for i := 0; i < runtime.GOMAXPROCS(0); i++ {
		wg.Add(1)
		go worker(&wg)
	}
	wg.Wait()
	rec.Stop()
}

func worker(wg *sync.WaitGroup) {
	rec.Work(350000)
	wg.Done()
}

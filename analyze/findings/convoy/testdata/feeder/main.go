// Feeder hands jobs of 2 ms to as many workers as there are Ps, over a channel
// without a buffer. Each time that a worker takes one it wakes the feeder, which
// needs a microsecond, and stands behind the job until a P is free; but nobody
// waits for it.
//
//gmpscope:case procs=1 go=go1.26.8 want=
//gmpscope:case procs=2 go=go1.26.8 want=
package main

import (
	"runtime"
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const jobs = 200

func main() {
	queue := make(chan int)
	rec.Start()
	var done sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		done.Add(1)
		go work(queue, &done)
	}
	for range jobs {
		queue <- 2000
	}
	close(queue)
	done.Wait()
	rec.Stop()
}

func work(queue chan int, done *sync.WaitGroup) {
	for units := range queue {
		rec.Work(units)
	}
	done.Done()
}

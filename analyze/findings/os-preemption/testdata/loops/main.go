// Loops computes on four times as many Ps as cores: each thread lacks a CPU most
// of the time, and is preempted late.
//
//gmpscope:case procs=8 go=go1.26.8 want=os-preemption may=starvation,convoy,late-preemption
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	loops     = 10
	computing = time.Second
)

func main() {
	rec.Start()
	var done sync.WaitGroup
	end := time.Now().Add(computing)
	for range loops {
		done.Add(1)
		go func() {
			defer done.Done()
			compute(end)
		}()
	}
	done.Wait()
	rec.Stop()
}

func compute(end time.Time) {
	for time.Now().Before(end) {
		rec.Work(1000)
	}
}

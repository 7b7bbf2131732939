// Preemption-thrash/trigger starts all jobs of a batch at once: 12 goroutines
// that each need 60 ms of CPU, for two Ps. Each job is stopped at the end of
// each of its time slices and waits for ten others before it goes on, so that
// all of them finish late, none of them early.
//
// All of them are done at the same time, whoever is first: it is worth a note.
//
//gmpscope:case procs=2 go=go1.26.8 want=preemption-thrash may=starvation
//gmpscope:case procs=2 go=go1.22.12 want=preemption-thrash may=starvation
package main

import (
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	rec.Start()
	var jobs sync.WaitGroup
	for range 12 {
		jobs.Add(1)
		go job(&jobs)
	}
	jobs.Wait()
	rec.Stop()
}

func job(jobs *sync.WaitGroup) {
	defer jobs.Done()
	rec.Work(110_000)
}

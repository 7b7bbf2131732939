// Trigger has two goroutines play ping-pong over channels without buffers, at 20
// µs a step, on the only P. Now and then one of them puts a job into a channel
// for four workers, which need as little.
//
// Each step readies the partner, which runs next and within the same time slice;
// so a worker that was readied just before it waits until the pair is preempted.
//
//gmpscope:case procs=1 go=go1.26.8 want=runnext-monopoly:warning may=starvation,global-queue-neglect
//gmpscope:case procs=1 go=go1.22.12 want=runnext-monopoly:warning may=starvation,global-queue-neglect
package main

import (
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const trips = 5000

func main() {
	rec.Start()
	there, back, jobs := make(chan int), make(chan int), make(chan int, trips)
	var wg sync.WaitGroup
	for i := 0; i < 4; i++ {
		wg.Add(1)
		go worker(jobs, &wg)
	}
	go pong(there, back)
	wg.Add(1)
	go ping(there, back, jobs, &wg)
	wg.Wait()
	rec.Stop()
}

func ping(there chan<- int, back <-chan int, jobs chan<- int, wg *sync.WaitGroup) {
	for i := 0; i < trips; i++ {
		rec.Work(20)
		there <- i
		if i%50 == 0 {
			jobs <- i
		}
		<-back
	}
	close(there)
	close(jobs)
	wg.Done()
}

func pong(there <-chan int, back chan<- int) {
	for i := range there {
		rec.Work(20)
		back <- i
	}
}

func worker(jobs <-chan int, wg *sync.WaitGroup) {
	for range jobs {
		rec.Work(20)
	}
	wg.Done()
}

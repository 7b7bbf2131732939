// Near-miss wakes a goroutine for each small piece of work: two goroutines pass
// a token to and fro, and work for 30 µs each time. So one of two Ps is always
// without work, and yet there is always a goroutine that has just been readied.
//
// It runs at once, on this P or the other. An idle P beside work that is taken
// within the time that it takes to wake a thread is no waste.
//
//gmpscope:case procs=2 go=go1.26.8 want= may=p-thrash,locality-loss,serialization
//gmpscope:case procs=2 go=go1.22.12 want= may=p-thrash,locality-loss,serialization
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const trips = 1000

func main() {
	rec.Start()
	there, back := make(chan int), make(chan int)
	var wg sync.WaitGroup
	wg.Add(2)
	go ping(there, back, &wg)
	go pong(there, back, &wg)
	wg.Wait()
	rec.Stop()
}

func ping(there chan<- int, back <-chan int, wg *sync.WaitGroup) {
	for i := 0; i < trips; i++ {
		rec.Work(30)
		there <- i
		<-back
		if i%10 == 9 {
			time.Sleep(100 * time.Microsecond) // both Ps idle: the next wake-up is from sleep
		}
	}
	close(there)
	wg.Done()
}

func pong(there <-chan int, back chan<- int, wg *sync.WaitGroup) {
	for i := range there {
		rec.Work(30)
		back <- i
	}
	wg.Done()
}

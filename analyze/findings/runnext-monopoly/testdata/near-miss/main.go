// Near-miss has two goroutines play ping-pong as in trigger, beside four others
// that wake every few milliseconds; but the pair pauses for a moment after every
// ten steps, as when each batch is followed by a wait for the next.
//
// Their slices end by themselves after less than a millisecond, so that nobody
// waits for long.
//
//gmpscope:case procs=1 go=go1.26.8 want= may=p-thrash
//gmpscope:case procs=2 go=go1.26.8 want= may=p-thrash
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const trips = 2000

func main() {
	rec.Start()
	there, back, over := make(chan int), make(chan int), make(chan bool)
	var wg sync.WaitGroup
	for i := 0; i < 4; i++ {
		wg.Add(1)
		go other(over, &wg)
	}
	go pong(there, back)
	wg.Add(1)
	go ping(there, back, over, &wg)
	wg.Wait()
	rec.Stop()
}

func ping(there chan<- int, back <-chan int, over chan<- bool, wg *sync.WaitGroup) {
	for i := 0; i < trips; i++ {
		rec.Work(20)
		there <- i
		<-back
		if i%10 == 9 {
			time.Sleep(200 * time.Microsecond)
		}
	}
	close(there)
	close(over)
	wg.Done()
}

func pong(there <-chan int, back chan<- int) {
	for i := range there {
		rec.Work(20)
		back <- i
	}
}

func other(over <-chan bool, wg *sync.WaitGroup) {
	defer wg.Done()
	for {
		select {
		case <-over:
			return
		case <-time.After(3 * time.Millisecond):
			rec.Work(50)
		}
	}
}

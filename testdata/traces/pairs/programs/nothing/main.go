// Nothing changes here: requests of different size arrive over time, some wake
// others, and two goroutines compute all the while. Each recording of it is like
// any other.
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	rec.Start()
	var wg sync.WaitGroup
	answers := make(chan int)
	go collect(answers)
	for i := range 25 {
		for j := range 12 {
			wg.Add(1)
			go request(50+20*((i*7+j*5)%8), answers, &wg)
		}
		time.Sleep(3 * time.Millisecond)
	}
	wg.Wait()
	rec.Stop()
}

func request(units int, answers chan<- int, wg *sync.WaitGroup) {
	defer wg.Done()
	rec.Work(units)
	answers <- units
}

func collect(answers <-chan int) {
	for range answers {
		rec.Work(10)
	}
}

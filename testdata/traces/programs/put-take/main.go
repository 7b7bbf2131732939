// Put-take is producers and takers blocked on channels: a put works for a
// thousand units and then sends three values; each of its three takes receives
// one value and works for one unit.
//
// The trace must show 100 goroutines of class main.put and 300 of class
// main.take. A put blocks on nothing but "chan send", and only a take wakes
// it; a take blocks on nothing but "chan receive", and only its put wakes it;
// a take blocks at most once, a put at most three times. A goroutine that
// waits for its counterpart holds no P: meanwhile another put works on it.
package main

import (
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const groups = 100

func main() {
	rec.Start()
	var wg sync.WaitGroup
	wg.Add(groups * 4)
	for i := 0; i < groups; i++ {
		ch := make(chan int)
		go put(ch, &wg)
		for j := 0; j < 3; j++ {
			go take(ch, &wg)
		}
	}
	wg.Wait()
	rec.Stop()
}

func put(ch chan<- int, wg *sync.WaitGroup) {
	unit(1000)
	for i := 0; i < 3; i++ {
		ch <- i
	}
	wg.Done()
}

func take(ch <-chan int, wg *sync.WaitGroup) {
	<-ch
	unit(1)
	wg.Done()
}

// unit works for n units of a tenth of a microsecond.
func unit(n int) {
	rec.Work((n + 9) / 10)
}

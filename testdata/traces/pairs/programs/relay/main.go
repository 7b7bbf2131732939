// Relay is a chain of goroutines each of which works for 50 µs, creates the next, and
// ends, after golang/go#52934. What is created runs next, within the time slice of its
// creator, so that four others, who wake every 3 ms and want as little, wait for
// milliseconds. After the change one goroutine does the work of the chain, and lets the
// others in now and then.
package main

import (
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	links   = 3000
	atATime = 20 // links between two chances for the others
)

func main() {
	rec.Start()
	over := make(chan bool)
	var others sync.WaitGroup
	for range 4 {
		others.Add(1)
		go other(over, &others)
	}
	if os.Getenv("SIDE") == "after" {
		go loop(over)
	} else {
		go link(links, over)
	}
	others.Wait()
	rec.Stop()
}

func link(left int, over chan<- bool) {
	rec.Work(50)
	if left == 0 {
		close(over)
		return
	}
	go link(left-1, over)
}

func loop(over chan<- bool) {
	for i := range links {
		rec.Work(50)
		if i%atATime == 0 {
			runtime.Gosched()
		}
	}
	close(over)
}

func other(over <-chan bool, done *sync.WaitGroup) {
	defer done.Done()
	for {
		select {
		case <-over:
			return
		case <-time.After(3 * time.Millisecond):
			rec.Work(50)
		}
	}
}

// Senders-fifo has 400 clients send their requests to one dispatcher over a
// channel without buffer. While the dispatcher is away for some milliseconds
// they block; then it takes all that are there at once, and so makes all of them
// runnable: more than a local queue holds. Those that came last are served
// first. After the change each client stands in a list, and is let in when it is
// its turn, one at a time: first come, first served, and nobody waits for a P
// in a crowd.
package main

import (
	"os"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	clients  = 400
	requests = 3
	atOnce   = 1 // as many as there are Ps
)

func main() {
	var wg sync.WaitGroup
	wg.Add(clients)
	t := turnstile{inside: atOnce}
	c := make(chan int)
	fifo := os.Getenv("SIDE") == "after"
	for i := range clients {
		if fifo {
			go inTurn(&t, &wg)
		} else {
			go sender(i, c, &wg)
		}
	}
	time.Sleep(20 * time.Millisecond) // until all of them stand in line
	rec.Start()
	if fifo {
		for range atOnce {
			t.leave()
		}
	} else {
		go dispatch(c)
	}
	wg.Wait()
	rec.Stop()
}

func sender(i int, c chan<- int, wg *sync.WaitGroup) {
	defer wg.Done()
	for range requests {
		c <- i
		rec.Work(100)
	}
}

func dispatch(c <-chan int) {
	for {
		<-c
		for empty := false; !empty; {
			select {
			case <-c:
			default:
				empty = true
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func inTurn(t *turnstile, wg *sync.WaitGroup) {
	defer wg.Done()
	for range requests {
		t.enter()
		rec.Work(100)
		t.leave()
	}
}

// turnstile lets a few in at a time, in the order in which they came.
type turnstile struct {
	mu     sync.Mutex
	inside int
	line   []chan struct{}
}

func (t *turnstile) enter() {
	t.mu.Lock()
	if t.inside < atOnce {
		t.inside++
		t.mu.Unlock()
		return
	}
	turn := make(chan struct{})
	t.line = append(t.line, turn)
	t.mu.Unlock()
	<-turn
}

func (t *turnstile) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.line) == 0 {
		t.inside--
		return
	}
	close(t.line[0])
	t.line = t.line[1:]
}

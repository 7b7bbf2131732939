// Event-fanout delivers events to the inboxes of fifty subscribers.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type inbox struct {
	mu    sync.Mutex
	count int
}

func (b *inbox) put(event int) {
	b.mu.Lock()
	b.count += event & 1
	b.mu.Unlock()
}

func main() {
	boxes := make([]inbox, 50)
	start := time.Now()
	for event := range 700 {
		for i := range boxes {
			deliver(&boxes[i], event)
		}
	}
	plain := time.Since(start)
	rec.Start()
	start = time.Now()
	inside := publishAll(boxes, 700)
	took := time.Since(start)
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: %d goroutines in %v, %v of it in dispatch; the same deliveries took %v without goroutines\n", 700*len(boxes), took, inside, plain)
}

func publishAll(boxes []inbox, events int) (inside time.Duration) {
	next := time.Now()
	for event := range events {
		start := time.Now()
		dispatch(boxes, event)
		inside += time.Since(start)
		next = next.Add(330 * time.Microsecond)
		time.Sleep(time.Until(next))
	}
	return inside
}

func dispatch(boxes []inbox, event int) {
	var wg sync.WaitGroup
	wg.Add(len(boxes))
	for i := range boxes {
		go func() {
			defer wg.Done()
			deliver(&boxes[i], event)
		}()
	}
	wg.Wait()
}

func deliver(b *inbox, event int) { b.put(event) }

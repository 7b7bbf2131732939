// Eight goroutines share a lock, but hold it for 5 µs in half a millisecond: they
// meet at it now and then, and nobody waits for long.
//
//gmpscope:case procs=2 go=go1.26.8 want=
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	clients = 8
	times   = 150
)

var mu sync.Mutex

func main() {
	rec.Start()
	var wg sync.WaitGroup
	wg.Add(clients)
	for range clients {
		go client(&wg)
	}
	wg.Wait()
	rec.Stop()
}

func client(wg *sync.WaitGroup) {
	defer wg.Done()
	for range times {
		time.Sleep(500 * time.Microsecond)
		rec.Work(20)
		mu.Lock()
		rec.Work(5)
		mu.Unlock()
	}
}

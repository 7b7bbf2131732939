// Twelve goroutines compute on two Ps, and hold a lock for 15 µs in every 60. Now
// and then one of them is at the end of its time slice just then: until it has a P
// again, all the others get as far as the lock, and stand in line.
//
//gmpscope:case procs=2 go=go1.26.8 want=lock-convoy may=starvation,convoy
package main

import (
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	clients = 12
	times   = 500
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
		rec.Work(45)
		mu.Lock()
		rec.Work(15)
		mu.Unlock()
	}
}

// Twelve goroutines do all their work under one lock, and hardly any outside
// it. Those that run take the lock again before the one that was woken has
// started, until it has waited a millisecond: then the mutex is in starvation
// mode, and each Unlock hands it to the first in line (golang/go#13086, and the
// comment in internal/sync/mutex.go).
//
//gmpscope:case procs=2 go=go1.26.8 want=lock-convoy:warning
package main

import (
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	clients = 12
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
		update()
		rec.Work(10)
	}
}

func update() {
	mu.Lock()
	defer mu.Unlock()
	rec.Work(100)
}

// A cache is filled under its lock, and filling takes a slow call: the lock is
// held for 2 ms in which nothing runs. Everybody else waits in line behind it.
//
//gmpscope:case procs=2 go=go1.26.8 want=lock-convoy:warning may=process-stopped
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	clients = 8
	times   = 20
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
		fetch()
		rec.Work(100)
	}
}

func fetch() {
	mu.Lock()
	defer mu.Unlock()
	time.Sleep(2 * time.Millisecond) // a database far away
	rec.Work(5)
}

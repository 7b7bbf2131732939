// Lock-limited has four goroutines that compute under one lock for three quarters
// of their time: a second P helps as far as the last quarter goes. On one P they
// hardly ever meet at the lock; only whoever is preempted while it holds it shows
// that there is one.
package main

import (
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	workers = 4
	rounds  = 500
	under   = 150
	outside = 50
)

func main() {
	var lock sync.Mutex
	rec.Start()
	var wg sync.WaitGroup
	for range workers {
		wg.Add(1)
		go worker(&lock, &wg)
	}
	wg.Wait()
	rec.Stop()
}

func worker(lock *sync.Mutex, wg *sync.WaitGroup) {
	defer wg.Done()
	for range rounds {
		lock.Lock()
		rec.Work(under)
		lock.Unlock()
		rec.Work(outside)
	}
}

// Lock-asleep has four goroutines that wait for something while they hold a lock,
// as for a disk or another machine: each sleeps for a while under it. They meet at
// the lock with any number of Ps.
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	workers = 4
	rounds  = 15
	under   = 2 * time.Millisecond
	outside = 3000
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
		time.Sleep(under)
		lock.Unlock()
		rec.Work(outside)
	}
}

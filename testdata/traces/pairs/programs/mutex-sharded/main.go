// Mutex-sharded has 16 goroutines work under one lock, or, after the change,
// under one of 16. With one lock only one of them can run at a time: the Ps
// stand idle. The same work then takes about half as long on two Ps.
package main

import (
	"os"
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	workers = 16
	rounds  = 40
)

func main() {
	shards := 1
	if os.Getenv("SIDE") == "after" {
		shards = workers
	}
	locks := make([]sync.Mutex, shards)
	rec.Start()
	var wg sync.WaitGroup
	for i := range workers {
		wg.Add(1)
		go worker(&locks[i%shards], &wg)
	}
	wg.Wait()
	rec.Stop()
}

func worker(lock *sync.Mutex, wg *sync.WaitGroup) {
	defer wg.Done()
	for range rounds {
		lock.Lock()
		rec.Work(150)
		lock.Unlock()
	}
}

// Mutex has eight goroutines contend for one lock that each of them holds for
// 50 µs and wants again at once.
//
// The trace must show goroutines of class main.locker that block on "sync" and
// are made Runnable by the one that unlocks. As a goroutine that keeps running
// barges in before the woken one has started, waits grow beyond 1 ms, and the
// mutex enters starvation mode: then Unlock hands the lock to the first waiter
// and gives it the rest of its time slice (Running→Runnable, "preempted", by
// runtime.goyield, to the tail of the local run queue: no preemption). The lock
// is the limit: added Ps help nothing.
package main

import (
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	lockers = 8
	times   = 40
)

func main() {
	rec.Start()
	var wg sync.WaitGroup
	var mu sync.Mutex
	wg.Add(lockers)
	for i := 0; i < lockers; i++ {
		go locker(&mu, &wg)
	}
	wg.Wait()
	rec.Stop()
}

func locker(mu *sync.Mutex, wg *sync.WaitGroup) {
	for i := 0; i < times; i++ {
		mu.Lock()
		rec.Work(50)
		mu.Unlock()
	}
	wg.Done()
}

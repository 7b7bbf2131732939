// Poll-barrier has two parties meet at a barrier round after round, after golang/go#13546:
// who is early polls a counter and calls runtime.Gosched until the other is there, which has
// more to do. After the change it waits on a sync.Cond: the rounds take as long, with half of
// the P-time.
package main

import (
	"os"
	"runtime"
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	parties = 2
	rounds  = 8
)

type barrier struct {
	mu      sync.Mutex
	moved   sync.Cond
	arrived int
	polls   bool
}

func main() {
	b := &barrier{polls: os.Getenv("SIDE") != "after"}
	b.moved.L = &b.mu
	var done sync.WaitGroup
	rec.Start()
	for i := range parties {
		done.Add(1)
		go party(b, i, &done)
	}
	done.Wait()
	rec.Stop()
}

func party(b *barrier, i int, done *sync.WaitGroup) {
	defer done.Done()
	for round := range rounds {
		if i == 0 {
			rec.Work(1500)
		}
		b.meet(parties * (round + 1))
	}
}

// meet returns when that many have arrived.
func (b *barrier) meet(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.arrived++
	b.moved.Broadcast()
	for b.arrived < n {
		if b.polls {
			b.mu.Unlock()
			runtime.Gosched()
			b.mu.Lock()
			continue
		}
		b.moved.Wait()
	}
}

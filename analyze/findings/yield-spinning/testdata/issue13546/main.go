// Goroutines meet at a barrier that they poll with runtime.Gosched, after
// golang/go#13546: who is early yields until the last one is there. The last one
// has a lot more to do.
//
//gmpscope:case procs=2 go=go1.26.8 want=yield-spinning
package main

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	parties = 2
	rounds  = 3
)

var arrived atomic.Int32

func main() {
	rec.Start()
	var wg sync.WaitGroup
	wg.Add(parties)
	for i := range parties {
		go party(i, &wg)
	}
	wg.Wait()
	time.Sleep(100 * time.Millisecond)
	rec.Stop()
}

func party(i int, wg *sync.WaitGroup) {
	defer wg.Done()
	for round := range rounds {
		if i == 0 {
			rec.Work(1500)
		}
		arrived.Add(1)
		for arrived.Load() < int32(parties*(round+1)) {
			runtime.Gosched()
		}
	}
}

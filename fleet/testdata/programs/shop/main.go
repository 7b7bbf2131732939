// Shop answers requests that come in bursts, as two services in three versions: SERVICE is
// checkout or search, which does more for each request; VERSION is 1.0, 1.1 or 1.2. From
// 1.2 on checkout has a mistake: with each burst it builds a catalogue, which takes 3 ms
// of the P, while the requests wait.
package main

import (
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	bursts   = 12
	requests = 6
)

func main() {
	work := 60
	if os.Getenv("SERVICE") == "search" {
		work = 150
	}
	mistaken := os.Getenv("SERVICE") == "checkout" && os.Getenv("VERSION") == "1.2"
	rec.Start()
	for range bursts {
		var over sync.WaitGroup
		for range requests {
			over.Go(func() { handle(work) })
		}
		if mistaken {
			over.Go(catalogue) // in runnext: it runs first
		}
		over.Wait()
		time.Sleep(time.Millisecond)
	}
	rec.Stop()
}

// handle does units of work, about a microsecond each, in two parts.
func handle(units int) {
	rec.Work(units / 2)
	runtime.Gosched()
	rec.Work(units / 2)
}

func catalogue() { rec.Work(3000) }

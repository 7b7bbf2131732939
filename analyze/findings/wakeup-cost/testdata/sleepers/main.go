// Sleepers look for work every 200 µs, and there is some once in 10 ms.
//
//gmpscope:case procs=2 go=go1.26.8 want=wakeup-cost:warning may=thundering-herd,work-conservation,locality-loss,starvation,timer-lateness
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	workers = 100
	lasting = 250 * time.Millisecond
)

type jobs struct {
	mu   sync.Mutex
	n    int
	over bool
}

func (j *jobs) take() (got, over bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.n == 0 {
		return false, j.over
	}
	j.n--
	return true, false
}

func main() {
	rec.Start()
	var j jobs
	var wg sync.WaitGroup
	for range workers {
		wg.Add(1)
		go poll(&j, &wg)
	}
	for end := time.Now().Add(lasting); time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
		j.mu.Lock()
		j.n++
		j.mu.Unlock()
	}
	j.mu.Lock()
	j.over = true
	j.mu.Unlock()
	wg.Wait()
	rec.Stop()
}

func poll(j *jobs, wg *sync.WaitGroup) {
	defer wg.Done()
	for {
		switch got, over := j.take(); {
		case over:
			return
		case got:
			rec.Work(50)
		default:
			time.Sleep(200 * time.Microsecond)
		}
	}
}

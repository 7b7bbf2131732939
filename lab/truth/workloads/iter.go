//go:build go1.23

package main

import (
	"iter"
	"runtime"
	"sync"
)

func init() { workloads["pull"] = workload{pull, 4} }

// pull: iterators turned inside out, which switch goroutines without the
// scheduler.
func pull(l *load) {
	var wg sync.WaitGroup
	for i, k := 0, l.between(1, 10); i < k; i++ {
		n := l.count(2000, 6000)
		cost := l.between(0, 800)
		every := l.between(3, 60)
		wg.Add(1)
		go func() {
			defer wg.Done()
			seq := func(yield func(int) bool) {
				for j := 0; j < n; j++ {
					spin(cost)
					if j%every == 0 {
						runtime.Gosched()
					}
					if !yield(j) {
						return
					}
				}
			}
			next, stop := iter.Pull(iter.Seq[int](seq))
			defer stop()
			for {
				v, ok := next()
				if !ok {
					return
				}
				if v%every == 1 {
					done := make(chan bool)
					go func() { close(done) }()
					<-done
				}
			}
		}()
	}
	wg.Wait()
}

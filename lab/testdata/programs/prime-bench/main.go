// Prime-bench counts primes on all Ps, to measure the machine.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	limit = 3000000
	block = 20000
)

func main() {
	workers := runtime.GOMAXPROCS(0)
	busy := make([]time.Duration, workers)
	rec.Start()
	begin := time.Now()
	var next, primes atomic.Int64
	var open sync.WaitGroup
	for n := range workers {
		open.Go(func() {
			begin := time.Now()
			count(&next, &primes)
			busy[n] = time.Since(begin)
		})
	}
	open.Wait()
	took := time.Since(begin)
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: %d primes below %d in %v; the workers computed for %v\n", primes.Load(), limit, took.Round(time.Millisecond), busy)
}

// count counts the primes of one block after the other.
func count(next, primes *atomic.Int64) {
	for {
		from := next.Add(block) - block
		if from >= limit {
			return
		}
		found := int64(0)
		for n := from; n < from+block; n++ {
			if isPrime(n) {
				found++
			}
		}
		primes.Add(found)
	}
}

func isPrime(n int64) bool {
	if n < 2 {
		return false
	}
	for d := int64(2); d*d <= n; d++ {
		if n%d == 0 {
			return false
		}
	}
	return true
}

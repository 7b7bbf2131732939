// Cron-overlap builds a report at each tick.
package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"runtime/trace"
	"sync"
	"sync/atomic"
	"time"
)

type report struct{ n atomic.Int64 }

// build needs some 80 ms of CPU.
func (r *report) build() {
	for range 80 {
		digest(9000)
	}
	r.n.Add(1)
}

type cron struct {
	r   *report
	all sync.WaitGroup
	max atomic.Int64
	now atomic.Int64
}

// tick starts a report, and counts how many are under way.
func (c *cron) tick() {
	c.all.Go(func() {
		c.max.Store(max(c.max.Load(), c.now.Add(1)))
		c.r.build()
		c.now.Add(-1)
	})
}

func (c *cron) run(n int) {
	k := time.NewTicker(25 * time.Millisecond)
	defer k.Stop()
	for range n {
		<-k.C
		c.tick()
	}
	c.all.Wait()
}

func main() {
	c := &cron{r: &report{}}
	stop := startTrace()
	c.run(24)
	stop()
	fmt.Fprintf(os.Stderr, "proof: up to %d reports under way\n", c.max.Load())
}

func startTrace() (stop func()) {
	file, err := os.Create(os.Args[1])
	check(err)
	check(trace.Start(file))
	return func() {
		trace.Stop()
		check(file.Close())
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// digest computes for a while.
func digest(n int) byte {
	var x [64]byte
	for range n {
		s := sha256.Sum256(x[:])
		copy(x[:], s[:])
	}
	return x[0]
}

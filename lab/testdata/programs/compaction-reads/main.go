// Compaction-reads serves point reads from a table store while it merges
// sorted runs in the background. A page that is not in memory is read with its
// latch held.
package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	reads   = 50
	period  = 18 * time.Millisecond
	device  = 400 * time.Microsecond
	mergers = 2
)

type page struct {
	latch sync.Mutex
	rows  int
}

type store struct {
	hot     page
	stopped atomic.Bool
	blocked atomic.Int64
}

func main() {
	var s store
	quiet := s.serveReads()
	s.blocked.Store(0)
	rec.Start()
	var background sync.WaitGroup
	for level := range mergers {
		background.Go(func() { s.compact(level) })
	}
	took := s.serveReads()
	s.stopped.Store(true)
	background.Wait()
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: %d reads: p50 %v, p90 %v, of which %v in all at the latch; without compaction p50 %v, p90 %v\n", reads,
		took[reads/2], took[reads*9/10], time.Duration(s.blocked.Load()), quiet[reads/2], quiet[reads*9/10])
}

func (s *store) serveReads() []time.Duration {
	took := make([]time.Duration, reads)
	var open sync.WaitGroup
	start := time.Now()
	for i := range reads {
		due := start.Add(time.Duration(i+1) * period)
		time.Sleep(time.Until(due))
		open.Go(func() {
			s.get(i)
			took[i] = time.Since(due)
		})
	}
	open.Wait()
	slices.Sort(took)
	return took
}

// get reads one row.
func (s *store) get(key int) int {
	came := time.Now()
	s.hot.latch.Lock()
	defer s.hot.latch.Unlock()
	s.blocked.Add(int64(time.Since(came)))
	return s.hot.fetch() + key
}

func (p *page) fetch() int {
	time.Sleep(device) // the device's answer
	rec.Work(20)
	p.rows++
	return p.rows
}

// compact merges the runs of a level until the store is closed.
//
//go:noinline
func (s *store) compact(level int) {
	for !s.stopped.Load() {
		mergeRuns(2 + level)
	}
}

// mergeRuns merges sorted runs into one. It is too large to be inlined in life.
//
//go:noinline
func mergeRuns(runs int) (sum uint64) {
	for range runs {
		sum += rec.Work(8000)
	}
	return sum
}

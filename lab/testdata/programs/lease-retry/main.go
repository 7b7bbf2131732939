// Lease-retry lets workers run maintenance jobs on database partitions, each
// under the lease of its partition.
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

const spins = 8000

type leaseTable struct {
	owners   []atomic.Int64 // 0: free
	attempts atomic.Int64
	spun     atomic.Int64 // nanoseconds
	granted  atomic.Int64
}

func (t *leaseTable) tryAcquire(partition int, worker int64) bool {
	t.attempts.Add(1)
	return t.owners[partition].CompareAndSwap(0, worker)
}

// acquireLease tries until the partition is free.
func (t *leaseTable) acquireLease(partition int, worker int64) {
	for {
		for range spins {
			if t.tryAcquire(partition, worker) {
				t.granted.Add(1)
				return
			}
		}
		runtime.Gosched()
	}
}

func (t *leaseTable) release(partition int) { t.owners[partition].Store(0) }

func main() {
	t := &leaseTable{owners: make([]atomic.Int64, 2)}
	var workers sync.WaitGroup
	rec.Start()
	start := time.Now()
	for worker := range 6 {
		workers.Go(func() { maintain(t, int64(worker+1)) })
	}
	workers.Wait()
	took := time.Since(start)
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: %d attempts for %d leases in %v; 6 workers spent %v in sum trying\n",
		t.attempts.Load(), t.granted.Load(), took, time.Duration(t.spun.Load()))
}

func maintain(t *leaseTable, worker int64) {
	for job := range 3 {
		partition := (job + int(worker)) % len(t.owners)
		start := time.Now()
		t.acquireLease(partition, worker)
		t.spun.Add(int64(time.Since(start)))
		vacuum(partition)
		t.release(partition)
	}
}

// vacuum rewrites a few pages, with a pause between them to spare the disk.
func vacuum(int) {
	for range 3 {
		rec.Work(1000)
		time.Sleep(4 * time.Millisecond)
	}
}

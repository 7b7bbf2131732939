// Replica-apply applies the transactions that a replica gets from the primary.
// Before, each table had an applier of its own; after, a single one applies
// all transactions in the order of the log, which is easier to reason about.
package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	transactions = 350
	period       = 2 * time.Millisecond
	tables       = 10
	device       = 12 * time.Millisecond
)

type transaction struct {
	table int
	bulk  bool // an import, which the device has to write at once
	came  time.Time
}

type replica struct {
	queues []chan transaction
	mu     sync.Mutex
	lag    []time.Duration
}

func main() {
	appliers := tables
	if os.Getenv("SIDE") == "after" {
		appliers = 1
	}
	r := &replica{queues: make([]chan transaction, appliers)}
	rec.Start()
	var open sync.WaitGroup
	for i := range r.queues {
		r.queues[i] = make(chan transaction, transactions)
		open.Go(func() { r.applyAll(r.queues[i]) })
	}
	r.receive()
	open.Wait()
	rec.Stop()
	slices.Sort(r.lag)
	fmt.Fprintf(os.Stderr, "proof: %d transactions of others than the import's table lagged by p50 %v, p90 %v, p99 %v\n",
		len(r.lag), r.lag[len(r.lag)/2], r.lag[len(r.lag)*9/10], r.lag[len(r.lag)*99/100])
}

// receive takes transactions from the primary.
func (r *replica) receive() {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for n := range transactions {
		<-ticker.C
		t := transaction{table: n % tables, came: time.Now()}
		t.bulk = t.table == 0
		r.queues[t.table%len(r.queues)] <- t
	}
	for _, queue := range r.queues {
		close(queue)
	}
}

func (r *replica) applyAll(queue <-chan transaction) {
	for t := range queue {
		r.apply(t)
	}
}

func (r *replica) apply(t transaction) {
	rec.Work(60)
	if t.bulk {
		time.Sleep(device)
		return
	}
	lag := time.Since(t.came)
	r.mu.Lock()
	r.lag = append(r.lag, lag)
	r.mu.Unlock()
}

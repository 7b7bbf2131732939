// Receipt-jobs answers orders. For each it puts a job, to mail the receipt,
// into a queue, for which 250 workers stand ready, and works out the four parts
// of the answer at the same time. Before, a job was announced by Broadcast;
// after, by Signal.
package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	workers = 250
	orders  = 150
	parts   = 4
)

type queue struct {
	mu        sync.Mutex
	announced *sync.Cond
	announce  func()
	jobs      []int
	closed    bool
}

func main() {
	q := &queue{}
	q.announced = sync.NewCond(&q.mu)
	q.announce = q.announced.Broadcast
	if os.Getenv("SIDE") == "after" {
		q.announce = q.announced.Signal
	}
	took := make([]time.Duration, orders)
	rec.Start()
	var pool, open sync.WaitGroup
	for range workers {
		pool.Go(q.work)
	}
	ticker := time.NewTicker(3500 * time.Microsecond)
	for id := range orders {
		<-ticker.C
		came := time.Now()
		open.Go(func() {
			handleOrder(q, id)
			took[id] = time.Since(came)
		})
	}
	open.Wait()
	q.close()
	pool.Wait()
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d orders, p50 %v, p99 %v\n", len(took), took[len(took)/2], took[len(took)*99/100])
}

func handleOrder(q *queue, id int) {
	q.put(id)
	var answer sync.WaitGroup
	for part := range parts {
		answer.Go(func() { hash(part, 100) })
	}
	answer.Wait()
}

func (q *queue) put(job int) {
	q.mu.Lock()
	q.jobs = append(q.jobs, job)
	q.mu.Unlock()
	q.announce()
}

func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.announced.Broadcast()
}

func (q *queue) take() (job int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.jobs) == 0 {
		if q.closed {
			return 0, false
		}
		q.announced.Wait()
	}
	job, q.jobs = q.jobs[0], q.jobs[1:]
	return job, true
}

func (q *queue) work() {
	for {
		job, ok := q.take()
		if !ok {
			return
		}
		mailReceipt(job)
	}
}

func mailReceipt(id int) { hash(id, 300) }

func hash(id, rounds int) {
	sum := sha256.Sum256([]byte{byte(id)})
	for range rounds {
		sum = sha256.Sum256(sum[:])
	}
}

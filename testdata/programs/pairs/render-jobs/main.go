// Render-jobs keeps 600 workers ready for render jobs, which come in fours.
// Before, each job was announced by Broadcast; after, by Signal.
package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/rec"
)

const (
	workers = 600
	rounds  = 40
	each    = 4
)

type job struct {
	id   int
	came time.Time
}

type queue struct {
	mu        sync.Mutex
	announced *sync.Cond
	announce  func()
	jobs      []job
	closed    bool
}

func main() {
	q := &queue{}
	q.announced = sync.NewCond(&q.mu)
	q.announce = q.announced.Broadcast
	if os.Getenv("SIDE") == "after" {
		q.announce = q.announced.Signal
	}
	took := make([]time.Duration, rounds*each)
	rec.Start()
	var pool sync.WaitGroup
	for range workers {
		pool.Go(func() { q.work(took) })
	}
	ticker := time.NewTicker(12 * time.Millisecond)
	for round := range rounds {
		<-ticker.C
		for i := range each {
			q.put(job{round*each + i, time.Now()})
		}
	}
	q.close()
	pool.Wait()
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d jobs, p50 %v, p99 %v\n", len(took), took[len(took)/2], took[len(took)*99/100])
}

func (q *queue) put(j job) {
	q.mu.Lock()
	q.jobs = append(q.jobs, j)
	q.mu.Unlock()
	q.announce()
}

func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.announced.Broadcast()
}

func (q *queue) take() (job, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.jobs) == 0 {
		if q.closed {
			return job{}, false
		}
		q.announced.Wait()
	}
	j := q.jobs[0]
	q.jobs = q.jobs[1:]
	return j, true
}

func (q *queue) work(took []time.Duration) {
	for {
		j, ok := q.take()
		if !ok {
			return
		}
		render(j.id)
		took[j.id] = time.Since(j.came)
	}
}

func render(id int) {
	sum := sha256.Sum256([]byte{byte(id)})
	for range 700 {
		sum = sha256.Sum256(sum[:])
	}
}

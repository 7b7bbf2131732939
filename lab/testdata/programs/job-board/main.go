// Job-board hands small jobs to sixty workers.
package main

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type board struct {
	mu     sync.Mutex
	more   *sync.Cond
	jobs   []int
	closed bool
	looks  int
	vain   int
}

func (b *board) Post(job int) {
	b.mu.Lock()
	b.jobs = append(b.jobs, job)
	b.mu.Unlock()
	b.more.Broadcast()
}

func (b *board) Take() (int, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.jobs) == 0 {
		if b.closed {
			return 0, false
		}
		b.more.Wait()
		b.looks++
		if len(b.jobs) == 0 {
			b.vain++
		}
	}
	job := b.jobs[0]
	b.jobs = b.jobs[1:]
	return job, true
}

func (b *board) Close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.more.Broadcast()
}

func main() {
	b := &board{}
	b.more = sync.NewCond(&b.mu)
	var done atomic.Int64
	var wg sync.WaitGroup
	rec.Start()
	for range 60 {
		wg.Go(func() { workOff(b, &done) })
	}
	postJobs(b, 400)
	b.Close()
	wg.Wait()
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: for %d jobs workers woke up %d times, %d of them in vain\n", done.Load(), b.looks, b.vain)
}

func postJobs(b *board, n int) {
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for job := range n {
		<-ticker.C
		b.Post(job)
	}
}

func workOff(b *board, done *atomic.Int64) {
	for {
		job, ok := b.Take()
		if !ok {
			return
		}
		rec.Work(20 + job%10)
		done.Add(1)
	}
}

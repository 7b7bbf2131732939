// Package jobs runs jobs on a few workers.
package jobs

import (
	"sync"
	"time"
)

type Job struct {
	Came time.Time
	Do   func()
}

// A Pool has a queue for all jobs.
type Pool struct {
	queue chan Job
	open  sync.WaitGroup
}

func NewPool(workers int) *Pool {
	p := &Pool{queue: make(chan Job, 1000)}
	for range workers {
		p.open.Go(p.run)
	}
	return p
}

func (p *Pool) Submit(do func()) { p.queue <- Job{time.Now(), do} }

// Close returns when all jobs are done.
func (p *Pool) Close() {
	close(p.queue)
	p.open.Wait()
}

func (p *Pool) run() {
	for job := range p.queue {
		job.Do()
	}
}

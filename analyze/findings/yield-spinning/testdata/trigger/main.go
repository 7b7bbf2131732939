// A consumer polls its queue and calls runtime.Gosched up to 10,000 times before
// it waits for a sync.Cond, as in the comment on golang/go#18237: nearly all
// entries into the scheduler are those yields.
//
//gmpscope:case procs=2 go=go1.26.8 want=yield-spinning:warning
package main

import (
	"runtime"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	items  = 6
	cycles = 10_000
)

type stream struct {
	mu      sync.Mutex
	more    sync.Cond
	pending int
}

func main() {
	rec.Start()
	s := &stream{}
	s.more.L = &s.mu
	done := make(chan bool)
	go read(s, done)
	for range items {
		time.Sleep(20 * time.Millisecond)
		s.mu.Lock()
		s.pending++
		s.more.Signal()
		s.mu.Unlock()
	}
	<-done
	rec.Stop()
}

func read(s *stream, done chan<- bool) {
	for range items {
		for !next(s) {
		}
		rec.Work(50)
	}
	done <- true
}

func next(s *stream) bool {
	for range cycles {
		if s.dequeue() {
			return true
		}
		runtime.Gosched()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.pending == 0 {
		s.more.Wait()
	}
	s.pending--
	return true
}

// dequeue looks into the queue, which takes some time.
func (s *stream) dequeue() bool {
	rec.Work(8)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending == 0 {
		return false
	}
	s.pending--
	return true
}

// List is a pool of connections that keeps a count and a list of those who wait, each
// with a channel of its own: connections are taken in one function and given up in
// another.
//
//gmpscope:case procs=2 go=go1.26.8 want=full-semaphore may=work-conservation
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	clients = 12
	queries = 10
)

type pool struct {
	mu      sync.Mutex
	free    int
	waiting []chan struct{}
}

func (p *pool) get() {
	p.mu.Lock()
	if p.free > 0 {
		p.free--
		p.mu.Unlock()
		return
	}
	c := make(chan struct{}, 1)
	p.waiting = append(p.waiting, c)
	p.mu.Unlock()
	<-c
}

func (p *pool) put() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) > 0 {
		p.waiting[0] <- struct{}{}
		p.waiting = p.waiting[1:]
		return
	}
	p.free++
}

func main() {
	rec.Start()
	p := &pool{free: 2}
	var wg sync.WaitGroup
	for range clients {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range queries {
				query(p)
				rec.Work(20)
			}
		}()
	}
	wg.Wait()
	rec.Stop()
}

func query(p *pool) {
	p.get()
	defer p.put()
	time.Sleep(4 * time.Millisecond)
}

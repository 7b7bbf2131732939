// Uploaders add readings to a batch and wait until it is stored, which happens every 20 ms:
// nothing else takes time.
//
//gmpscope:case procs=2 go=go1.26.8 want=blocked-on-others
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type batcher struct{ in chan chan bool }

// Add stores a reading, and returns when that is done.
func (b *batcher) Add() {
	done := make(chan bool, 1)
	b.in <- done
	<-done
}

// run stores what has come every 20 ms.
func (b *batcher) run() {
	tick := time.NewTicker(20 * time.Millisecond)
	var open []chan bool
	for {
		select {
		case done, ok := <-b.in:
			if !ok {
				return
			}
			open = append(open, done)
		case <-tick.C:
			for _, done := range open {
				done <- true
			}
			open = open[:0]
		}
	}
}

func main() {
	b := &batcher{in: make(chan chan bool)}
	rec.Start()
	go b.run()
	var uploaders sync.WaitGroup
	for range 4 {
		uploaders.Go(func() {
			for range 15 {
				rec.Work(200)
				b.Add()
			}
		})
	}
	uploaders.Wait()
	rec.Stop()
	close(b.in)
}

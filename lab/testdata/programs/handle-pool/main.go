// Handle-pool reads blocks through a limited number of handles.
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

type handle struct {
	p   *pool
	buf []byte
}

type pool struct {
	slots    chan struct{}
	released atomic.Int64
}

func (p *pool) acquire() *handle {
	p.slots <- struct{}{}
	return openHandle(p)
}

func openHandle(p *pool) *handle {
	h := &handle{p, make([]byte, 64<<10)}
	runtime.SetFinalizer(h, (*handle).release)
	return h
}

// release gives the server time to notice, and frees the slot.
func (h *handle) release() {
	time.Sleep(6 * time.Millisecond)
	h.p.released.Add(1)
	<-h.p.slots
}

func main() {
	p := &pool{slots: make(chan struct{}, 16)}
	var waited [4]time.Duration
	var readers sync.WaitGroup
	rec.Start()
	start := time.Now()
	for i := range waited {
		readers.Go(func() { waited[i] = readBlocks(p, 22) })
	}
	var stop atomic.Bool
	go func() {
		for !stop.Load() {
			time.Sleep(10 * time.Millisecond)
			allocateScratch()
		}
	}()
	readers.Wait()
	took := time.Since(start)
	stop.Store(true)
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: of %v, readers waited %v for handles; %d finalizers slept 6 ms each\n", took, waited, p.released.Load())
}

var scratch []byte

func allocateScratch() { scratch = make([]byte, 5<<20) }

func readBlocks(p *pool, n int) (waited time.Duration) {
	for block := range n {
		start := time.Now()
		h := p.acquire()
		waited += time.Since(start)
		readBlock(h, block)
	}
	return waited
}

func readBlock(h *handle, block int) {
	h.buf[block] = 1
	rec.Work(200)
}

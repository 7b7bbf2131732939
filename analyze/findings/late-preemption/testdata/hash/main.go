// Hash takes the SHA-512 of 64 MB at a time, beside others that wake every few
// milliseconds for a little work. The standard library does that in one call of
// assembly, which cannot be interrupted: see golang/go#64417.
//
// Asked to yield after 10 ms, it keeps the P until all is hashed.
//
//gmpscope:case procs=1 go=go1.26.8 want=late-preemption:warning may=starvation,convoy
//gmpscope:case procs=1 go=go1.22.12 want=late-preemption:warning may=starvation,convoy
package main

import (
	"crypto/sha512"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	data := make([]byte, 64<<20)
	rec.Start()
	var over atomic.Bool
	var hashes, others sync.WaitGroup
	hashes.Add(1)
	go hash(data, &hashes)
	for i := 0; i < 4; i++ {
		others.Add(1)
		go other(&over, &others)
	}
	hashes.Wait()
	over.Store(true)
	others.Wait()
	rec.Stop()
}

func hash(data []byte, wg *sync.WaitGroup) {
	for i := 0; i < 4; i++ {
		data[0] += sha512.Sum512(data)[0]
		time.Sleep(10 * time.Millisecond)
	}
	wg.Done()
}

func other(over *atomic.Bool, wg *sync.WaitGroup) {
	for !over.Load() {
		rec.Work(100)
		time.Sleep(3 * time.Millisecond)
	}
	wg.Done()
}

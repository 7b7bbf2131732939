// Timed-work hashes large blocks on both Ps, and looks at the clock between blocks to know how
// long each took. The hash is in assembly and cannot be preempted, so each preemption waits for
// the look at the clock.
//
//gmpscope:case procs=2 go=go1.26.8 want= may=os-preemption,work-conservation
package main

import (
	"crypto/sha512"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const lasting = 200 * time.Millisecond

func main() {
	rec.Start()
	var both sync.WaitGroup
	for range 2 {
		both.Go(hash)
	}
	both.Wait()
	rec.Stop()
}

func hash() {
	block, sum := make([]byte, 512<<10), sha512.New()
	var took time.Duration
	for took < lasting {
		begin := time.Now()
		sum.Write(block)
		end := time.Now()
		took += end.Sub(begin)
	}
}

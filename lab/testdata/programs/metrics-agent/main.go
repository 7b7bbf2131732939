// Metrics-agent computes scores, and keeps a curve of its memory use.
package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type curve struct {
	heap   []uint64
	inside time.Duration
}

func main() {
	var c curve
	var stop atomic.Bool
	took := make([]time.Duration, 400)
	var agent, scores sync.WaitGroup
	rec.Start()
	agent.Go(func() { sampleMemory(&c, &stop) })
	ticker := time.NewTicker(time.Millisecond)
	for i := range took {
		came := <-ticker.C
		scores.Go(func() {
			serveScore(i)
			took[i] = time.Since(came)
		})
	}
	scores.Wait()
	stop.Store(true)
	agent.Wait()
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d stops of the world in 400 ms, %v inside ReadMemStats; scores of 0.5 ms took p50 %v, p99 %v\n",
		len(c.heap), c.inside, took[200], took[396])
}

func sampleMemory(c *curve, stop *atomic.Bool) {
	for !stop.Load() {
		var m runtime.MemStats
		start := time.Now()
		runtime.ReadMemStats(&m)
		c.inside += time.Since(start)
		c.heap = append(c.heap, m.HeapAlloc)
		time.Sleep(time.Millisecond)
	}
}

func serveScore(i int) []byte {
	rec.Work(500)
	return bytes.Repeat([]byte{byte(i)}, 512)
}

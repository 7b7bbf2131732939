// Dedup-ordered cuts a backup into chunks of different sizes, hashes them on
// all Ps, and writes down their sums in order.
package main

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	chunks = 2500
	window = 64
)

type chunk struct {
	n    int
	data []byte
}

type result struct {
	n   int
	sum [32]byte
}

// cutChunks cuts the backup where its content says so. No more than window
// chunks are on the way at once.
func cutChunks(backup []byte, room chan struct{}, out chan<- chunk) {
	defer close(out)
	rng := rand.New(rand.NewPCG(5, 5))
	for n, at := 0, 0; n < chunks; n++ {
		size := 40_000 + rng.IntN(1_000_000)
		if at+size > len(backup) {
			at = 0
		}
		room <- struct{}{}
		out <- chunk{n, backup[at : at+size]}
		at += size
	}
}

// A hasher is one of the workers.
type hasher struct {
	busy, starved, blocked time.Duration
}

func (h *hasher) run(in <-chan chunk, out chan<- result) {
	for {
		start := time.Now()
		c, ok := <-in
		if !ok {
			return
		}
		got := time.Now()
		sum := sha256.Sum256(c.data)
		done := time.Now()
		out <- result{c.n, sum}
		h.starved += got.Sub(start)
		h.busy += done.Sub(got)
		h.blocked += time.Since(done)
	}
}

// restoreOrder writes the sums down in the order of the chunks, and keeps those
// that come early.
func restoreOrder(in <-chan result, room <-chan struct{}, ledger hash.Hash) (kept int) {
	early := make(map[int]result)
	next := 0
	for r := range in {
		early[r.n] = r
		kept = max(kept, len(early))
		for {
			r, ok := early[next]
			if !ok {
				break
			}
			ledger.Write(r.sum[:])
			delete(early, next)
			next++
			<-room
		}
	}
	return kept
}

func main() {
	backup := make([]byte, 32<<20)
	for i := 0; i < len(backup); i += 4096 {
		backup[i] = byte(i >> 12)
	}
	workers := runtime.GOMAXPROCS(0)
	hashers := make([]hasher, workers)
	room := make(chan struct{}, window)
	cut, hashed := make(chan chunk, window), make(chan result, window)
	var pool sync.WaitGroup
	rec.Start()
	start := time.Now()
	go cutChunks(backup, room, cut)
	for i := range hashers {
		pool.Go(func() { hashers[i].run(cut, hashed) })
	}
	go func() {
		pool.Wait()
		close(hashed)
	}()
	kept := restoreOrder(hashed, room, sha256.New())
	took := time.Since(start)
	rec.Stop()
	var busy, starved, blocked time.Duration
	for _, h := range hashers {
		busy += h.busy
		starved += h.starved
		blocked += h.blocked
	}
	fmt.Fprintf(os.Stderr, "proof: %d chunks took %v; the %d hashers were busy for %v, waited for chunks for %v and for room for %v; at most %d of %d kept for their turn\n",
		chunks, took, workers, busy, starved, blocked, kept, window)
}

package main

import (
	"math/rand/v2"
	"runtime"
	"sync"
)

// contend has 2,400 goroutines take one of 64 locks, size times in all. Each is taken and given
// back on one of 256 ways.
func contend(size int) {
	const goroutines, locks = 2400, 64
	var (
		mus [locks]sync.Mutex
		all sync.WaitGroup
	)
	for g := range goroutines {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 0))
			for range size / goroutines {
				mu := &mus[r.IntN(locks)]
				descend(8, r.Uint32(), mu.Lock)
				runtime.Gosched()
				descend(8, r.Uint32(), mu.Unlock)
			}
		})
	}
	all.Wait()
}

// descend calls f by a way that bits tell.
func descend(depth int, bits uint32, f func()) {
	switch {
	case depth == 0:
		f()
	case bits&1 == 0:
		left(depth-1, bits>>1, f)
	default:
		right(depth-1, bits>>1, f)
	}
}

//go:noinline
func left(depth int, bits uint32, f func()) { descend(depth, bits, f) }

//go:noinline
func right(depth int, bits uint32, f func()) { descend(depth, bits, f) }

// Checksum-pool checks the blocks of a backup in a batch job: as many workers as
// there are Ps, each with as many blocks as the others.
package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	blocks    = 1400
	blockSize = 512 << 10
)

type report struct {
	checked int
	damaged int
	took    time.Duration
}

func main() {
	block := make([]byte, blockSize)
	for i := range block {
		block[i] = byte(i * 31)
	}
	want := sha256.Sum256(block)
	reports := make([]report, runtime.GOMAXPROCS(0))
	share := blocks / len(reports)
	var workers sync.WaitGroup
	rec.Start()
	start := time.Now()
	for id := range reports {
		workers.Go(func() { reports[id] = checkBlocks(block, want, share) })
	}
	workers.Wait()
	took := time.Since(start)
	rec.Stop()
	damaged := 0
	for _, r := range reports {
		damaged += r.damaged
	}
	fmt.Fprintf(os.Stderr, "proof: %d blocks in %v, %d damaged; the workers took %v\n", share*len(reports), took, damaged, durations(reports))
}

func durations(reports []report) (took []time.Duration) {
	for _, r := range reports {
		took = append(took, r.took)
	}
	return took
}

func checkBlocks(block []byte, want [sha256.Size]byte, share int) (r report) {
	start := time.Now()
	for range share {
		if sha256.Sum256(block) != want {
			r.damaged++
		}
		r.checked++
	}
	r.took = time.Since(start)
	return r
}

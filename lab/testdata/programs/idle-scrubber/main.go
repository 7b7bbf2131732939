// Idle-scrubber checks the blocks of a store whenever nothing else is to be
// done, and serves reads meanwhile.
package main

import (
	"fmt"
	"hash/crc32"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	blocks    = 512
	blockSize = 64 << 10
	stride    = 16
	reads     = 260
	period    = 3500 * time.Microsecond
)

// A store holds blocks and their checksums.
type store struct {
	blocks  [][]byte
	sums    []uint32
	scanned atomic.Int64
	bad     atomic.Int64
	closed  atomic.Bool
}

func newStore() *store {
	s := &store{blocks: make([][]byte, blocks), sums: make([]uint32, blocks)}
	for i := range s.blocks {
		s.blocks[i] = make([]byte, blockSize)
		s.blocks[i][i] = byte(i)
		s.sums[i] = checksum(s.blocks[i])
	}
	return s
}

// checksum is what the store's format asks for: the bytes with their places.
func checksum(block []byte) uint32 {
	sum := crc32.ChecksumIEEE(block)
	for i, b := range block {
		sum = sum*31 + uint32(b)*uint32(i)
	}
	return sum
}

// scrub checks one block after the other, and lets whoever waits go first after
// some 1.5 ms.
func (s *store) scrub() {
	for i := 0; !s.closed.Load(); i = (i + 1) % blocks {
		if checksum(s.blocks[i]) != s.sums[i] {
			s.bad.Add(1)
		}
		s.scanned.Add(1)
		if i%stride == stride-1 {
			runtime.Gosched()
		}
	}
}

// read returns a part of a block.
func (s *store) read(block int) []byte {
	rec.Work(300) // decompression
	return s.blocks[block%blocks][:1024]
}

func main() {
	s := newStore()
	took := make([]time.Duration, reads)
	var scrubbing, open sync.WaitGroup
	rec.Start()
	scrubbing.Go(s.scrub)
	start := time.Now()
	for id := range reads {
		due := start.Add(time.Duration(id) * period)
		time.Sleep(time.Until(due))
		open.Go(func() {
			s.read(id * 7)
			took[id] = time.Since(due)
		})
	}
	open.Wait()
	s.closed.Store(true)
	scrubbing.Wait()
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d reads (0.3 ms of work), p50 %v, p90 %v, p99 %v; %d blocks scrubbed meanwhile, %d bad\n",
		reads, took[reads/2], took[reads*9/10], took[reads*99/100], s.scanned.Load(), s.bad.Load())
}

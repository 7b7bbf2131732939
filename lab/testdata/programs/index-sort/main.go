// Index-sort sorts the posting lists of a search index when the index is
// closed: a segment's keys come in ranges that lie side by side, one for each
// CPU, and the ranges of a segment are sorted at the same time.
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	segments = 10
	postings = 1 << 20 // a segment
)

type segment struct {
	ranges [][]uint64
}

func main() {
	sorters := runtime.GOMAXPROCS(0)
	rng := rand.New(rand.NewPCG(7, 7))
	var index []*segment
	for range segments + 1 {
		index = append(index, newSegment(rng, sorters))
	}
	rec.Start()
	begin := time.Now()
	for _, s := range index[:segments] {
		s.sortRanges()
	}
	together := time.Since(begin) / segments
	rec.Stop()

	begin = time.Now()
	for _, r := range index[segments].ranges {
		slices.Sort(r)
	}
	alone := time.Since(begin)
	fmt.Fprintf(os.Stderr, "proof: a segment takes %v, by one goroutine %v\n",
		together.Round(time.Millisecond), alone.Round(time.Millisecond))
}

func newSegment(rng *rand.Rand, ranges int) *segment {
	s := &segment{}
	width := ^uint64(0) / uint64(ranges)
	for i := range ranges {
		keys := make([]uint64, postings/ranges)
		for k := range keys {
			keys[k] = uint64(i)*width + rng.Uint64N(width)
		}
		s.ranges = append(s.ranges, keys)
	}
	return s
}

func (s *segment) sortRanges() {
	var sorting sync.WaitGroup
	for _, keys := range s.ranges {
		sorting.Go(func() { sortKeys(keys) })
	}
	sorting.Wait()
}

func sortKeys(keys []uint64) { slices.Sort(keys) }

package bench

import (
	"math"
	"math/rand/v2"
)

// The pipeline as it is simulated.
const (
	simulatedBlock = 4096 // events of a block
	simulatedQueue = 3    // blocks that a step may be ahead of the next
	simulatedMost  = 4000 // blocks of a trace, after which it is steady
)

// onCores returns how long an analysis of so many blocks takes on so many cores, where one core takes 1,
// and the share of each step is known. A block takes between half and one and a half times the mean in
// each step. Decoding has as many workers as there are cores, what follows takes the blocks in their
// order, each step one at a time, and the result is made at the end. What belongs to no step is spread over all.
func onCores(shares []share, blocks, cores int) float64 {
	blocks = max(1, min(blocks, simulatedMost))
	var (
		mean   []float64 // of a block, in each step but the last
		random []*rand.Rand
		known  = 0.0
	)
	for i, s := range steps {
		x := shareOf(shares, s.name)
		known += x
		if s.name != result {
			mean, random = append(mean, x/float64(blocks)), append(random, rand.New(rand.NewPCG(1, uint64(i))))
		}
	}
	var (
		begun = make([]int, len(mean)) // blocks, by step
		done  = make([]int, len(mean))
		ends  []running // of what is on a core
		now   float64
	)
	ready := func(i int) bool {
		if i == 0 {
			return begun[0] < blocks && begun[0]-begun[1] < cores*simulatedQueue
		}
		return begun[i] == done[i] && begun[i] < done[i-1] && (i+1 == len(mean) || done[i]-begun[i+1] <= simulatedQueue)
	}
	for done[len(mean)-1] < blocks {
		for i := len(mean) - 1; i >= 0 && len(ends) < cores; i-- { // the latest steps first, which make room
			for len(ends) < cores && ready(i) {
				begun[i]++
				ends = append(ends, running{i, now + mean[i]*(0.5+random[i].Float64())})
			}
		}
		first := 0
		for k := range ends {
			if ends[k].until < ends[first].until {
				first = k
			}
		}
		now = ends[first].until
		done[ends[first].step]++
		ends[first] = ends[len(ends)-1]
		ends = ends[:len(ends)-1]
	}
	return (now + shareOf(shares, result)) / math.Max(known, 1e-9)
}

// running is a step that has a core until a time.
type running struct {
	step  int
	until float64
}

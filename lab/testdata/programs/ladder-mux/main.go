// Ladder-mux transcodes a title into a ladder of four renditions, in parallel,
// group of pictures by group of pictures, and muxes each group for delivery.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const groups = 36

var heights = [...]int{360, 540, 720, 1080}

type rendition struct {
	height int
	bytes  uint64
}

type muxer struct {
	written uint64
	took    time.Duration
}

func main() {
	var m muxer
	rec.Start()
	start := time.Now()
	packageTitle(&m)
	took := time.Since(start)
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: %d groups took %v on 2 Ps; for %v of that, the muxer worked alone, and one P had nothing to do\n", groups, took, m.took)
}

func packageTitle(m *muxer) {
	for group := range groups {
		ladder := encodeLadder(group)
		m.muxGroup(ladder)
	}
}

// encodeLadder encodes one group of pictures in all heights.
func encodeLadder(group int) []rendition {
	ladder := make([]rendition, len(heights))
	var open sync.WaitGroup
	for i, height := range heights {
		open.Go(func() { ladder[i] = encode(group, height) })
	}
	open.Wait()
	return ladder
}

//go:noinline
func encode(group, height int) rendition {
	const perLine = 4
	return rendition{height, rec.Work(height*perLine/2) + uint64(group)}
}

// muxGroup interleaves the renditions, encrypts them, and adds checksums. Like
// its parts it is too large to be inlined in life.
//
//go:noinline
func (m *muxer) muxGroup(ladder []rendition) {
	start := time.Now()
	for _, r := range ladder {
		m.written += interleave(r)
		m.written += encrypt(r)
		m.written += checksum(r)
	}
	m.took += time.Since(start)
}

//go:noinline
func interleave(r rendition) uint64 { return rec.Work(2*r.height) + r.bytes }

//go:noinline
func encrypt(r rendition) uint64 { return rec.Work(3*r.height) ^ r.bytes }

//go:noinline
func checksum(r rendition) uint64 { return rec.Work(r.height) ^ r.bytes }

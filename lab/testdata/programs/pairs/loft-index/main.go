// Loft-index notes where racing pigeons are. Before, the index is one map with
// a mutex; after, it is of 32 shards. It was never in anybody's way.
package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/pairs/loft-index/loft"
)

const (
	gates    = 6
	passings = 400 // of each gate
	period   = 2 * time.Millisecond
)

func main() {
	shards := 1
	if os.Getenv("SIDE") == "after" {
		shards = 32
	}
	index := loft.NewIndex(shards)
	took := make([][]time.Duration, gates)
	rec.Start()
	var open sync.WaitGroup
	for gate := range gates {
		open.Go(func() { took[gate] = watch(index, gate) })
	}
	open.Wait()
	rec.Stop()
	all := slices.Sorted(slices.Values(slices.Concat(took...)))
	fmt.Fprintf(os.Stderr, "proof: %d passings, p50 %v, p90 %v\n", len(all), all[len(all)/2], all[len(all)*9/10])
}

// watch notes the pigeons that pass a gate.
func watch(index *loft.Index, gate int) (took []time.Duration) {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for n := range passings {
		<-ticker.C
		begin := time.Now()
		note(index, gate, n)
		took = append(took, time.Since(begin))
	}
	return took
}

func note(index *loft.Index, gate, n int) {
	chip := sha256.Sum256(fmt.Append(nil, gate, n))
	for range 120 {
		chip = sha256.Sum256(chip[:])
	}
	index.Move(fmt.Sprintf("BE-%03d", chip[0]), fmt.Sprint("gate ", gate))
}

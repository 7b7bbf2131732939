// Ski-lift lets skiers onto lifts at the rate of these, whatever the queue.
package main

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/ski-lift/gate"
)

const (
	lifts    = 2
	skiers   = 60
	interval = 4 * time.Millisecond
	phase    = 800 * time.Millisecond
)

func main() {
	var gates [lifts]*gate.Gate
	var passed [skiers]int
	var waited atomic.Int64
	rec.Start()
	for i := range gates {
		gates[i] = gate.New(interval)
	}
	end := time.Now().Add(phase)
	var open sync.WaitGroup
	for id := range skiers {
		open.Go(func() {
			for time.Now().Before(end) {
				begin := time.Now()
				gates[id%lifts].Pass()
				waited.Add(int64(time.Since(begin)))
				passed[id]++
				time.Sleep(30 * time.Millisecond) // downhill
			}
		})
	}
	open.Wait()
	for _, g := range gates {
		g.Close()
	}
	rec.Stop()
	rides, least, most := 0, passed[0], passed[0]
	for _, n := range passed {
		rides, least, most = rides+n, min(least, n), max(most, n)
	}
	fmt.Fprintf(os.Stderr, "proof: %d rides, which is %.0f%% of what the lifts allow in %v; each skier %d to %d, after a wait of %v on average\n",
		rides, 100*float64(rides)/float64(lifts*phase/interval), phase, least, most, (time.Duration(waited.Load()) / time.Duration(rides)).Round(time.Millisecond))
}

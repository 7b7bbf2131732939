// River-gauge answers how high the river stands, from the levels that gauges
// report.
package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/river-gauge/station"
)

const phase = 900 * time.Millisecond

func askLevels(loop *station.Loop, id int, end time.Time) (took []time.Duration) {
	level := make(chan float64, 1)
	for n := id; time.Now().Before(end); n += 3 {
		begin := time.Now()
		loop.Queries <- station.Query{Gauge: n, Level: level}
		<-level
		took = append(took, time.Since(begin))
		time.Sleep(2 * time.Millisecond)
	}
	return took
}

func reportLevels(loop *station.Loop, end time.Time) {
	for n := 0; time.Now().Before(end); n++ {
		loop.Levels <- float64(n % 17)
		time.Sleep(5 * time.Millisecond)
	}
}

func main() {
	loop := station.NewLoop()
	took := make([][]time.Duration, 12)
	rec.Start()
	end := time.Now().Add(phase)
	var running sync.WaitGroup
	running.Go(loop.Run)
	var open sync.WaitGroup
	for range 3 {
		open.Go(func() { reportLevels(loop, end) })
	}
	for id := range took {
		open.Go(func() { took[id] = askLevels(loop, id, end) })
	}
	open.Wait()
	close(loop.Stop)
	running.Wait()
	rec.Stop()
	all := slices.Concat(took...)
	slices.Sort(all)
	var waited, total time.Duration
	for _, t := range all {
		total += t
		if t > 5*time.Millisecond {
			waited += t
		}
	}
	fmt.Fprintf(os.Stderr, "proof: %d forecasts in the loop, the longest %v; %d queries, p50 %v, max %v, of the time that they took %.0f%% was in those of more than 5 ms\n",
		len(loop.Forecasts), slices.Max(loop.Forecasts).Round(time.Millisecond), len(all), all[len(all)/2], all[len(all)-1].Round(time.Millisecond), 100*waited.Seconds()/total.Seconds())
}

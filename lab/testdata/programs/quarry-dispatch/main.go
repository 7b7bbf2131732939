// Quarry-dispatch sends trucks to the ramps of a quarry.
package main

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/quarry-dispatch/yard"
)

const (
	ramps   = 8
	phase   = time.Second
	quarter = phase / 4
)

func main() {
	y := yard.New(ramps)
	var loaded [4]atomic.Int64
	var refused atomic.Int64
	var next atomic.Int64
	rec.Start()
	begin := time.Now()
	drive := func() {
		for time.Since(begin) < phase {
			truck := int(next.Add(1))
			tons := 20 + truck%15
			if truck%45 == 0 && truck/45 < ramps { // seven in all
				tons = 44
			}
			if y.Load(truck, tons) != nil {
				refused.Add(1)
				continue
			}
			loaded[min(time.Since(begin)/quarter, 3)].Add(1)
			time.Sleep(2 * time.Millisecond)
		}
	}
	var open sync.WaitGroup
	for range 16 {
		open.Go(drive)
	}
	open.Wait()
	taken, there := y.Taken(), y.AtRamps.Load()
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: trucks loaded in each quarter of %v: %d, %d, %d, %d; %d were refused; at the end %d of %d ramps are taken, by %d trucks\n",
		phase, loaded[0].Load(), loaded[1].Load(), loaded[2].Load(), loaded[3].Load(), refused.Load(), taken, ramps, there)
}

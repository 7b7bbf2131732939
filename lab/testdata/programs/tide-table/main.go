// Tide-table computes tides, and answers how high the water is in ports.
package main

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/tide-table/cache"
)

const (
	ports = 20_000
	phase = 900 * time.Millisecond
)

// predict computes the tide of a port from its constituents.
func predict(port, hour int) (height float64) {
	for c := range 9000 {
		height += math.Cos(float64(hour*c+port)/float64(c+1)) / float64(c+1)
	}
	return height
}

// computeTides computes the tides of a coast, and gives way to answers after each.
func computeTides(coast int, end time.Time) (computed int) {
	for hour := 0; time.Now().Before(end); hour++ {
		if predict(coast, hour) > 0 {
			computed++
		}
		runtime.Gosched()
	}
	return computed
}

func answerShips(t *cache.Table, id int, end time.Time) (took []time.Duration) {
	for n := id; time.Now().Before(end); n++ {
		begin := time.Now()
		if _, ok := t.Height(n % ports); !ok {
			t.Store(n%ports, float64(n))
		}
		took = append(took, time.Since(begin))
		time.Sleep(time.Millisecond)
	}
	return took
}

func serve(t *cache.Table) (answers int, took, longest time.Duration) {
	for port := range ports {
		t.Store(port, 1)
	}
	all := make([][]time.Duration, 6)
	end := time.Now().Add(phase)
	var open sync.WaitGroup
	for coast := range 5 {
		open.Go(func() { computeTides(coast, end) })
	}
	for id := range all {
		open.Go(func() { all[id] = answerShips(t, id, end) })
	}
	open.Go(func() {
		for time.Now().Before(end) {
			t.Sweep(time.Hour)
			time.Sleep(30 * time.Millisecond)
		}
	})
	open.Wait()
	for _, one := range all {
		answers += len(one)
		for _, t := range one {
			took += t
		}
	}
	return answers, took, t.Longest
}

func main() {
	rec.Start()
	answers, took, longest := serve(cache.NewTable(true))
	rec.Stop()
	answers2, took2, longest2 := serve(cache.NewTable(false))
	fmt.Fprintf(os.Stderr, "proof: %d answers, which took %v (of 6 x %v), the longest sweep %v; without Gosched, untraced: %d answers, %v, longest sweep %v\n",
		answers, took.Round(time.Millisecond), phase, longest.Round(10*time.Microsecond), answers2, took2.Round(time.Millisecond), longest2.Round(10*time.Microsecond))
}

// Tariff-report answers questions for a tariff, and makes a report every now
// and then, all on one P. Before, the report runs through; after, it lets
// others go first after each page.
package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	questions = 240
	period    = 4 * time.Millisecond
	reports   = 6
	pages     = 160
	every     = 150 * time.Millisecond
)

type office struct {
	polite  bool
	tariffs [64]int
	reports []uint64
}

// answer looks a tariff up and formats the answer.
func (o *office) answer(region int) int {
	rec.Work(80)
	return o.tariffs[region%len(o.tariffs)]
}

// makeReport adds up all tariffs by region, page by page.
func (o *office) makeReport() {
	var sum uint64
	for page := range pages {
		sum += o.page(page)
		if o.polite {
			runtime.Gosched()
		}
	}
	o.reports = append(o.reports, sum)
}

func (o *office) page(n int) uint64 { return rec.Work(400) + uint64(n) }

func main() {
	o := &office{polite: os.Getenv("SIDE") == "after"}
	for i := range o.tariffs {
		o.tariffs[i] = 100 + i
	}
	took := make([]time.Duration, questions)
	var open, reporting sync.WaitGroup
	var longest time.Duration
	rec.Start()
	start := time.Now()
	reporting.Go(func() {
		for n := range reports {
			time.Sleep(time.Until(start.Add(time.Duration(n)*every + 10*time.Millisecond)))
			begun := time.Now()
			o.makeReport()
			longest = max(longest, time.Since(begun))
		}
	})
	for id := range questions {
		due := start.Add(time.Duration(id) * period)
		time.Sleep(time.Until(due))
		open.Go(func() {
			o.answer(id)
			took[id] = time.Since(due)
		})
	}
	open.Wait()
	reporting.Wait()
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d questions (80 µs of work), p50 %v, p90 %v, p99 %v; a report took %v at most\n",
		questions, took[questions/2], took[questions*9/10], took[questions*99/100], longest)
}

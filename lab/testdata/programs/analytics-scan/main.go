// Analytics-scan aggregates a column of a large table. Scanners take one morsel
// of rows after the other from a common dispenser, so that all are done at the
// same time whatever the morsels cost.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const morsels = 1200

// dispenser deals out morsels.
type dispenser struct {
	mu     sync.Mutex
	next   int
	waited time.Duration
}

func (d *dispenser) take() (morsel int, ok bool) {
	start := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waited += time.Since(start)
	if d.next == morsels {
		return 0, false
	}
	d.next++
	return d.next - 1, true
}

type aggregate struct {
	sum     uint64
	rows    int
	busy    time.Duration
	lastEnd time.Time
}

func main() {
	scanners := runtime.GOMAXPROCS(0)
	parts := make([]aggregate, scanners)
	var d dispenser
	rec.Start()
	start := time.Now()
	var open sync.WaitGroup
	for i := range parts {
		open.Go(func() { parts[i] = scan(&d) })
	}
	open.Wait()
	total := merge(parts)
	took := time.Since(start)
	rec.Stop()
	first, last := parts[0].lastEnd, parts[0].lastEnd
	for _, p := range parts {
		if p.lastEnd.Before(first) {
			first = p.lastEnd
		}
		if p.lastEnd.After(last) {
			last = p.lastEnd
		}
	}
	fmt.Fprintf(os.Stderr, "proof: %d scanners were busy %v of %v; they waited %v in all at the dispenser, and the first was done %v before the last; %d rows\n",
		scanners, total.busy, time.Duration(scanners)*took, d.waited, last.Sub(first), total.rows)
}

func scan(d *dispenser) (a aggregate) {
	for {
		morsel, ok := d.take()
		if !ok {
			a.lastEnd = time.Now()
			return a
		}
		start := time.Now()
		a.sum += aggregateMorsel(morsel)
		a.rows += 1000
		a.busy += time.Since(start)
	}
}

// aggregateMorsel is dearer where more rows pass the filter. It is too large
// to be inlined in life.
//
//go:noinline
func aggregateMorsel(morsel int) uint64 {
	return rec.Work(400 + morsel*7919%800)
}

func merge(parts []aggregate) (total aggregate) {
	for _, p := range parts {
		total.sum += p.sum
		total.rows += p.rows
		total.busy += p.busy
	}
	return total
}

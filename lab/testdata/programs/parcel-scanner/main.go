// Parcel-scanner sorts parcels on a belt, one every 3 ms, on a machine on which
// now and then a virus scan runs.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	parcels  = 180
	scanners = 3
)

type belt struct {
	lanes [8]int
	mu    sync.Mutex
}

func main() {
	if os.Getenv("SCANNER_ROLE") == "virus-scan" {
		scanForViruses(os.Getppid())
		return
	}
	rec.Start()
	var scans []*exec.Cmd
	for range scanners {
		scan := exec.Command(os.Args[0])
		scan.Env = append(os.Environ(), "SCANNER_ROLE=virus-scan", "GOMAXPROCS=4")
		if err := scan.Start(); err != nil {
			panic(err)
		}
		scans = append(scans, scan)
	}
	b := &belt{}
	sorting, took := b.run()
	for _, scan := range scans {
		scan.Process.Kill()
		scan.Wait()
	}
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d parcels took p50 %v, p95 %v from when they were due; sorting 1 parcel alone took p50 %v, max %v for the same work\n",
		parcels, took[parcels/2], took[parcels*95/100], sorting[parcels/2], sorting[parcels-1])
}

// run returns how long the sorting of each parcel took, in order, and how long
// after it was due each was done.
func (b *belt) run() (sorting, took []time.Duration) {
	due := time.Now()
	for code := range parcels {
		due = due.Add(3 * time.Millisecond)
		time.Sleep(time.Until(due))
		start := time.Now()
		b.sortParcel(code)
		sorting = append(sorting, time.Since(start))
		took = append(took, time.Since(due))
	}
	slices.Sort(sorting)
	return sorting, took
}

func (b *belt) sortParcel(code int) {
	sum := rec.Work(700)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lanes[(sum+uint64(code))%8]++
}

// scanForViruses burns CPU in four threads for 50 ms out of each 110, and ends
// with the scanner, or soon after it.
func scanForViruses(parent int) {
	for range 8 {
		time.Sleep(60 * time.Millisecond)
		if os.Getppid() != parent {
			return
		}
		var wg sync.WaitGroup
		until := time.Now().Add(50 * time.Millisecond)
		for range runtime.GOMAXPROCS(0) {
			wg.Go(func() {
				for time.Now().Before(until) {
					rec.Work(100)
				}
			})
		}
		wg.Wait()
	}
}

// Vacuum-slices serves reads from a database that vacuums its tables in the
// background, on a single P. Before, a table was vacuumed in one go; after,
// the vacuum lets others run after every few pages.
package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	reads  = 250
	period = 3 * time.Millisecond
	pages  = 600
)

type database struct {
	yields  bool
	stopped atomic.Bool
	tables  int
}

func main() {
	db := &database{yields: os.Getenv("SIDE") == "after"}
	took := make([]time.Duration, reads)
	rec.Start()
	var open, background sync.WaitGroup
	background.Go(db.vacuum)
	start := time.Now()
	for n := range reads {
		due := start.Add(time.Duration(n+1) * period)
		time.Sleep(time.Until(due))
		open.Go(func() {
			db.read(n)
			took[n] = time.Since(due)
		})
	}
	open.Wait()
	db.stopped.Store(true)
	background.Wait()
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d reads, p50 %v, p90 %v, p99 %v; %d tables vacuumed\n", reads, took[reads/2], took[reads*9/10], took[reads*99/100], db.tables)
}

func (db *database) read(key int) uint64 { return rec.Work(80) + uint64(key) }

// vacuum vacuums table after table, with a pause after each.
func (db *database) vacuum() {
	for !db.stopped.Load() {
		db.vacuumTable()
		db.tables++
		time.Sleep(4 * time.Millisecond)
	}
}

//go:noinline
func (db *database) vacuumTable() {
	for page := range pages {
		vacuumPage(page)
		if db.yields && page%4 == 3 {
			runtime.Gosched()
		}
	}
}

// vacuumPage drops the dead rows of a page.
func vacuumPage(page int) uint64 { return rec.Work(40) + uint64(page) }

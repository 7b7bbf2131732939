// Idle-tenants books what three thousand tenants use. Each has a goroutine;
// few of them are awake on a given day.
package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/idle-tenants/tenants"
)

const (
	all      = 3000
	bookings = 400
	period   = 2 * time.Millisecond
)

func main() {
	house := make([]*tenants.Tenant, all)
	for n := range house {
		house[n] = tenants.Start()
	}
	took := make([]time.Duration, bookings)
	rec.Start()
	var open sync.WaitGroup
	ticker := time.NewTicker(period)
	for n := range bookings {
		<-ticker.C
		open.Go(func() {
			rec.Work(80)
			took[n] = house[n*7%60].Add(n)
		})
	}
	open.Wait()
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d bookings with %d tenants, p50 %v, p99 %v\n", bookings, all, took[bookings/2], took[bookings*99/100])
}

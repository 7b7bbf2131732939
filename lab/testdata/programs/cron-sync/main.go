// Cron-sync synchronizes sixty tenants every 150 ms, and serves clicks.
package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type tenant struct {
	id   int
	late []time.Duration
}

func (t *tenant) sync(due time.Time) {
	t.late = append(t.late, time.Since(due))
	rec.Work(900 + t.id)
}

func startSchedule(tenants []*tenant, periods int, wg *sync.WaitGroup) {
	ticker := time.NewTicker(150 * time.Millisecond)
	defer ticker.Stop()
	for range periods {
		runDue(tenants, <-ticker.C, wg)
	}
}

func runDue(tenants []*tenant, due time.Time, wg *sync.WaitGroup) {
	for _, t := range tenants {
		wg.Go(func() { t.sync(due) })
	}
}

func handleClick(due time.Time) time.Duration {
	rec.Work(50)
	return time.Since(due)
}

func main() {
	var tenants []*tenant
	for id := range 60 {
		tenants = append(tenants, &tenant{id: id})
	}
	clicks := make([]time.Duration, 150)
	var wg, clicking sync.WaitGroup
	rec.Start()
	wg.Go(func() { startSchedule(tenants, 4, &wg) })
	ticker := time.NewTicker(4 * time.Millisecond)
	for i := range clicks {
		due := <-ticker.C
		clicking.Go(func() { clicks[i] = handleClick(due) })
		clicking.Wait()
	}
	wg.Wait()
	rec.Stop()
	var late []time.Duration
	for _, t := range tenants {
		late = append(late, t.late...)
	}
	slices.Sort(late)
	slices.Sort(clicks)
	fmt.Fprintf(os.Stderr, "proof: jobs began p50 %v, p90 %v after they were due; clicks took p50 %v, p95 %v\n", late[len(late)/2], late[len(late)*9/10], clicks[75], clicks[142])
}

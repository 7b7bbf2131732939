// Fx-revalue revalues the positions of a bank's desks at each tick of the
// rates. A risk report, a process of its own, computes on the same machine.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	ticks   = 100
	period  = 7 * time.Millisecond
	desks   = 4
	threads = 6
)

type rateTable struct {
	mu     sync.Mutex
	rates  map[int]float64
	waited atomic.Int64
}

func main() {
	if os.Getenv("RISK_REPORT") != "" {
		riskReport()
		return
	}
	table := &rateTable{rates: make(map[int]float64)}
	quiet := revalueAll(table)
	report := exec.Command(os.Args[0])
	report.Env = append(os.Environ(), "RISK_REPORT=1", fmt.Sprintf("GOMAXPROCS=%d", threads))
	if err := report.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	time.Sleep(50 * time.Millisecond)
	table.waited.Store(0)
	rec.Start()
	took := revalueAll(table)
	rec.Stop()
	report.Process.Kill()
	report.Wait()
	fmt.Fprintf(os.Stderr, "proof: %d revaluations beside the report: p50 %v, p90 %v, %v in all at the rates' mutex; without it p50 %v, p90 %v\n", len(took),
		took[len(took)/2], took[len(took)*9/10], time.Duration(table.waited.Load()), quiet[len(quiet)/2], quiet[len(quiet)*9/10])
}

func revalueAll(table *rateTable) []time.Duration {
	took := make([]time.Duration, ticks*desks)
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	var open sync.WaitGroup
	for tick := range ticks {
		<-ticker.C
		came := time.Now()
		for desk := range desks {
			open.Go(func() {
				revalue(table, desk)
				took[tick*desks+desk] = time.Since(came)
			})
		}
	}
	open.Wait()
	slices.Sort(took)
	return took
}

func revalue(table *rateTable, desk int) {
	for n := range 4 {
		table.rate(desk*4 + n)
		rec.Work(240)
	}
}

func (t *rateTable) rate(pair int) float64 {
	start := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waited.Add(int64(time.Since(start)))
	rec.Work(10)
	t.rates[pair]++
	return t.rates[pair]
}

func riskReport() {
	for range threads {
		go func() {
			for {
				rec.Work(1000)
			}
		}()
	}
	time.Sleep(20 * time.Second)
}

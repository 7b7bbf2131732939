// Quote-fan asks nine insurers for a price at once, and shows those that
// answer within 80 ms. Insurers are slow at times.
package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/quote-fan/fan"
)

const (
	insurers = 9
	offers   = 110
	period   = 10 * time.Millisecond
	patience = 80 * time.Millisecond
)

func main() {
	var late atomic.Int64
	took := make([]time.Duration, offers)
	r := rand.New(rand.NewPCG(7, 11))
	rec.Start()
	var open sync.WaitGroup
	ticker := time.NewTicker(period)
	for n := range offers {
		<-ticker.C
		needs := make([]time.Duration, insurers)
		for i := range needs {
			needs[i] = 8*time.Millisecond + time.Duration(r.ExpFloat64()*float64(18*time.Millisecond))
		}
		open.Go(func() {
			begin := time.Now()
			late.Add(int64(offer(needs)))
			took[n] = time.Since(begin) - min(slices.Max(needs), patience)
		})
	}
	open.Wait()
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d offers, %d of %d insurers too late; beyond the slowest in time, p50 %v, p99 %v\n",
		offers, late.Load(), offers*insurers, took[offers/2], took[offers*99/100])
}

// offer asks insurers, and returns how many were too late.
func offer(needs []time.Duration) int {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var all []func(context.Context) (int, error)
	for _, need := range needs {
		all = append(all, func(ctx context.Context) (int, error) { return quote(ctx, need) })
	}
	prices, late := fan.Ask(ctx, all)
	slices.Sort(prices)
	return late
}

// quote asks an insurer, who needs some time.
func quote(ctx context.Context, need time.Duration) (int, error) {
	answer := time.NewTimer(need)
	defer answer.Stop()
	select {
	case <-answer.C:
		return int(rec.Work(20) % 900), nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

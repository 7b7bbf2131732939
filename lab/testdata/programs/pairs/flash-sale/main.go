// Flash-sale takes orders, which come in crowds: some thirty times in half a
// second, at random moments, 10 to 60 customers order at once. The two releases
// differ in the text of the confirmation only.
package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/trace"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const crowds = 32

type shop struct {
	thanks string
	mu     sync.Mutex
	sold   int
	took   []time.Duration
}

func main() {
	s := &shop{thanks: "Thank you for your order"}
	if os.Getenv("SIDE") == "after" {
		s.thanks = "Thanks, your order is on its way"
	}
	rec.Start()
	var open sync.WaitGroup
	for range crowds {
		time.Sleep(time.Duration(rand.ExpFloat64() * float64(16*time.Millisecond)))
		came := time.Now()
		for customer := range 10 + rand.IntN(50) {
			open.Go(func() { s.handleOrder(customer, came) })
		}
	}
	open.Wait()
	rec.Stop()
	slices.Sort(s.took)
	n := len(s.took)
	fmt.Fprintf(os.Stderr, "proof: %d orders, p50 %v, p99 %v\n", n, s.took[n/2], s.took[n*99/100])
}

func (s *shop) handleOrder(customer int, came time.Time) {
	ctx, task := trace.NewTask(context.Background(), "order")
	defer task.End()
	trace.WithRegion(ctx, "sign", func() { s.sign(customer) })
	s.mu.Lock()
	s.sold++
	s.took = append(s.took, time.Since(came))
	s.mu.Unlock()
}

func (s *shop) sign(customer int) [sha256.Size]byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s, customer %d", s.thanks, customer))
	for range 400 + rand.IntN(1200) {
		sum = sha256.Sum256(sum[:])
	}
	return sum
}

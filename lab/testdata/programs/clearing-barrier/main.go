// Clearing-barrier clears the payments between banks in rounds: all banks'
// books must be through one round before any begins the next.
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
	banks  = 6
	rounds = 6
	pages  = 24
)

// barrier lets nobody pass before all have come.
type barrier struct {
	parties int32
	come    atomic.Int32
	round   atomic.Int32
}

// Await returns when all parties have called it.
func (b *barrier) Await() {
	round := b.round.Load()
	if b.come.Add(1) == b.parties {
		b.come.Store(0)
		b.round.Add(1)
		return
	}
	for spins := 1; b.round.Load() == round; spins++ {
		if spins%4_000_000 == 0 {
			runtime.Gosched()
		}
	}
}

func main() {
	b := &barrier{parties: banks}
	// What the book with all the pages takes by itself.
	start := time.Now()
	clearBook(0, 0)
	alone := time.Since(start)
	var stopped atomic.Bool
	var late []time.Duration
	rec.Start()
	var enquiries, clearing sync.WaitGroup
	enquiries.Go(func() { late = answerEnquiries(&stopped) })
	start = time.Now()
	for bank := range banks {
		clearing.Go(func() {
			for round := range rounds {
				clearBook(bank, round)
				b.Await()
			}
		})
	}
	clearing.Wait()
	took := time.Since(start)
	stopped.Store(true)
	enquiries.Wait()
	rec.Stop()
	slices.Sort(late)
	fmt.Fprintf(os.Stderr, "proof: %d rounds took %v, though the largest book takes %v a round alone; %d enquiries were late by p50 %v, p90 %v\n",
		rounds, took, alone, len(late), late[len(late)/2], late[len(late)*9/10])
}

// clearBook works through the pages of a bank's book. In each round one bank
// has most of the payments.
func clearBook(bank, round int) {
	n := 2
	if bank == round%banks {
		n = pages
	}
	for range n {
		time.Sleep(200 * time.Microsecond) // the page comes from the archive
		rec.Work(60)
	}
}

func answerEnquiries(stopped *atomic.Bool) (late []time.Duration) {
	due := time.Now()
	for !stopped.Load() {
		due = due.Add(3 * time.Millisecond)
		time.Sleep(time.Until(due))
		late = append(late, time.Since(due))
		rec.Work(50)
	}
	return late
}

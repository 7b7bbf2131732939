// Ledger-actor keeps the balances of accounts in a goroutine of their own, so
// that they need no lock; pricing asks for them while it goes through baskets.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	accounts = 5000
	baskets  = 400
	entries  = 80
	pricers  = 3
)

type balanceRequest struct {
	account int
	reply   chan int
}

type transfer struct{ from, to, amount int }

// A ledger owns the balances; only its serve touches them.
type ledger struct {
	balances  []int
	requests  chan balanceRequest
	transfers chan transfer
	closed    chan struct{}
}

func newLedger() *ledger {
	l := &ledger{
		balances:  make([]int, accounts),
		requests:  make(chan balanceRequest),
		transfers: make(chan transfer),
		closed:    make(chan struct{}),
	}
	for i := range l.balances {
		l.balances[i] = i % 977
	}
	return l
}

func (l *ledger) serve() {
	for {
		select {
		case r := <-l.requests:
			r.reply <- l.balances[r.account]
		case t := <-l.transfers:
			l.balances[t.from] -= t.amount
			l.balances[t.to] += t.amount
		case <-l.closed:
			return
		}
	}
}

// Balance returns the balance of an account.
func (l *ledger) Balance(account int) int {
	r := balanceRequest{account, make(chan int)}
	l.requests <- r
	return <-r.reply
}

// priceBasket adds up what a basket's entries are worth to their accounts.
func priceBasket(balance func(account int) int, basket int) (worth int) {
	for n := range entries {
		worth += balance((basket*131+n*17)%accounts) % 100
	}
	return worth
}

func main() {
	l := newLedger()
	// What the same baskets take with a lock, as a comparison.
	var mu sync.Mutex
	want := 0
	start := time.Now()
	for id := range pricers {
		for basket := range baskets {
			want += priceBasket(func(account int) int {
				mu.Lock()
				defer mu.Unlock()
				return l.balances[account]
			}, id*baskets+basket)
		}
	}
	locked := time.Since(start)
	took := make([]time.Duration, pricers)
	sums := make([]int, pricers)
	var all sync.WaitGroup
	rec.Start()
	go l.serve()
	for id := range pricers {
		all.Go(func() {
			for basket := range baskets {
				start := time.Now()
				sums[id] += priceBasket(l.Balance, id*baskets+basket)
				took[id] += time.Since(start)
				if basket%10 == 9 {
					l.transfers <- transfer{basket, basket, 1}
					time.Sleep(8 * time.Millisecond) // the next order comes in
				}
			}
		})
	}
	all.Wait()
	rec.Stop()
	close(l.closed)
	var sum time.Duration
	got := 0
	for id := range pricers {
		sum += took[id]
		got += sums[id]
	}
	if got != want {
		panic("wrong worth")
	}
	fmt.Fprintf(os.Stderr, "proof: %d balances took %v from the ledger's goroutine, %v under a lock\n",
		pricers*baskets*entries, sum, locked)
}

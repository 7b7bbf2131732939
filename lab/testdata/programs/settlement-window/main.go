// Settlement-window settles what the members of a clearing house have handed
// in when a window closes. Each window has until the next to be done.
package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	windows = 12
	period  = 60 * time.Millisecond
	members = 16
)

type account struct {
	mu      sync.Mutex
	balance int
}

type house struct {
	accounts [members]account
	inbox    chan payment
}

type payment struct{ from, to, cents int }

func main() {
	h := &house{inbox: make(chan payment, members)}
	took := make([]time.Duration, windows)
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	rec.Start()
	for w := range windows {
		go h.handIn(w)
		pending := h.gather()
		<-ticker.C
		start := time.Now()
		h.settle(pending)
		took[w] = time.Since(start)
	}
	rec.Stop()
	slices.Sort(took)
	sum := 0
	for i := range h.accounts {
		sum += h.accounts[i].balance
	}
	fmt.Fprintf(os.Stderr, "proof: %d windows of %d payments were settled in p50 %v, at most %v; each had %v; balances add up to %d\n",
		windows, members, took[windows/2], took[windows-1], period, sum)
}

// handIn has the members hand in their payments in the course of a window.
func (h *house) handIn(window int) {
	for from := range members {
		time.Sleep(time.Millisecond)
		h.inbox <- payment{from, (from*5 + window) % members, 100 + from}
	}
}

func (h *house) gather() []payment {
	pending := make([]payment, members)
	for i := range pending {
		pending[i] = <-h.inbox
	}
	return pending
}

// settle settles all payments of a window at once.
func (h *house) settle(pending []payment) {
	var open sync.WaitGroup
	for _, p := range pending {
		open.Go(func() { h.transfer(p) })
	}
	open.Wait()
}

func (h *house) transfer(p payment) {
	verify(p)
	h.accounts[p.from].add(-p.cents)
	h.accounts[p.to].add(p.cents)
}

func (a *account) add(cents int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.balance += cents
}

// verify checks the signature of a payment.
func verify(p payment) uint64 { return rec.Work(40) + uint64(p.cents) }

// Order-matcher matches orders that come in on a channel, and answers quote
// requests meanwhile.
package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type order struct{ price, amount int }

type matcher struct {
	orders  chan order
	stop    chan struct{}
	matched int
	idle    int
}

func (m *matcher) run() {
	for {
		select {
		case o := <-m.orders:
			m.match(o)
		case <-m.stop:
			return
		default:
			m.idle++
		}
	}
}

func (m *matcher) match(o order) {
	rec.Work(20)
	m.matched += o.amount
}

func handleQuote(came time.Time) time.Duration {
	rec.Work(1200)
	return time.Since(came)
}

func main() {
	m := &matcher{orders: make(chan order, 16), stop: make(chan struct{})}
	took := make([]time.Duration, 400)
	var quotes, matching sync.WaitGroup
	rec.Start()
	matching.Go(m.run)
	ticker := time.NewTicker(time.Millisecond)
	for i := range took {
		came := <-ticker.C
		if i%4 == 0 {
			m.orders <- order{i, 1}
		}
		quotes.Go(func() { took[i] = handleQuote(came) })
	}
	quotes.Wait()
	close(m.stop)
	matching.Wait()
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d empty looks for %d orders; quotes of 1.2 ms took p50 %v, p99 %v\n", m.idle, m.matched, took[200], took[396])
}

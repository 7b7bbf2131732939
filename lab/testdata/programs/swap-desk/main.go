// Swap-desk moves money between the accounts of market makers, and quotes
// rates meanwhile.
package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/swap-desk/bank"
)

const (
	accounts = 5
	makers   = 6
	moves    = 18 // of each maker
	quotes   = 100
	period   = 3 * time.Millisecond
	journal  = 2 * time.Millisecond
)

func main() {
	rec.Start()
	took, quoted := trade(&bank.Desk{Journal: journal})
	rec.Stop()
	took2, quoted2 := trade(&bank.Desk{Journal: journal, InOrder: true})
	fmt.Fprintf(os.Stderr, "proof: %d moves in %v, quotes p50 %v, p90 %v; if the accounts are locked in order, untraced: %v, quotes p50 %v, p90 %v\n",
		makers*moves, took.Round(time.Millisecond), quoted[quotes/2], quoted[quotes*9/10],
		took2.Round(time.Millisecond), quoted2[quotes/2], quoted2[quotes*9/10])
}

func trade(d *bank.Desk) (took time.Duration, quoted []time.Duration) {
	book := make([]*bank.Account, accounts)
	for n := range book {
		book[n] = &bank.Account{Number: n, Balance: 1e6}
	}
	begin := time.Now()
	var trading, open sync.WaitGroup
	for maker := range makers {
		trading.Go(func() {
			for n := range moves {
				from := (maker + n) % accounts
				to := (from + 1 + (maker*7+n*3)%(accounts-1)) % accounts
				d.Move(book[from], book[to], 100)
				rec.Work(100)
			}
		})
	}
	quoted = make([]time.Duration, quotes)
	open.Go(func() {
		for n := range quotes {
			due := begin.Add(time.Duration(n) * period)
			time.Sleep(time.Until(due))
			quote()
			quoted[n] = time.Since(due)
		}
	})
	trading.Wait()
	took = time.Since(begin)
	open.Wait()
	slices.Sort(quoted)
	return took, quoted
}

func quote() uint64 { return rec.Work(60) }

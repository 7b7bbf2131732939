// Test-ledger is a ledger of accounts, whose tests are recorded.
package main

import "github.com/gmpscope/gmpscope/lab/testdata/units/mark"

// A ledger holds balances, in cents.
type ledger map[string]int

func (l ledger) transfer(from, to string, cents int) {
	mark.Work(200)
	l[from] -= cents
	l[to] += cents
}

func (l ledger) sum() (cents int) {
	mark.Work(500)
	for _, balance := range l {
		cents += balance
	}
	return cents
}

func main() { ledger{}.transfer("a", "b", 1) }

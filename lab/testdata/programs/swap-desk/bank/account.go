// Package bank moves money between accounts.
package bank

import (
	"sync"
	"time"
)

type Account struct {
	Number  int
	Balance int
	mu      sync.Mutex
}

// A Desk moves money, and writes down each move in a journal elsewhere.
type Desk struct {
	InOrder bool // lock the lower number first: the remedy
	Journal time.Duration
}

func (d *Desk) Move(from, to *Account, cents int) {
	d.hold(from, to)
	defer from.mu.Unlock()
	defer to.mu.Unlock()
	from.Balance -= cents
	to.Balance += cents
	d.record()
}

// hold locks both accounts. Two that want the same ones in opposite order do
// not wait for each other for ever.
func (d *Desk) hold(from, to *Account) {
	if d.InOrder {
		if from.Number > to.Number {
			from, to = to, from
		}
		from.mu.Lock()
		to.mu.Lock()
		return
	}
	for {
		from.mu.Lock()
		if to.mu.TryLock() {
			return
		}
		from.mu.Unlock()
	}
}

// record waits until the journal has the move.
func (d *Desk) record() { time.Sleep(d.Journal) }

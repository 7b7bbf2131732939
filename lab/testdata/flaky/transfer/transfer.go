// Package transfer is a toy bank: accounts with a lock each, and transfers
// between them that must never create or destroy money.
package transfer

import (
	"errors"
	"fmt"
	"hash/adler32"
	"sync"
)

// ErrFunds is returned when the balance does not suffice.
var ErrFunds = errors.New("transfer: insufficient funds")

// Account holds cents.
type Account struct {
	ID string

	mu      sync.Mutex
	balance int64
	journal []Entry
}

// Entry of an account's journal; Sum chains the entries.
type Entry struct {
	Text string
	Sum  uint32
}

// NewAccount opens an account.
func NewAccount(id string, cents int64) *Account {
	return &Account{ID: id, balance: cents}
}

// Balance of the account.
func (a *Account) Balance() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.balance
}

// note writes to the journal; the caller holds the lock.
func (a *Account) note(format string, args ...any) {
	e := Entry{Text: fmt.Sprintf(format, args...)}
	if n := len(a.journal); n > 0 {
		e.Sum = a.journal[n-1].Sum
	}
	e.Sum ^= adler32.Checksum([]byte(e.Text))
	a.journal = append(a.journal, e)
}

// Transfer moves cents from one account to another. Both are locked, so that
// nobody sees the money twice or not at all.
func Transfer(from, to *Account, cents int64) error {
	if cents <= 0 {
		return fmt.Errorf("transfer: amount %d", cents)
	}
	from.mu.Lock()
	defer from.mu.Unlock()
	if from.balance < cents {
		from.note("refused %d to %s", cents, to.ID)
		return ErrFunds
	}
	from.note("sent %d to %s", cents, to.ID)

	to.mu.Lock()
	defer to.mu.Unlock()
	to.note("got %d from %s", cents, from.ID)
	from.balance -= cents
	to.balance += cents
	return nil
}

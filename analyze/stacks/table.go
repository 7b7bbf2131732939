package stacks

import "github.com/gmpscope/gmpscope/analyze/ledger"

// Place reports whose stack a row of waits for a P has: where the goroutine stopped before it waited,
// where it was created, or none that is known.
type Place string

// The places, in the order of their numbers.
const (
	NotRecorded Place = "not recorded" // the trace does not say where the goroutine had stopped
	Stopped     Place = "stopped"      // where the goroutine had stopped before it waited
	Created     Place = "created"      // the go statement that created the goroutine, which had not run yet
	Others      Place = "others"       // further stacks of the class
)

// others is what [ledger.Place] has not.
const others = ledger.Created + 1

var places = [...]Place{ledger.NoPlace: NotRecorded, ledger.StoppedAt: Stopped, ledger.Created: Created, others: Others}

// key distinguishes the accounts: class and stack are handles, as the decisions have them.
type key struct {
	class, stack int32
	place        ledger.Place
}

// table has an account for each key, up to a number of them.
type table[Account any] struct {
	keys     []key // of each account
	accounts []Account
	index    map[key]int32
	most     int
	recently [256]recent
}

// recent is a key that was looked up lately. It is split so that comparing it is one
// step.
type recent struct {
	stackClass uint64
	place      ledger.Place
	index      int32 // plus 1
}

// newTable returns a table with at most so many accounts, and one of the Others for each
// class that has more, at most as many again.
func newTable[Account any](most int) *table[Account] {
	return &table[Account]{index: map[key]int32{}, most: most}
}

// at returns the account of a key. The pointer is good until the next call.
//
// OPT: the map takes three times as long as all else that a wait costs here.
func (t *table[Account]) at(k key) *Account {
	both := uint64(uint32(k.stack))<<32 | uint64(uint32(k.class))
	r := &t.recently[(uint32(k.stack)*31+uint32(k.class))%uint32(len(t.recently))]
	if r.stackClass != both || r.place != k.place || r.index == 0 {
		*r = recent{both, k.place, t.find(k) + 1}
	}
	return &t.accounts[r.index-1]
}

func (t *table[Account]) find(k key) int32 {
	if i, ok := t.index[k]; ok {
		return i
	}
	switch n := len(t.keys); {
	case n < t.most, k == everybody:
	case k.place != others && k.stack != 0:
		return t.find(key{class: k.class, place: others})
	case n >= 2*t.most:
		return t.find(everybody)
	}
	i := int32(len(t.keys))
	var empty Account
	t.keys, t.accounts = append(t.keys, k), append(t.accounts, empty)
	t.index[k] = i
	return i
}

// everybody is the key of what has no account of its class.
var everybody = key{class: noClass, place: others}

package pprof

import (
	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/reference"
)

// key distinguishes the accounts of a profile. Classes and stacks are handles.
type key struct {
	class, stack, waker int32
	source              reference.Source
	why                 reference.Why // what made it runnable, if no goroutine did
	byGoroutine         bool
	place               place
	blocked             bool // it is about the time before it was runnable
	reason              breakdown.Reason
}

// place specifies what the stack of a key is.
type place uint8

const (
	notRecorded place = iota
	stopped           // or created
	others            // further stacks, wakers and sources of the class
)

type account struct {
	waits [waits.NumCauses]int64 // those whose largest cause it is
	ns    [waits.NumCauses]int64

	blocks, blockedNs int64 // how often, and for how long, it was blocked before
}

// accounts are the waiting of a trace, in the order in which their keys came up. There
// are at most so many; what is beyond is in one account of each class, and where those
// are as many again, in one of all.
type accounts struct {
	most  int
	keys  []key
	of    []account
	index map[key]int32
}

// everybody is the key of what has no account of its class.
var everybody = key{class: waits.ClassOthers, place: others}

func newAccounts(most int) *accounts { return &accounts{most: most, index: map[key]int32{}} }

// at returns the account of a key. The pointer is good until the next call.
func (a *accounts) at(k key) *account {
	if i, ok := a.index[k]; ok {
		return &a.of[i]
	}
	switch n := len(a.keys); {
	case n < a.most, k == everybody:
	case k.place != others:
		return a.at(key{class: k.class, place: others})
	case n >= 2*a.most:
		return a.at(everybody)
	}
	a.index[k] = int32(len(a.keys))
	a.keys, a.of = append(a.keys, k), append(a.of, account{})
	return &a.of[len(a.of)-1]
}

// keyOf is the key of a wait that ended in a block.
func keyOf(b *ledger.Block, w *waits.EndedWait) key {
	stack, at := b.Stack(int(w.At))
	k := key{class: b.Classes[b.Notes[w.At].Class], stack: stack, source: b.Decisions[w.At].Src}
	if at != ledger.NoPlace {
		k.place = stopped
	}
	if w.By > 0 {
		k.waker, k.byGoroutine = w.Waker, true
	} else {
		k.why = w.Why
	}
	return k
}

// add books a wait. It counts for its largest cause.
func (a *account) add(w *waits.EndedWait) {
	largest := waits.NumCauses - 1
	for i, ns := range &w.Causes {
		a.ns[i] += ns
		if ns > w.Causes[largest] {
			largest = i
		}
	}
	if w.Begins {
		a.waits[largest]++
	}
}

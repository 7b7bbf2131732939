package pprof

import (
	"math"

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

// addBlocked books for how long the goroutines were blocked that something made runnable in a block of
// decisions: the part of it inside the window.
func (w *Writer) addBlocked(b *ledger.Block) {
	rare := b.Rare
	for i := range b.Blocked {
		x := &b.Blocked[i]
		for ; len(rare) > 0 && rare[0] < x.At; rare = rare[1:] {
			w.noteGap(b, rare[0])
		}
		class := b.Classes[x.Class]
		// Whether it was woken in a gap is not known.
		if x.From > w.gap && (w.opt.All || b.Notes[x.At].OfProgram()) && w.lookup.Chosen(x.G, class) {
			w.bookBlocked(b, x, class)
		}
	}
	for _, i := range rare {
		w.noteGap(b, i)
	}
}

// noteGap notes when the trace had a gap last, if it does at decision number i of a block.
func (w *Writer) noteGap(b *ledger.Block, i int32) {
	if b.Notes[i].Changed&ledger.Gap != 0 {
		w.gap = b.Decisions[i].Time
	}
}

func (w *Writer) bookBlocked(b *ledger.Block, x *ledger.Blocked, class int32) {
	end := w.lookup.Focus.To
	if end == 0 {
		end = math.MaxInt64
	}
	ns := min(x.To, end) - max(x.From, w.lookup.Focus.From)
	if ns <= 0 {
		return
	}
	k := key{class: class, stack: x.Stack, blocked: true, reason: breakdown.ReasonOf(x.Why, x.Reason)}
	if x.Stack != 0 {
		k.place = stopped
	}
	if b.Waker(int(x.At)) != 0 {
		k.waker, k.byGoroutine = b.Classes[x.WakerClass], true
	} else {
		k.why = b.Decisions[x.At].Why
	}
	a := w.accounts.at(k)
	if a.blockedNs += ns; x.From >= w.lookup.Focus.From {
		a.blocks++
	}
}

package stacks

import (
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/reference"
)

// Options bound the memory of an [Accumulator] and select what it counts. The zero value of a
// field means its default.
type Options struct {
	// Pairs is the number of pairs of a class and a stack that have an account of their
	// own. Default 1<<14.
	Pairs       int
	ledger.Part // part of the blocked time that counts; waits come as package waits counts them
}

// noClass is the class of accounts that many share.
const noClass = waits.ClassOthers

// Accumulator sums the waits of a stream of decisions by class and stack. Its memory
// depends on Options. It is not safe for concurrent use.
type Accumulator struct {
	opt     Options
	waiting *table[account]
	woken   *table[wakeUps]
	classes []int32 // handles, by the ledger's index
}

// account is the waiting of a class at a stack.
type account struct {
	waits     int64
	causes    [waits.NumCauses]int64 // ns
	blockedNs int64
}

// wakeUps are the waits of a class that began at a stack of another goroutine.
type wakeUps struct{ waits, ns int64 }

// New returns an empty Accumulator.
func New(o Options) *Accumulator {
	if o.Pairs <= 0 {
		o.Pairs = 1 << 14
	}
	return &Accumulator{opt: o, waiting: newTable[account](o.Pairs), woken: newTable[wakeUps](o.Pairs)}
}

// Add processes the next block of the stream, with the waits that ended in it, in order. It
// does not retain them.
func (a *Accumulator) Add(b *ledger.Block, ended []waits.EndedWait) {
	a.classes = b.Classes
	for i := range b.Blocked {
		x := &b.Blocked[i]
		for len(ended) > 0 && ended[0].At < x.At {
			a.bookWait(b, &ended[0])
			ended = ended[1:]
		}
		a.bookBlocked(x)
	}
	for i := range ended {
		a.bookWait(b, &ended[i])
	}
}

func (a *Accumulator) bookWait(b *ledger.Block, w *waits.EndedWait) {
	class := a.classes[b.Notes[w.At].Class]
	stack, at := b.Stack(int(w.At))
	to := a.waiting.at(key{class, stack, at})
	woken := w.Woken
	if w.Why == reference.WhyCreate {
		woken = 0
	}
	by := a.woken.at(key{class: class, stack: woken})
	if w.Begins {
		to.waits++
		by.waits++
	}
	by.ns += w.To - w.From
	w.AddTo(&to.causes)
}

func (a *Accumulator) bookBlocked(x *ledger.Blocked) {
	class, at := a.classes[x.Class], ledger.StoppedAt
	if x.Stack == 0 {
		at = ledger.NoPlace
	}
	if ns := a.opt.Within(x.From, x.To); ns > 0 && a.opt.Has(x.G, class) {
		a.waiting.at(key{class, x.Stack, at}).blockedNs += ns
	}
}

package stacks

import (
	"github.com/gmpscope/gmpscope/analyze/ids"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/reference"
)

// Options of an [Accumulator]. The zero value of a field means its default.
type Options struct {
	// Pairs is the number of pairs of a class and a stack that have an account of their
	// own. Default 1<<14.
	Pairs int
	// From and To bound the window in which blocked time counts, ns; To of 0 is the end
	// of the stream. Waits come as package waits counts them.
	From, To int64
	// Only, if set, says of which goroutines and classes (handles) blocked time counts.
	Only func(g int64, class int32) bool
	// OnWait, if set, is called with every wait that is booked, and the stack (a handle, 0
	// for none) that it belongs to.
	OnWait func(w *waits.EndedWait, stack int32, at Place)
}

// noClass is the class of accounts that many share.
const noClass = waits.ClassOthers

// Accumulator sums up the waits of a stream of decisions by class and stack. Its memory
// depends on the number of goroutines alive at one time, and Options. It is not safe for
// concurrent use.
type Accumulator struct {
	opt     Options
	gors    ids.Parts[goroutine] // by slot
	waiting *table[account]
	woken   *table[wakeUps]
	classes []int32 // handles, by the ledger's index
}

// goroutine is what is known of one that has not ended.
type goroutine struct {
	stack   int32 // where it stopped last, or was created
	waker   int32 // stack of who made it runnable again
	place   place // what stack is
	blocked bool  // it stopped, and not for a system call
}

// account is the waiting of a class at a stack.
type account struct {
	waits     int64
	causes    [waits.NumCauses]int64 // ns
	blockedNs int64
}

// wakeUps are the waits of a class that began at a stack of another goroutine.
type wakeUps struct{ waits, ns int64 }

// New returns an Accumulator that has seen nothing.
func New(o Options) *Accumulator {
	if o.Pairs <= 0 {
		o.Pairs = 1 << 14
	}
	a := &Accumulator{opt: o, waiting: newTable[account](o.Pairs), woken: newTable[wakeUps](o.Pairs)}
	a.gors.Grow(1)
	return a
}

// Add processes the next block of the stream, with the waits that ended in it, in order. It
// does not keep them.
func (a *Accumulator) Add(b *ledger.Block, ended []waits.EndedWait) {
	a.gors.Grow(b.Slots)
	a.classes = b.Classes
	ds, next := b.Decisions, 0 // the first that was not taken yet
	notes := b.Notes[:len(ds)]
	for i := range ds {
		if i < next {
			continue
		}
		d, n := &ds[i], &notes[i]
		switch d.Kind {
		case reference.KindReady:
			a.ready(d, n)
		case reference.KindStart:
			if len(ended) > 0 && int(ended[0].At) == i {
				a.bookWait(&ended[0], n)
				ended = ended[1:]
			}
		case reference.KindStop:
			a.stop(d, n)
		case reference.KindSyscall:
			if k := b.Calls(i); k > 0 { // the last of them is the one that matters
				next = i + k
				d = &ds[next-2]
			}
			a.leave(n.G, d.Stack, false)
		}
	}
}

// ready follows a goroutine that becomes runnable.
func (a *Accumulator) ready(d *reference.Decision, n *ledger.Note) {
	if n.G == 0 {
		return
	}
	g := a.gors.At(n.G)
	switch {
	case n.Was == ledger.Waiting && g.blocked:
		a.bookBlocked(d.G, g, a.classes[n.Class], n.Since, d.Time)
	case n.Was == ledger.Unseen && d.Why == reference.WhyCreate && d.Stack != 0:
		g.stack, g.place = d.Stack, created
	}
	g.waker = 0
	if d.By >= 0 && d.Why != reference.WhyCreate {
		g.waker = d.Stack
	}
}

// stop follows a goroutine that stops running.
func (a *Accumulator) stop(d *reference.Decision, n *ledger.Note) {
	switch d.Why {
	case reference.WhyExit, reference.WhyLost:
		*a.gors.At(n.G) = goroutine{}
	default:
		a.leave(n.G, d.Stack, d.Why != reference.WhySyscall)
	}
}

// leave notes where a goroutine stopped, or called the operating system.
func (a *Accumulator) leave(slot, stack int32, blocked bool) {
	g := a.gors.At(slot)
	g.stack, g.place, g.blocked = stack, stopped, blocked
	if stack == 0 {
		g.place = notRecorded
	}
}

// bookWait books a wait that n's decision, a start, ends.
func (a *Accumulator) bookWait(w *waits.EndedWait, n *ledger.Note) {
	g, class := a.gors.At(n.G), a.classes[n.Class]
	to := a.waiting.at(key{class, g.stack, g.place})
	by := a.woken.at(key{class: class, stack: g.waker})
	if w.Begins {
		to.waits++
		by.waits++
	}
	by.ns += w.To - w.From
	w.AddTo(&to.causes)
	if a.opt.OnWait != nil {
		a.opt.OnWait(w, g.stack, places[g.place])
	}
}

// bookBlocked books that goroutine id, which is g and of a class, was blocked.
func (a *Accumulator) bookBlocked(id int64, g *goroutine, class int32, from, to int64) {
	if from = max(from, a.opt.From); a.opt.To > 0 {
		to = min(to, a.opt.To)
	}
	if to > from && (a.opt.Only == nil || a.opt.Only(id, class)) {
		a.waiting.at(key{class, g.stack, g.place}).blockedNs += to - from
	}
}

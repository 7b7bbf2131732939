package pprof

import (
	"math"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/reference"
)

// blocks finds for how long goroutines were blocked until somebody, or something, made them
// runnable. Its memory depends on the number of goroutines alive at one time.
type blocks struct {
	lookup analyze.Lookup
	all    bool
	of     []blocking // by slot
}

// blocking is what a goroutine is blocked on, if it is.
type blocking struct {
	class  int32
	stack  int32
	reason breakdown.Reason
	active bool
}

// add books what ends in a block of decisions.
func (x *blocks) add(b *ledger.Block, to *accounts) {
	if n := int(b.Slots) - len(x.of); n > 0 {
		x.of = append(x.of, make([]blocking, n)...)
	}
	for i := range b.Decisions {
		d, n := &b.Decisions[i], &b.Notes[i]
		if d.Kind == reference.KindLost {
			for slot := range x.of { // whether they were woken meanwhile is not known
				x.of[slot].active = false
			}
		}
		if n.G == 0 || d.Kind.Annotates() || d.Kind == reference.KindMove {
			continue
		}
		g := &x.of[n.G]
		g.class = b.Classes[n.Class]
		switch d.Kind {
		case reference.KindStop:
			g.active = d.Why == reference.WhyBlock || d.Why == reference.WhyCoroutine || d.Why == reference.WhySuspend
			g.stack, g.reason = d.Stack, breakdown.ReasonOf(d)
		case reference.KindReady:
			if g.active && (x.all || n.OfProgram()) && x.lookup.Chosen(d.G, g.class) {
				x.book(b, i, g, to)
			}
			g.active = false
		case reference.KindStart:
			g.active = false
		}
	}
}

// book adds what a goroutine was blocked until decision number i made it runnable: the part of it
// inside the window.
func (x *blocks) book(b *ledger.Block, i int, g *blocking, to *accounts) {
	d, since := &b.Decisions[i], b.Notes[i].Since
	end := x.lookup.Focus.To
	if end == 0 {
		end = math.MaxInt64
	}
	ns := min(d.Time, end) - max(since, x.lookup.Focus.From)
	if ns <= 0 {
		return
	}
	k := key{class: g.class, stack: g.stack, blocked: true, reason: g.reason}
	if g.stack != 0 {
		k.place = stopped
	}
	if slot := b.Waker(i); slot != 0 {
		k.waker, k.byGoroutine = x.of[slot].class, true
	} else {
		k.why = d.Why
	}
	a := to.at(k)
	if a.blockedNs += ns; since >= x.lookup.Focus.From {
		a.blocks++
	}
}

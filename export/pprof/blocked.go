package pprof

import (
	"math"

	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/ledger"
)

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

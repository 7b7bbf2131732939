package gcdisplacement

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice; share is of all waiting.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, share float64) {
	total := w.victims.Total
	x.Headline = fmt.Sprintf("The garbage collector holds Ps that goroutines wait for: %s of the waiting", quantity.Percent(share))
	x.Title = fmt.Sprintf("Mark workers of the garbage collector held Ps that goroutines waited for: %s of all waiting, up to %s of one wait",
		quantity.Percent(share), quantity.Duration(total.Worst))
	x.Evidence = []findings.Evidence{
		{What: "waiting that would not have been with the workers' Ps", Value: quantity.Duration(total.Ns) + ", " + quantity.Percent(share) + " of all", Limit: quantity.Percent(w.t.Share), Ns: total.Ns},
		{What: "waits with such a part", Value: quantity.Count(total.N)},
		{What: "of them, with a long one", Value: quantity.Count(w.long), Limit: quantity.Duration(w.t.LongNs) + " each"},
		{What: "the longest such part", Value: quantity.Duration(total.Worst), Limit: quantity.Duration(w.t.LongNs), Ns: total.Worst},
		{What: "goroutine-time displaced by idle workers", Value: quantity.Duration(int64(w.idleCost)), Ns: int64(w.idleCost)},
		{What: "idle workers that ran on beside goroutines that waited", Value: quantity.Count(w.ignored), Limit: quantity.Duration(w.t.LongNs) + " each"},
	}
	for i, m := range w.modes {
		if m.n > 0 {
			x.Evidence = append(x.Evidence, findings.Evidence{
				What: "P-time of " + modeNames[i] + " workers", Value: quantity.Duration(m.ns) + " in " + quantity.Plural(m.n, "run", "runs"), Ns: m.ns})
		}
	}
	if top, all := w.allocators.Top(f); all >= minCycles {
		for _, a := range top {
			x.Evidence = append(x.Evidence, findings.Evidence{What: "cycles that allocations in " + a.Function + " started", Value: quantity.Count(a.Cycles) + " of " + quantity.Count(all)})
		}
	}
	room := &f.Headroom
	if room.Cycles > 0 {
		x.Evidence = append(x.Evidence, findings.Evidence{What: "heap goal, beside what was alive after a cycle", Value: quantity.Factor(1 + room.Growth())})
	}
	x.Advice = []string{w.allocators.Advice(f)}
	if f.MoreRoom() != "" {
		x.Headline = fmt.Sprintf("The heap has no room to grow: collections hold Ps for %s of the waiting", quantity.Percent(share))
	}
	if fractional := &w.modes[1]; 2*fractional.ns > w.modes[0].ns+fractional.ns {
		x.Advice = append(x.Advice, "The workers are fractional ones, which do not look for other work. There are such only with 1, 2, 3 or 6 Ps; with 4 or more, if the machine has the CPUs, others stay free.")
	}
	if w.mostIdle() {
		x.Advice = append(x.Advice, "Most of it is idle workers: a P that runs one does not look into the queues of other Ps, and no thread is woken for what is queued there, since no P is idle. Spread the work over more Ps before it has to wait, and try the newest Go version.")
	} else {
		x.Advice = append(x.Advice, "The collector takes a quarter of GOMAXPROCS while it marks, by design: leave that much of the Ps free, by fewer CPU-bound goroutines or more Ps, if the machine has CPUs for them.")
	}
}

// minCycles is how many cycles there must be to say who allocates.
const minCycles = 3

var modeNames = [...]string{"dedicated", "fractional", "idle"}

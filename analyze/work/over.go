package work

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/ledger"
)

// Stretch is an interval of one P in which the goroutine on it swept memory for the garbage collector:
// see [Accumulator.Swept].
type Stretch struct {
	From, To int64 // it is [From, To), ns
	P        int32 // number of the P
}

// stretch is a time in which the goroutine that ran on a P did something else.
type stretch struct {
	Stretch
	does activity
}

// Swept processes the intervals in which goroutines swept memory for the garbage collector, which count
// as "gc-sweep" in the time of their units. They must come in the order of their ends, before the
// block in which they end.
func (a *Accumulator) Swept(ss []Stretch) {
	for _, s := range ss {
		a.over = append(a.over, stretch{s, sweep})
	}
}

// lackedCPU processes when the threads of goroutines were on no CPU.
func (a *Accumulator) lackedCPU(spans []ledger.OffCPUSpan) {
	if len(spans) == 0 {
		return
	}
	for _, s := range spans {
		a.over = append(a.over, stretch{Stretch{s.From, s.To, s.P}, offCPU})
	}
	slices.SortStableFunc(a.over, func(x, y stretch) int { return cmp.Compare(x.To, y.To) })
}

// passOver adds the intervals of what goroutines did, up to now, instead of running.
func (a *Accumulator) passOver() {
	n := 0
	for ; n < len(a.over) && a.over[n].To <= a.now; n++ {
		s := &a.over[n]
		if uint(s.P) >= uint(len(a.onP)) {
			continue
		}
		l := a.lives.At(a.onP[s.P])
		from, doing := max(l.since, s.From), l.doing
		if doing != running && doing != assist || l.p != s.P || from >= s.To {
			continue
		}
		if from > l.since {
			a.pass(l, from)
		}
		l.doing = s.does
		a.pass(l, s.To)
		l.doing = doing
	}
	a.over = slices.Delete(a.over, 0, n)
}

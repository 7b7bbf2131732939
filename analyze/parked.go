package analyze

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/findings"
)

// Parked is goroutines that were blocked at one place from the beginning of a trace to its end.
type Parked struct {
	In, From string // innermost function, of any module, and that of the owner's which led there; "" if that is In
	N        int64  // how many there are
}

// maxParked bounds how many goroutines are followed.
const maxParked = 1 << 16

// parked follows the goroutines that do nothing. At the end of each generation the runtime writes the status and the
// stack of those that were in no event of it (traceAdvance; Go 1.23 and up).
type parked struct {
	syncs int64              // two for each generation
	by    map[int64]parkedAt // by goroutine
}

type parkedAt struct {
	generations int64 // in which it did nothing
	stack       events.Handle
}

// follow counts for how many generations goroutines do nothing; events come in order.
func (p *parked) follow(evs []events.Event) {
	if p.by == nil {
		p.by = map[int64]parkedAt{}
	}
	for i := range evs {
		switch e := &evs[i]; {
		case e.Kind == events.Sync:
			p.syncs++
		case e.Kind == events.Go && e.To == events.Waiting && e.TStack != 0 && (e.From == events.Waiting || e.From == events.Undetermined):
			if at, ok := p.by[e.Res]; ok || len(p.by) < maxParked {
				p.by[e.Res] = parkedAt{at.generations + 1, e.TStack}
			}
		}
	}
}

// finish returns where goroutines of the program were blocked all the time, most first.
func (p *parked) finish(f *findings.Facts) (out []Parked) {
	n := map[events.Handle]int64{}
	for _, at := range p.by {
		if 2*at.generations >= p.syncs {
			n[at.stack]++
		}
	}
	all := map[Parked]int64{}
	for stack, n := range n {
		a := (&findings.Actor{Role: findings.Victim, Stack: f.Frames(int32(stack)), Tested: f.Tested}).AtInnermost()
		if in := a.Short(); in != "" {
			all[Parked{In: string(in), From: string(a.CalledBy())}] += n
		}
	}
	for at, n := range all {
		at.N = n
		out = append(out, at)
	}
	slices.SortFunc(out, func(x, y Parked) int {
		return cmp.Or(cmp.Compare(y.N, x.N), cmp.Compare(x.In, y.In), cmp.Compare(x.From, y.From))
	})
	return out
}

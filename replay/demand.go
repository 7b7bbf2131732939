package replay

import (
	"context"

	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/reference/sim"
)

// demand is what the goroutines of a run ask for: a piece of work for each time
// that one becomes runnable, up to when it blocks, ends, or goes into a system
// call. To be preempted, or to yield, does not end it. Given to another
// scheduler, all pieces come at the time at which they came in that run.
type demand struct {
	pieces []piece // in the order of their times
	gs     map[int64]asking
}

type piece struct {
	at, ns int64
	class  int32
}

// asking is a goroutine's piece that is not done.
type asking struct {
	piece int32
	since int64 // it runs, if not negative
}

func newDemand() *demand { return &demand{gs: map[int64]asking{}} }

// add processes the next decision of a simulated run.
func (m *demand) add(d *reference.Decision) {
	if d.G < 0 || d.Flags&reference.FlagGC != 0 {
		return
	}
	x, ok := m.gs[d.G]
	switch d.Kind {
	case reference.KindReady, reference.KindStart, reference.KindSyscallExit:
		if d.Kind == reference.KindSyscallExit && d.P < 0 {
			return
		}
		if !ok {
			x = asking{piece: int32(len(m.pieces)), since: -1}
			m.pieces = append(m.pieces, piece{at: d.Time, class: d.Class})
		}
		if d.Kind != reference.KindReady {
			x.since = d.Time
		}
		m.gs[d.G] = x
	case reference.KindSyscall, reference.KindStop:
		if ok && x.since >= 0 {
			m.pieces[x.piece].ns += d.Time - x.since
			x.since = -1
		}
		if d.Kind == reference.KindSyscall || d.Why == reference.WhyBlock || d.Why == reference.WhyExit {
			delete(m.gs, d.G)
		} else {
			m.gs[d.G] = x
		}
	}
}

// pieces is a demand as arrivals, together with those from outside that are no
// goroutines.
type pieces struct {
	from    *demand
	i       int
	outside sim.Arrivals
	next    sim.Arrival
	more    bool
}

func (m *demand) arrivals(outside sim.Arrivals) sim.Arrivals {
	p := &pieces{from: m, outside: outside}
	p.advance()
	return p
}

func (p *pieces) advance() {
	for {
		p.next, p.more = p.outside.Next()
		if !p.more || p.next.Kind == sim.ArriveSTW || p.next.Kind == sim.ArriveGC {
			return
		}
	}
}

// Next returns the next arrival.
func (p *pieces) Next() (sim.Arrival, bool) {
	if p.i == len(p.from.pieces) || p.more && p.next.At <= p.from.pieces[p.i].at {
		a, ok := p.next, p.more
		if ok {
			p.advance()
		}
		return a, ok
	}
	x := p.from.pieces[p.i]
	p.i++
	return sim.Arrival{At: x.at, Kind: sim.ArriveGo, Class: x.class, Script: sim.Steps(sim.Run(x.ns))}, true
}

// serve gives a demand to an ideal scheduler, and returns for how long was
// waited: in total, and by class. It takes steps of the budget.
func (m *demand) serve(ctx context.Context, s scheduler, outside sim.Arrivals, budget *int64) (int64, []sim.Class, error) {
	r, err := sim.Simulate(ctx, sim.Options{Policy: s.policy, Costs: s.costs, Procs: s.procs, Seed: 1, Budget: budget}, m.arrivals(outside))
	if err != nil {
		return 0, nil, err
	}
	total := int64(0)
	for _, c := range r.Classes {
		total += c.WaitNs
	}
	return total, r.Classes, nil
}

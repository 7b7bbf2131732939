package focus

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/reference"
)

// Snapshot tracks the live state of a stream of decisions, and can emit it as decisions with
// which a stream can begin. Its memory depends on the numbers of goroutines that are not
// blocked, and of Ps. The zero value is not ready: use [NewSnapshot].
type Snapshot struct {
	n      int64             // decisions
	active map[int32]*active // by the ledger's slot
	on     map[int32]int32   // by P: slot of the goroutine that runs, or is in a system call
	ps     map[int32]reference.Decision
	assist map[int64]reference.Decision
	procs  reference.Decision // KindNone: not known yet
	marks  *reference.Decision
	stw    *reference.Decision
}

// active is a goroutine that is not blocked.
type active struct {
	seen  reference.Decision // that made it what it is
	since int64              // order in which they became runnable, or else were seen
}

// NewSnapshot returns an empty Snapshot.
func NewSnapshot() *Snapshot {
	return &Snapshot{active: map[int32]*active{}, on: map[int32]int32{}, ps: map[int32]reference.Decision{}, assist: map[int64]reference.Decision{}}
}

// Follow processes the next decision and its note. It retains neither.
func (p *Snapshot) Follow(d *reference.Decision, n *ledger.Note) {
	p.n++
	switch {
	case n.Changed&ledger.Turned == 0:
		p.rare(d, n)
	case n.Now == ledger.Runnable:
		p.active[n.G] = &active{seen: *d, since: p.n}
	case n.Now == ledger.Running, n.Now == ledger.InSyscall:
		g := p.active[n.G]
		if g == nil {
			g = &active{since: p.n}
			p.active[n.G] = g
		}
		g.seen = *d
		p.on[d.P] = n.G
	default:
		p.leaves(n.G)
	}
}

// rare follows a decision by which no goroutine does something else.
func (p *Snapshot) rare(d *reference.Decision, n *ledger.Note) {
	switch d.Kind {
	case reference.KindMove:
		if g := p.active[n.G]; g != nil && g.seen.Kind == reference.KindReady {
			g.seen.To, g.seen.P = d.To, d.P
		}
	case reference.KindPStart, reference.KindPStop, reference.KindRetake:
		p.turns(d)
	case reference.KindAssistBegin:
		p.assist[d.G] = *d
	case reference.KindAssistEnd:
		delete(p.assist, d.G)
	case reference.KindProcs:
		p.resize(d)
	case reference.KindGCBegin:
		p.marks = new(*d)
	case reference.KindGCEnd:
		p.marks = nil
	case reference.KindSTWBegin:
		p.stw = new(*d)
	case reference.KindSTWEnd:
		p.stw = nil
		for id, x := range p.ps {
			if x.Why == reference.WhySTW && x.Kind == reference.KindPStop {
				x.Why = reference.WhyIdle
				p.ps[id] = x
			}
		}
	case reference.KindLost:
		clear(p.ps)
		clear(p.on)
		clear(p.active)
		clear(p.assist)
		p.marks, p.stw = nil, nil
	}
}

// leaves is for a goroutine, at a slot, that is blocked, or has ended.
func (p *Snapshot) leaves(slot int32) {
	if g := p.active[slot]; g != nil {
		if at := g.seen.P; g.seen.Kind != reference.KindReady && p.on[at] == slot {
			delete(p.on, at)
		}
		delete(p.active, slot)
	}
}

// turns is for a P that gets or loses its thread. A system call goes on without it.
func (p *Snapshot) turns(d *reference.Decision) {
	p.ps[d.P] = *d
	if d.Kind == reference.KindPStart {
		return
	}
	if slot, ok := p.on[d.P]; ok {
		if g := p.active[slot]; g != nil && g.seen.Kind == reference.KindSyscall && g.seen.P == d.P {
			delete(p.active, slot)
		}
		delete(p.on, d.P)
	}
}

// resize follows a change of GOMAXPROCS: a P that is new is idle.
func (p *Snapshot) resize(d *reference.Decision) {
	p.procs = *d
	n := min(d.Batch, ledger.MaxPs)
	for id := range n {
		if _, ok := p.ps[id]; !ok {
			p.ps[id] = reference.Decision{Kind: reference.KindPStop, P: id, M: reference.NoM, Why: reference.WhyIdle}
		}
	}
	for id, x := range p.ps {
		if id >= n && x.Kind != reference.KindPStart {
			delete(p.ps, id)
		}
	}
}

// Emit calls emit with decisions at a time, in ns, that describe the state: GOMAXPROCS,
// marking, a stopped world, Ps with threads, and the goroutines that run, are runnable or
// in a system call on their P, in the order in which they became so. Blocked goroutines
// appear when they are woken. emit must not keep them.
func (p *Snapshot) Emit(at int64, emit func(*reference.Decision)) {
	say := func(d reference.Decision) {
		d.Time, d.Basis = at, reference.Known(reference.Inferred, reference.RuleInitial)
		emit(&d)
	}
	for _, d := range []*reference.Decision{&p.procs, p.marks, p.stw} {
		if d != nil && d.Kind != reference.KindNone {
			say(*d)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(p.ps)) {
		x := p.ps[id]
		d := nobody()
		d.P, d.M, d.Flags = id, x.M, reference.FlagFirst
		if x.Kind == reference.KindPStart {
			d.Kind = reference.KindPStart
		} else {
			d.Kind, d.Why = reference.KindPStop, x.Why
			if x.Kind == reference.KindRetake {
				d.Why = reference.WhyIdle
			}
		}
		say(d)
	}
	gs := slices.SortedFunc(maps.Values(p.active), func(a, b *active) int { return cmp.Compare(a.since, b.since) })
	q := lengths{local: map[int32]int32{}}
	for _, g := range gs {
		if g.seen.Kind == reference.KindReady {
			say(q.put(g))
		} else {
			p.emitRunning(g, &q, say)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(p.assist)) {
		say(p.assist[id])
	}
}

// End calls emit with decisions at a time, in ns, that end all open intervals, as before
// a gap in a trace. emit must not retain them.
func (p *Snapshot) End(at int64, emit func(*reference.Decision)) {
	say := func(d reference.Decision) {
		d.Time, d.Basis = at, reference.Known(reference.Assumed, reference.RuleNone)
		emit(&d)
	}
	for _, g := range slices.SortedFunc(maps.Values(p.active), func(a, b *active) int { return cmp.Compare(a.seen.G, b.seen.G) }) {
		x := &g.seen
		d := nobody()
		d.Kind, d.Why, d.G, d.Class, d.Flags = reference.KindStop, reference.WhyLost, x.G, x.Class, x.Flags&reference.FlagsRuntime
		if x.Kind != reference.KindReady && p.active[p.on[x.P]] == g {
			d.P = x.P
		}
		say(d)
	}
	d := nobody()
	if p.stw != nil {
		d.Kind, d.G, d.Why = reference.KindSTWEnd, p.stw.G, reference.WhyLost
		say(d)
	}
	if p.marks != nil {
		d = nobody()
		d.Kind = reference.KindGCEnd
		say(d)
	}
}

// emitRunning describes a goroutine that runs, or is in a system call.
func (p *Snapshot) emitRunning(g *active, q *lengths, say func(reference.Decision)) {
	x := &g.seen
	d := nobody()
	d.Kind, d.G, d.P, d.M, d.Class, d.Reason = reference.KindStart, x.G, x.P, x.M, x.Class, x.Reason
	d.Src, d.Wait, d.Flags = reference.SrcDirect, -1, x.Flags&reference.FlagsRuntime|reference.FlagFirst
	d.Local, d.Global = q.local[x.P], q.global
	say(d)
	if x.Kind == reference.KindSyscall {
		d.Kind, d.Src, d.Wait, d.Why, d.Stack = reference.KindSyscall, 0, 0, reference.WhySyscall, x.Stack
		d.Flags &= reference.FlagsRuntime
		say(d)
	}
}

// lengths are those of the queues, as goroutines are put into them.
type lengths struct {
	local  map[int32]int32
	global int32
}

func (q *lengths) put(g *active) reference.Decision {
	x := &g.seen
	d := nobody()
	d.Kind, d.G, d.P, d.M, d.By, d.Class = reference.KindReady, x.G, x.P, x.M, x.By, x.Class
	d.To, d.Why, d.Stack = x.To, x.Why, x.Stack
	d.Flags = x.Flags&(reference.FlagsRuntime|reference.FlagNoP) | reference.FlagFirst
	switch x.To {
	case reference.QueueRunnext, reference.QueueLocal:
		q.local[x.P]++
	case reference.QueueGlobal, reference.QueueUnknown:
		q.global++
	}
	d.Local, d.Global = q.local[x.P], q.global
	return d
}

// nobody is a decision about nothing.
func nobody() reference.Decision {
	return reference.Decision{G: reference.NoG, P: reference.NoP, M: reference.NoM, By: reference.NoG, Victim: reference.NoP}
}

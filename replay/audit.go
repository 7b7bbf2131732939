package replay

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gmpscope/gmpscope/reference"
)

// AuditOptions are the rules by which an [Auditor] judges, and how many divergences it keeps.
// The zero value is usable, except for the rules.
type AuditOptions struct {
	Rules reference.Rules
	// Divergences is the number of divergences kept; 0 means 100. At most a tenth of them,
	// but at least 5, are alike.
	Divergences int
}

// Auditor checks a stream of decisions against the rules of the scheduler. It is
// deterministic and not safe for concurrent use. Its memory is bounded by what is alive.
type Auditor struct {
	o   AuditOptions
	q   *reference.Queues
	out AuditResult

	gs   []goroutine
	free []int32
	gix  map[int64]int32
	ps   []proc
	pix  map[int32]int32
	ms   map[int64]*thread

	n        int64 // number of the decision under judgement
	time     int64
	procs    int
	differs  int32 // as of a proc, for the global queue
	open     batch
	alike    map[string]int
	finished bool
}

// batch is a steal, a batch from the global queue or an overflow whose moves
// are not over.
type batch struct {
	kind reference.Kind // KindNone if there is none
	g    int32
	left int32
	took dequeue // p, victim and batch of an overflow, too
}

// NewAuditor returns an Auditor at the beginning of a stream.
func NewAuditor(o AuditOptions) *Auditor {
	o.Divergences = cmp.Or(o.Divergences, 100)
	return &Auditor{
		o: o, q: reference.NewQueues(o.Rules), procs: 1,
		gix: map[int64]int32{}, pix: map[int32]int32{}, ms: map[int64]*thread{}, alike: map[string]int{},
		out: AuditResult{
			ByRule: map[string]Tally{}, Races: map[Race]int64{}, Puts: map[string]Tally{},
			Violations: map[Invariant]int64{}, Divergences: []Divergence{},
		},
	}
}

// Add judges the next decision. It does not keep d.
func (a *Auditor) Add(d *reference.Decision) {
	a.n++
	if lacks := lacking(d); lacks != "" {
		a.violate(d, Malformed, lacks, "none")
		return
	}
	if d.Time < a.time {
		a.violate(d, TimeBack, fmt.Sprintf("%d ns or later", a.time), fmt.Sprintf("%d ns", d.Time))
	}
	a.time = max(a.time, d.Time)
	a.follows(d)
	switch d.Kind {
	case reference.KindReady:
		a.ready(d)
	case reference.KindStart:
		a.start(d)
	case reference.KindStop:
		a.stop(d)
	case reference.KindMove:
		a.move(d)
	case reference.KindSteal:
		a.steal(d)
	case reference.KindGlobalBatch:
		a.globalBatch(d)
	case reference.KindOverflow:
		a.overflow(d)
	case reference.KindSyscall:
		a.syscall(d)
	case reference.KindSyscallExit:
		a.syscallExit(d)
	case reference.KindPStart:
		p := &a.ps[a.proc(d.P)]
		p.thread, p.m = true, d.M
	case reference.KindPStop, reference.KindRetake:
		a.pStop(d)
	case reference.KindProcs:
		a.procs = int(d.Batch)
	}
	a.lengths(d)
	if a.open.kind == reference.KindGlobalBatch && d.Kind == reference.KindGlobalBatch {
		// Its lengths are those before: the first one leaves now.
		if a.q.Place(a.open.g).Queue != reference.QueueUnknown {
			a.q.Remove(a.open.g)
			a.gs[a.open.g].apart = inHand
		}
	}
	a.went(d)
}

// lacking reports what a decision of its kind must have and this one has not.
func lacking(d *reference.Decision) string {
	var g, p, victim, batch bool
	switch d.Kind {
	case reference.KindReady, reference.KindStart, reference.KindStop, reference.KindMove, reference.KindSyscall, reference.KindSyscallExit:
		g = true
	case reference.KindSteal:
		g, p, victim, batch = true, true, true, true
	case reference.KindOverflow, reference.KindGlobalBatch:
		g, p, batch = true, true, true
	case reference.KindPStart, reference.KindPStop, reference.KindRetake:
		p = true
	case reference.KindProcs:
		batch = true
	}
	switch {
	case g && d.G < 0:
		return "a goroutine"
	case p && d.P < 0:
		return "a P"
	case victim && d.Victim < 0:
		return "a victim"
	case batch && d.Batch < 1:
		return "a number"
	}
	return ""
}

// Finish ends the stream and returns the result. It may be called again.
func (a *Auditor) Finish() AuditResult {
	if !a.finished {
		a.finished = true
		if a.open.kind != reference.KindNone {
			a.broken(&reference.Decision{Time: a.time, Kind: reference.KindNone, G: reference.NoG, P: reference.NoP}, "the stream ends")
		}
		for i := range a.ps {
			p := &a.ps[i]
			if p.g != reference.None && !p.calls {
				p.ran += a.time - a.gs[p.g].began
				p.busy += a.time - p.since
			}
			if p.ran != p.busy {
				a.violate(&reference.Decision{Time: a.time, G: reference.NoG, P: p.id}, TimeLost,
					fmt.Sprintf("%d ns, which the P was in use", p.busy), fmt.Sprintf("%d ns, the sum of its run intervals", p.ran))
			}
		}
		slices.SortStableFunc(a.out.Divergences, func(x, y Divergence) int { return cmp.Compare(x.N, y.N) })
	}
	return a.out
}

// ran returns, after Finish, the time that P ran goroutines, system calls left
// out, in ns.
func (a *Auditor) ran(p int32) int64 {
	if index, ok := a.pix[p]; ok {
		return a.ps[index].ran
	}
	return 0
}

// lengths compares the queue lengths of a decision with those of the queues. A
// difference counts when it comes up or changes.
func (a *Auditor) lengths(d *reference.Decision) {
	if d.Local < 0 || d.Global < 0 {
		a.violate(d, BadLength, "0 or more", fmt.Sprintf("local %d, global %d", d.Local, d.Global))
	}
	if d.P >= 0 {
		index := a.proc(d.P)
		p := &a.ps[index]
		n := int32(a.q.Len(index))
		if diff := d.Local - n; diff != p.differs {
			if p.differs = diff; diff != 0 {
				a.violate(d, LengthDiffers, fmt.Sprintf("%d in P%d's queue by the decisions", n, d.P), fmt.Sprintf("%d", d.Local))
			}
		}
		if n := a.q.RingLen(index); n > a.o.Rules.RingSize {
			a.violate(d, RingTooLong, fmt.Sprintf("at most %d", a.o.Rules.RingSize), fmt.Sprintf("%d in P%d's ring", n, d.P))
		}
	}
	n := int32(a.q.GlobalLen())
	if diff := d.Global - n; diff != a.differs {
		if a.differs = diff; diff != 0 {
			a.violate(d, LengthDiffers, fmt.Sprintf("%d in the global queue by the decisions", n), fmt.Sprintf("%d", d.Global))
		}
	}
}

func (a *Auditor) violate(d *reference.Decision, i Invariant, expected, found string) {
	a.out.Violations[i]++
	a.diverge(d, string(i), assessment{verdict: Violation, expected: expected, found: found})
}

// diverge keeps a divergence, if there is room for one of its sort.
func (a *Auditor) diverge(d *reference.Decision, rule string, j assessment) {
	key := string(j.verdict) + " " + rule + " " + string(j.race)
	if len(a.out.Divergences) >= a.o.Divergences || a.alike[key] >= max(5, a.o.Divergences/10) {
		a.out.MoreDivergences++
		return
	}
	a.alike[key]++
	a.out.Divergences = append(a.out.Divergences, Divergence{
		Time: d.Time, N: a.n, Kind: d.Kind.String(), G: d.G, P: d.P, Rule: rule,
		Verdict: j.verdict, Race: j.race, Expected: j.expected, Found: j.found,
	})
}

func tally(m map[string]Tally, key string, v Verdict) {
	t := m[key]
	switch v {
	case Explained:
		t.Explained++
	case Ambiguous:
		t.Ambiguous++
	default:
		t.Unexplained++
	}
	m[key] = t
}

// where describes a goroutine's place, for people.
func (a *Auditor) where(index int32) string {
	g := &a.gs[index]
	switch pl := a.q.Place(index); pl.Queue {
	case reference.QueueRunnext:
		return fmt.Sprintf("runnext of P%d", a.ps[pl.P].id)
	case reference.QueueLocal:
		return fmt.Sprintf("the ring of P%d", a.ps[pl.P].id)
	case reference.QueueGlobal:
		return "the global queue"
	}
	switch {
	case g.state == running || g.state == inSyscall:
		if g.at != reference.None {
			return fmt.Sprintf("%s on P%d", g.state, a.ps[g.at].id)
		}
		return g.state.String()
	case g.state != runnable:
		return g.state.String()
	}
	return [...]string{"no queue", "no queue: it is run at once", "no queue: displaced from runnext", "no queue: first of a batch", "no queue: taken already"}[g.apart]
}

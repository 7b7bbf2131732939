package replay

import (
	"fmt"

	"github.com/gmpscope/gmpscope/reference"
)

// ready puts a goroutine where the decision says.
func (a *Auditor) ready(d *reference.Decision) {
	index := a.gor(d.G)
	g := &a.gs[index]
	if g.state == runnable || g.state == running {
		a.violate(d, TwoPlaces, fmt.Sprintf("goroutine %d neither runnable nor running", d.G), a.where(index))
		a.leave(index)
	}
	if g.state == inSyscall && g.at != reference.None {
		a.violate(d, TwoPlaces, fmt.Sprintf("goroutine %d out of its system call", d.G), a.where(index))
		a.leave(index)
	}
	*g = goroutine{id: g.id, state: runnable, at: reference.None}
	rule := d.To.String()
	j := explained
	p := a.proc(d.P)
	overflow := a.open.kind == reference.KindOverflow && a.open.g == index
	if overflow {
		rule, j = "overflow", a.open.took.j
		if d.To != reference.QueueGlobal {
			j = unexplained("the newcomer to a full ring goes to the global queue", d.To.String())
		}
		a.open = batch{}
	}
	if d.Flags&reference.FlagFirst != 0 {
		rule = "initial"
	}
	j = weakest(j, a.place(index, p, d.To))
	if d.Flags&reference.FlagFirst != 0 {
		g.loose = RaceInitial
		if d.To == reference.QueueUnknown {
			j = ambiguous(RaceInitial, "a queue", "unknown: runnable before the trace began")
		}
	}
	if d.To != reference.QueueDirect && d.To != reference.QueueUnknown {
		a.puts(index, d.M, d.Why)
	}
	tally(a.out.Puts, rule, j.verdict)
	if j.verdict != Explained {
		a.diverge(d, rule, j)
	}
}

// place puts a runnable goroutine that is in no queue into one.
func (a *Auditor) place(index, p int32, to reference.Queue) assessment {
	g := &a.gs[index]
	g.apart, g.at = nowhere, reference.None
	if (to == reference.QueueRunnext || to == reference.QueueLocal) && p == reference.None {
		return unexplained("a P with a "+to.String()+" queue", "none")
	}
	switch to {
	case reference.QueueRunnext:
		if out := a.q.PutRunnext(p, index); out != reference.None {
			a.gs[out].apart, a.gs[out].at = displaced, p
		}
	case reference.QueueLocal:
		full := a.q.Full(p)
		a.q.PutTail(p, index)
		if full {
			return unexplained(fmt.Sprintf("an overflow: the ring of P%d is full", a.ps[p].id), "a put at its tail")
		}
	case reference.QueueGlobal:
		a.q.PutGlobal(index)
	case reference.QueueDirect:
		g.apart = direct
	}
	return explained
}

// leave removes a goroutine from wherever it is.
func (a *Auditor) leave(index int32) {
	g := &a.gs[index]
	a.q.Remove(index)
	if g.state == running || g.state == inSyscall {
		a.off(index)
	}
	g.apart, g.at = nowhere, reference.None
}

// off ends a run interval.
func (a *Auditor) off(index int32) {
	g := &a.gs[index]
	if g.at == reference.None {
		return
	}
	p := &a.ps[g.at]
	if g.state == running {
		p.ran += a.time - g.began
	}
	if p.g == index {
		if !p.calls {
			p.busy += a.time - p.since
		}
		p.g, p.calls = reference.None, false
	}
	g.at = reference.None
}

// on begins a run interval.
func (a *Auditor) on(index, p int32) {
	g, pr := &a.gs[index], &a.ps[p]
	g.state, g.at, g.began = running, p, a.time
	pr.g, pr.calls, pr.since = index, false, a.time
}

func (a *Auditor) start(d *reference.Decision) {
	index, p := a.gor(d.G), a.proc(d.P)
	g := &a.gs[index]
	first := d.Flags&reference.FlagFirst != 0
	if !first {
		if g.state != runnable {
			a.violate(d, NotRunnable, fmt.Sprintf("goroutine %d runnable", d.G), a.where(index))
		}
		a.checkStart(d, index, p)
	} else if g.state == runnable || g.state == running {
		a.violate(d, TwoPlaces, fmt.Sprintf("goroutine %d neither runnable nor running", d.G), a.where(index))
	}
	a.leave(index)
	g.took, g.loose = dequeue{}, ""
	if p == reference.None {
		g.state = running
		return
	}
	pr := &a.ps[p]
	if !pr.thread && !first {
		a.violate(d, NoThread, fmt.Sprintf("P%d with a thread", d.P), "none")
	}
	pr.thread, pr.m = true, d.M
	if pr.g != reference.None {
		a.violate(d, TwoOnP, fmt.Sprintf("P%d free", d.P), fmt.Sprintf("goroutine %d %s on it", a.gs[pr.g].id, a.gs[pr.g].state))
		a.off(pr.g)
	}
	a.on(index, p)
	if !first && d.Flags&reference.FlagInherits == 0 {
		pr.tick++
	}
}

func (a *Auditor) stop(d *reference.Decision) {
	index := a.gor(d.G)
	g := &a.gs[index]
	if d.Why == reference.WhyLost {
		a.leave(index)
		a.drop(index)
		return
	}
	if g.state != running || g.at != a.proc(d.P) {
		// A stop may be the first that is heard of a goroutine only in a
		// damaged trace, and then its status came before.
		a.violate(d, NotRunning, fmt.Sprintf("goroutine %d running on P%d", d.G, d.P), a.where(index))
	}
	a.leave(index)
	g.state = blocked
	if d.Why == reference.WhyExit {
		a.drop(index)
	}
}

func (a *Auditor) syscall(d *reference.Decision) {
	index, p := a.gor(d.G), a.proc(d.P)
	g := &a.gs[index]
	if g.state != running || g.at != p {
		a.violate(d, NotRunning, fmt.Sprintf("goroutine %d running on P%d", d.G, d.P), a.where(index))
		a.leave(index)
		g.state = inSyscall
		return
	}
	g.state = inSyscall
	if p != reference.None {
		pr := &a.ps[p]
		pr.ran += a.time - g.began
		pr.busy += a.time - pr.since
		pr.calls = true
	}
}

func (a *Auditor) syscallExit(d *reference.Decision) {
	index, p := a.gor(d.G), a.proc(d.P)
	g := &a.gs[index]
	if g.state == runnable || g.state == running {
		a.violate(d, NotRunning, fmt.Sprintf("goroutine %d in a system call", d.G), a.where(index))
	}
	if p == reference.None {
		a.leave(index)
		g.state = blocked
		return
	}
	if pr := &a.ps[p]; pr.g != index {
		if pr.g != reference.None {
			a.violate(d, TwoOnP, fmt.Sprintf("P%d free", d.P), fmt.Sprintf("goroutine %d %s on it", a.gs[pr.g].id, a.gs[pr.g].state))
			a.off(pr.g)
		}
		if g.state == inSyscall && g.at == reference.None {
			a.violate(d, TwoOnP, fmt.Sprintf("goroutine %d without a P: it was retaken", d.G), fmt.Sprintf("it keeps P%d", d.P))
		}
	}
	a.leave(index)
	a.on(index, p)
}

func (a *Auditor) pStop(d *reference.Decision) {
	index := a.proc(d.P)
	if index == reference.None {
		return
	}
	p := &a.ps[index]
	if p.g != reference.None {
		g := p.g
		if !p.calls {
			a.violate(d, TwoPlaces, fmt.Sprintf("nothing running on P%d when it loses its thread", d.P), fmt.Sprintf("goroutine %d", a.gs[g].id))
		}
		a.off(g)
	}
	p.thread, p.m = false, reference.NoM
	if d.Kind == reference.KindPStop && d.Why == reference.WhyIdle && d.Flags&reference.FlagFirst == 0 {
		if n := a.q.Len(index); n > 0 {
			a.violate(d, IdleWithWork, fmt.Sprintf("nothing in P%d's queue", d.P), fmt.Sprintf("%d", n))
		}
	}
}

// move moves a runnable goroutine from one place to another.
func (a *Auditor) move(d *reference.Decision) {
	index, to := a.gor(d.G), a.proc(d.P)
	g := &a.gs[index]
	if g.state != runnable {
		a.violate(d, NotRunnable, fmt.Sprintf("goroutine %d runnable", d.G), a.where(index))
		a.leave(index)
		*g = goroutine{id: g.id, state: runnable, at: reference.None}
	}
	if !a.from(index, a.proc(d.Victim)) {
		from := "the global queue, or no queue"
		if d.Victim >= 0 {
			from = fmt.Sprintf("a queue of P%d", d.Victim)
		}
		a.violate(d, WrongQueue, fmt.Sprintf("goroutine %d in %s", d.G, from), a.where(index))
	}
	if d.Why == reference.WhyCorrected {
		a.out.Corrections++
	}
	if d.To == reference.QueueDirect {
		t := a.dequeue(d, index, to)
		a.leave(index)
		g.apart, g.took = takenAway, t
		return
	}
	overflow := a.open.kind == reference.KindOverflow && d.Why == reference.WhyOverflow && a.open.g == index && a.open.left == 0
	j := explained
	if overflow {
		j = a.open.took.j
		a.open = batch{}
	} else if a.inBatch(d) {
		a.open.left--
		a.open.took.j = weakest(a.open.took.j, a.heads(index)) // it takes the head
	}
	m := reference.NoM
	if to != reference.None && d.Why == reference.WhyDisplaced {
		m = g.putM
	}
	a.leave(index)
	if d.Why == reference.WhyProcs && d.To == reference.QueueGlobal {
		g.apart = nowhere
		a.q.PutGlobalHead(index)
	} else {
		j = weakest(j, a.place(index, to, d.To))
	}
	g.loose = ""
	if d.Why == reference.WhyCorrected {
		g.loose = RaceCorrected
	}
	if d.Why == reference.WhyOverflow && d.Victim >= 0 {
		m = a.ps[a.proc(d.Victim)].m
	}
	a.puts(index, m, d.Why)
	if overflow {
		tally(a.out.Puts, "overflow", j.verdict)
	}
	if j.verdict != Explained {
		a.diverge(d, "move", j)
	}
}

// from reports whether a goroutine is where a move says that it leaves from.
func (a *Auditor) from(index, victim int32) bool {
	g := &a.gs[index]
	pl := a.q.Place(index)
	if victim != reference.None {
		return (pl.Queue == reference.QueueLocal || pl.Queue == reference.QueueRunnext) && pl.P == victim ||
			pl.Queue == reference.QueueUnknown && g.apart == displaced && g.at == victim
	}
	return pl.Queue == reference.QueueGlobal || pl.Queue == reference.QueueUnknown && g.apart != displaced && g.apart != takenAway
}

// overflow begins to move half of a full ring.
func (a *Auditor) overflow(d *reference.Decision) {
	index, p := a.gor(d.G), a.proc(d.P)
	j := explained
	if n := a.q.RingLen(p); n != a.o.Rules.RingSize {
		j = unexplained(fmt.Sprintf("%d in the ring of P%d", a.o.Rules.RingSize, d.P), fmt.Sprintf("%d", n))
	} else if int(d.Batch) != a.o.Rules.Overflow() {
		j = unexplained(fmt.Sprintf("a batch of %d", a.o.Rules.Overflow()), fmt.Sprintf("%d", d.Batch))
	}
	if j.verdict != Explained {
		a.diverge(d, "overflow", j)
	}
	a.open = batch{kind: d.Kind, g: index, left: d.Batch - 1, took: dequeue{p: reference.None, victim: p, batch: d.Batch, j: j}}
}

// follows checks that what a batch has announced comes next.
func (a *Auditor) follows(d *reference.Decision) {
	o := &a.open
	if o.kind == reference.KindNone {
		if d.Kind == reference.KindMove && (d.Why == reference.WhySteal || d.Why == reference.WhyGlobalBatch) && d.To != reference.QueueDirect || d.Kind == reference.KindMove && d.Why == reference.WhyOverflow {
			a.violate(d, BrokenBatch, "a steal, batch or overflow that announces it", "a move because of "+d.Why.String())
		}
		return
	}
	ok := false
	switch {
	case a.inBatch(d):
		ok = o.left > 0
	case d.Kind == reference.KindMove && d.Why == reference.WhyCorrected:
		ok = true
	case o.kind == reference.KindOverflow:
		ok = o.left == 0 && d.G == a.gs[o.g].id && (d.Kind == reference.KindReady || d.Kind == reference.KindMove && d.Why == reference.WhyOverflow)
	case d.Kind == reference.KindStart, d.Kind == reference.KindMove && d.To == reference.QueueDirect:
		ok = o.left == 0 && d.G == a.gs[o.g].id
	}
	if !ok {
		a.broken(d, fmt.Sprintf("%s of goroutine %d, %d left", d.Kind, d.G, o.left))
	}
}

func (a *Auditor) broken(d *reference.Decision, found string) {
	a.violate(d, BrokenBatch, fmt.Sprintf("what goes with the %s of %d, led by goroutine %d", a.open.kind, a.open.took.batch, a.gs[a.open.g].id), found)
	a.open = batch{}
}

// inBatch reports whether a move is one of those that the open batch has announced.
func (a *Auditor) inBatch(d *reference.Decision) bool {
	if d.Kind != reference.KindMove || a.open.left == 0 {
		return false
	}
	t := &a.open.took
	switch a.open.kind {
	case reference.KindSteal:
		return d.Why == reference.WhySteal && d.To == reference.QueueLocal && a.proc(d.P) == t.p && a.proc(d.Victim) == t.victim
	case reference.KindGlobalBatch:
		return d.Why == reference.WhyGlobalBatch && d.To == reference.QueueLocal && a.proc(d.P) == t.p && d.Victim < 0
	case reference.KindOverflow:
		return d.Why == reference.WhyOverflow && d.To == reference.QueueGlobal && a.proc(d.Victim) == t.victim && a.gix[d.G] != a.open.g
	}
	return false
}

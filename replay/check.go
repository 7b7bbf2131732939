package replay

import (
	"fmt"

	"github.com/gmpscope/gmpscope/reference"
)

// assessment is a verdict with its evidence.
type assessment struct {
	verdict         Verdict
	race            Race
	expected, found string
}

var explained = assessment{verdict: Explained}

func ambiguous(r Race, expected, found string) assessment {
	return assessment{Ambiguous, r, expected, found}
}

func unexplained(expected, found string) assessment {
	return assessment{verdict: Unexplained, expected: expected, found: found}
}

// weakest joins what must hold together.
func weakest(a, b assessment) assessment {
	if a.verdict == Explained || a.verdict == Ambiguous && b.verdict == Unexplained {
		return b
	}
	return a
}

// dequeue is a goroutine's way out of its queue, judged when it happened.
type dequeue struct {
	rule     reference.Source // by where it was
	p        int32            // who took it
	victim   int32
	batch    int32
	j        assessment
	tick     assessment // if it is a pick of the 61st tick
	ownEmpty bool       // the taker's own queue was
	passed   bool       // the global queue held something that the 61st tick would have taken
}

// dequeue judges how p's thread takes a goroutine from where it is.
func (a *Auditor) dequeue(d *reference.Decision, index, p int32) dequeue {
	g := &a.gs[index]
	if g.apart == takenAway {
		return g.took
	}
	if o := &a.open; o.g == index && (o.kind == reference.KindSteal || o.kind == reference.KindGlobalBatch) {
		t := o.took
		if p != t.p {
			t.j = unexplained(fmt.Sprintf("P%d, which took the batch", a.ps[t.p].id), fmt.Sprintf("P%d", d.P))
		}
		a.open = batch{}
		return t
	}
	t := dequeue{rule: reference.SrcUnknown, p: p, victim: reference.None, j: explained, tick: explained}
	if p == reference.None {
		t.j = unexplained("a P that takes it", "none")
		return t
	}
	t.ownEmpty = a.q.Len(p) == 0
	pl := a.q.Place(index)
	switch {
	case pl.Queue == reference.QueueUnknown && g.apart == direct:
		t.rule = reference.SrcDirect
	case pl.Queue == reference.QueueUnknown:
		t.j = unexplained("a queue that it was in", a.where(index))
		if g.loose == RaceInitial {
			t.j.found = "unknown: it was runnable before the trace began"
		}
	case pl.Queue == reference.QueueRunnext && pl.P == p:
		t.rule = reference.SrcRunnext
		t.passed = a.globalFirm(p)
	case pl.Queue == reference.QueueLocal && pl.P == p:
		t.rule = reference.SrcLocal
		t.passed = a.globalFirm(p)
		t.j = a.heads(index)
		if x := a.q.Runnext(p); x != reference.None {
			t.j = weakest(t.j, a.inTheWay(x, "runnext of P%d empty", "goroutine %d in it"))
		}
	case pl.Queue == reference.QueueGlobal:
		t.rule, t.batch = reference.SrcGlobal, 1
		t.tick = a.heads(index)
		t.j = weakest(weakest(t.tick, a.ownEmpty(p)), a.globalSize(p, 1))
	default:
		if d.Kind == reference.KindMove || d.Src == reference.SrcSteal || d.Src == reference.SrcStealRunnext {
			a.violate(d, BrokenBatch, fmt.Sprintf("a steal decision for goroutine %d", d.G), "it leaves "+a.where(index)+" without one")
		}
		t = a.checkSteal(index, p, pl.P, a.position(index)+1)
	}
	return t
}

func (a *Auditor) checkStart(d *reference.Decision, index, p int32) {
	t := a.dequeue(d, index, p)
	if d.Flags&reference.FlagTaken != 0 && a.gs[index].apart != takenAway {
		t.j = unexplained("a move to no queue before, as the start was taken", a.where(index))
	} else if d.Flags&reference.FlagTaken == 0 && a.gs[index].apart == takenAway {
		t.j = unexplained("a start that says that it was taken before", "one that does not")
	}
	j := t.j
	switch src := d.Src; src {
	case reference.SrcUnknown:
		j = unexplained("a source", "unknown; it was "+a.where(index))
	case reference.SrcGlobalTick:
		j = t.tick
		if t.rule != reference.SrcGlobal {
			j = a.elsewhere(d, index, t)
		} else if p != t.p {
			j = unexplained(fmt.Sprintf("P%d, which took it", a.pid(t.p)), fmt.Sprintf("P%d", d.P))
		} else if d.Batch > 1 || t.batch > 1 {
			j = unexplained("one goroutine", fmt.Sprintf("a batch of %d", max(d.Batch, t.batch)))
		}
		j = weakest(j, a.onTick(p, t))
	case reference.SrcNetpoll, reference.SrcGCWorker, reference.SrcTraceReader, reference.SrcSyscallExit, reference.SrcCoroutine, reference.SrcDirect:
		if t.rule != reference.SrcDirect {
			j = a.elsewhere(d, index, t)
		}
	default:
		switch {
		case t.rule != src:
			j = a.elsewhere(d, index, t)
		case p != t.p:
			j = weakest(j, unexplained(fmt.Sprintf("P%d, which took it", a.pid(t.p)), fmt.Sprintf("P%d", d.P)))
		case src == reference.SrcSteal || src == reference.SrcStealRunnext:
			if a.proc(d.Victim) != t.victim || d.Batch != t.batch {
				j = unexplained(fmt.Sprintf("victim P%d, batch %d, as taken", a.pid(t.victim), t.batch), fmt.Sprintf("victim P%d, batch %d", d.Victim, d.Batch))
			}
		case src == reference.SrcGlobal && max(d.Batch, 1) != t.batch:
			j = unexplained(fmt.Sprintf("a batch of %d, as taken", t.batch), fmt.Sprintf("%d", d.Batch))
		case t.passed && p != reference.None && a.atTick(p):
			j = weakest(j, ambiguous(RaceTick, "the global queue first, at the 61st tick", "the own queue"))
		}
	}
	a.out.Starts++
	switch j.verdict {
	case Explained:
		a.out.Explained++
	case Ambiguous:
		a.out.Ambiguous++
		a.out.Races[j.race]++
	default:
		a.out.Unexplained++
	}
	tally(a.out.ByRule, d.Src.String(), j.verdict)
	if j.verdict != Explained {
		a.diverge(d, d.Src.String(), j)
	}
}

func (a *Auditor) pid(index int32) int32 {
	if index == reference.None {
		return reference.NoP
	}
	return a.ps[index].id
}

// elsewhere is the judgement on a source that contradicts the place.
func (a *Auditor) elsewhere(d *reference.Decision, index int32, t dequeue) assessment {
	found := a.where(index)
	if a.gs[index].apart == takenAway {
		found = "taken as " + t.rule.String()
	}
	return unexplained("to be taken as "+d.Src.String(), found)
}

// position is how many stand in front of a goroutine.
func (a *Auditor) position(index int32) int32 {
	n := int32(0)
	for x := a.q.Prev(index); x != reference.None; x = a.q.Prev(x) {
		n++
	}
	return n
}

// heads judges that a goroutine heads its queue.
func (a *Auditor) heads(index int32) assessment {
	j := explained
	g := &a.gs[index]
	for x := a.q.Prev(index); x != reference.None; x = a.q.Prev(x) {
		f := &a.gs[x]
		expected := func() string { return fmt.Sprintf("the head of %s: goroutine %d", a.where(index), a.headID(index)) }
		switch {
		case g.loose != "":
			return ambiguous(g.loose, expected(), fmt.Sprintf("goroutine %d, whose position is not known", g.id))
		case f.loose != "":
			j = weakest(j, ambiguous(f.loose, expected(), fmt.Sprintf("goroutine %d; the position of goroutine %d is not known", g.id, f.id)))
		case f.putM != g.putM && f.putEnd > g.put:
			j = weakest(j, ambiguous(RacePutOrder, expected(), fmt.Sprintf("goroutine %d; it and goroutine %d were put at the same time", g.id, f.id)))
		default:
			return unexplained(expected(), fmt.Sprintf("goroutine %d, %d places behind it", g.id, a.position(index)))
		}
	}
	return j
}

func (a *Auditor) headID(index int32) int64 {
	x := index
	for y := a.q.Prev(x); y != reference.None; y = a.q.Prev(x) {
		x = y
	}
	return a.gs[x].id
}

// inTheWay judges a goroutine that should not be where it is.
func (a *Auditor) inTheWay(x int32, expected, found string) assessment {
	g := &a.gs[x]
	pl := a.q.Place(x)
	expected, found = fmt.Sprintf(expected, a.pid(pl.P)), fmt.Sprintf(found, g.id)
	if g.loose != "" {
		return ambiguous(g.loose, expected, found)
	}
	return unexplained(expected, found)
}

// ownEmpty judges that p's own queue is. Only its own thread puts there.
func (a *Auditor) ownEmpty(p int32) assessment {
	j := explained
	if x := a.q.Runnext(p); x != reference.None {
		j = weakest(j, a.inTheWay(x, "own queue of P%d empty", "goroutine %d in runnext"))
	}
	for x := a.q.Head(p); x != reference.None && j.verdict != Unexplained; x = a.q.Next(x) {
		j = weakest(j, a.inTheWay(x, "own queue of P%d empty", "goroutine %d in its ring"))
	}
	return j
}

// settled reports whether the put of x was done before p's thread looked: it put x itself, or
// has made a decision since.
func (a *Auditor) settled(x, p int32) bool {
	g, m, last := &a.gs[x], a.ps[p].m, int64(0)
	if t := a.ms[m]; t != nil {
		last = t.last
	}
	return g.putM >= 0 && g.putM == m || g.putEnd <= last
}

// globalFirm reports whether the global queue holds something that p's thread must
// have seen.
func (a *Auditor) globalFirm(p int32) bool {
	for x := a.q.GlobalHead(); x != reference.None; x = a.q.Next(x) {
		if a.settled(x, p) && a.gs[x].loose == "" {
			return true
		}
	}
	return false
}

// globalSize judges the size of a batch from the global queue.
func (a *Auditor) globalSize(p int32, k int) assessment {
	n := a.q.GlobalLen()
	want := a.o.Rules.GlobalBatch(n, a.procs)
	if k == want {
		return explained
	}
	late, loose := 0, Race("")
	for x := a.q.GlobalHead(); x != reference.None; x = a.q.Next(x) {
		if !a.settled(x, p) {
			late++
		}
		if l := a.gs[x].loose; l != "" {
			late++
			loose = l
		}
	}
	expected := fmt.Sprintf("a batch of %d: %d in the global queue, GOMAXPROCS %d", want, n, a.procs)
	found := fmt.Sprintf("%d", k)
	if k < want && k >= a.o.Rules.GlobalBatch(max(n-late, 1), a.procs) {
		if loose != "" {
			return ambiguous(loose, expected, found)
		}
		return ambiguous(RacePut, expected, fmt.Sprintf("%d, and %d puts under way", k, late))
	}
	return unexplained(expected, found)
}

func (a *Auditor) globalBatch(d *reference.Decision) {
	index, p := a.gor(d.G), a.proc(d.P)
	t := dequeue{rule: reference.SrcGlobal, p: p, victim: reference.None, batch: d.Batch, tick: explained}
	t.ownEmpty = a.q.Len(p) == 0
	if a.q.Place(index).Queue != reference.QueueGlobal {
		a.violate(d, WrongQueue, fmt.Sprintf("goroutine %d in the global queue", d.G), a.where(index))
	}
	t.j = weakest(weakest(a.heads(index), a.ownEmpty(p)), a.globalSize(p, int(d.Batch)))
	a.open = batch{kind: d.Kind, g: index, left: d.Batch - 1, took: t}
}

func (a *Auditor) steal(d *reference.Decision) {
	index, p, v := a.gor(d.G), a.proc(d.P), a.proc(d.Victim)
	t := dequeue{rule: reference.SrcUnknown, p: p, victim: v, batch: d.Batch}
	if pl := a.q.Place(index); pl.Queue != reference.QueueLocal && pl.Queue != reference.QueueRunnext || pl.P != v {
		a.violate(d, WrongQueue, fmt.Sprintf("goroutine %d in a queue of P%d", d.G, d.Victim), a.where(index))
		t.j = unexplained(fmt.Sprintf("a queue of P%d", d.Victim), a.where(index))
	} else {
		t = a.checkSteal(index, p, v, d.Batch)
	}
	a.open = batch{kind: d.Kind, g: index, left: d.Batch - 1, took: t}
}

// checkSteal judges that p's thread takes the first k of v's ring, the last of
// which is ix, or v's runnext.
func (a *Auditor) checkSteal(index, p, v, k int32) dequeue {
	t := dequeue{rule: reference.SrcSteal, p: p, victim: v, batch: k, tick: explained, ownEmpty: a.q.Len(p) == 0}
	t.j = a.ownEmpty(p)
	if p == v {
		t.j = unexplained("another P", "the thief's own queue")
	}
	n := a.q.RingLen(v)
	if a.q.Place(index).Queue == reference.QueueRunnext {
		t.rule = reference.SrcStealRunnext
		if n > 0 {
			t.j = weakest(t.j, a.unseenBy(p, a.q.Head(v), n, fmt.Sprintf("the ring of P%d empty", a.ps[v].id)))
		}
		if k != 1 {
			t.j = weakest(t.j, unexplained("one goroutine", fmt.Sprintf("a batch of %d", k)))
		}
	} else {
		t.j = weakest(t.j, a.stealSize(index, p, v, int(k)))
	}
	if n := a.q.GlobalLen(); n > 0 {
		t.j = weakest(t.j, a.unseenBy(p, a.q.GlobalHead(), n, "the global queue empty"))
	}
	return t
}

// unseenBy judges that p's thread had found a queue empty before all that it
// holds now was put.
func (a *Auditor) unseenBy(p, head int32, n int, expected string) assessment {
	race := RacePut
	for x := head; x != reference.None; x = a.q.Next(x) {
		if l := a.gs[x].loose; l != "" {
			race = l
		} else if a.settled(x, p) {
			return unexplained(expected, fmt.Sprintf("%d in it, goroutine %d since before P%d looked", n, a.gs[x].id, a.pid(p)))
		}
	}
	return ambiguous(race, expected, fmt.Sprintf("%d in it, whose puts were under way", n))
}

// stealSize judges that the k that a thief takes up to ix are half of v's ring.
func (a *Auditor) stealSize(index, p, v int32, k int) assessment {
	n := a.q.RingLen(v)
	want := a.o.Rules.StealBatch(n)
	pos := int(a.position(index)) + 1
	race := Race("")
	late, loose := 0, 0
	if pos != k || k != want {
		for x := a.q.Head(v); x != reference.None; x = a.q.Next(x) {
			if l := a.gs[x].loose; l != "" {
				race = l
				loose++
			} else if !a.settled(x, p) {
				late++
			}
		}
	}
	j := explained
	if pos != k {
		j = unexplained(fmt.Sprintf("goroutine %d at place %d of the ring of P%d, the last of the batch", a.gs[index].id, k, a.ps[v].id), fmt.Sprintf("place %d", pos))
		if loose > 0 {
			j.verdict, j.race = Ambiguous, race
		}
	}
	if k != want {
		expected := fmt.Sprintf("a batch of %d: %d in the ring of P%d", want, n, a.ps[v].id)
		found := fmt.Sprintf("%d", k)
		s := a.o.Rules.StealBatch
		switch {
		case k < want && k >= s(n-late):
			j = weakest(j, ambiguous(RacePut, expected, fmt.Sprintf("%d, and %d puts under way", k, late)))
		case loose > 0 && k <= s(n+loose) && k >= s(max(n-late-loose, 1)):
			j = weakest(j, ambiguous(race, expected, found))
		default:
			j = weakest(j, unexplained(expected, found))
		}
	}
	return j
}

// atTick reports whether p is known to be at its 61st tick.
func (a *Auditor) atTick(p int32) bool {
	pr := &a.ps[p]
	return pr.phase >= 0 && pr.tick%int64(a.o.Rules.GlobalPoll) == pr.phase
}

// onTick judges the time of a pick at the 61st tick, and learns from it.
func (a *Auditor) onTick(p int32, t dequeue) assessment {
	if p == reference.None {
		return explained
	}
	pr := &a.ps[p]
	phase := pr.tick % int64(a.o.Rules.GlobalPoll)
	known := pr.phase
	if !t.ownEmpty && t.tick.verdict == Explained {
		pr.phase = phase
	}
	switch {
	case known == phase:
		return explained
	case known >= 0:
		return unexplained(fmt.Sprintf("slice %d of %d, as at the last pick on P%d", known, a.o.Rules.GlobalPoll, pr.id), fmt.Sprintf("slice %d", phase))
	case t.ownEmpty:
		return ambiguous(RaceTick, fmt.Sprintf("something in the own queue of P%d, to tell a tick from a batch", pr.id), "nothing")
	}
	return explained
}

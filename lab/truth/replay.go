package truth

import (
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/reference"
)

// A stay is the time that a waiting goroutine spent in one place, from a time,
// in ns since the first event of the trace, until the next stay or its start.
type stay struct {
	from int64
	in   reference.Place // QueueDirect: in no queue
}

// same reports whether two places are the queues of one P, or are otherwise equal.
// For what a goroutine waits for, runnext and ring of a P make no difference.
func same(a, b reference.Place) bool {
	return a == b || queueKey(a) == queueKey(b) && a.Queue != reference.QueueUnknown
}

// queueKey numbers queues: the P for both queues of a P and for what its thread
// has just taken, negative otherwise.
func queueKey(pl reference.Place) int32 {
	switch pl.Queue {
	case reference.QueueRunnext, reference.QueueLocal:
		return pl.P
	case reference.QueueDirect:
		if pl.P >= 0 {
			return pl.P
		}
	case reference.QueueGlobal:
		return -1
	case reference.QueueUnknown:
		return -3
	}
	return -2
}

// A history is a wait as the truth has it.
type history struct {
	stays []stay
	// From open on, in ns, the truth does not say where the goroutine was.
	// math.MaxInt64 if all is known.
	open int64
}

// waiter is a goroutine in a replay. That of a truth with moves is queued
// nowhere: its lines say where it is.
type waiter struct {
	history
	queued bool
	stolen bool // its thief's thread has it
}

// replay moves goroutines between queues as the truth says. Its lines tell each
// move. Older and compact truths have no such lines: there only where a
// goroutine went when it became runnable and where it was taken from is known.
// The rest of a batch moves unmentioned, so its members are found by the order
// of the queues. What a start then says about where its goroutine really was
// corrects that: see settle.
type replay struct {
	// movesKnown reports whether the truth has a line for each move, so that nothing has to
	// be found out.
	movesKnown bool
	q          *reference.Queues
	index      map[int64]int32
	gs         []waiter
	// moved holds, for two queues, when something was moved from one to the
	// other, in order.
	moved map[[2]int32][]int64
	np    int
}

func newReplay() *replay {
	return &replay{
		q:     reference.NewQueues(ruleBook), // the sizes of batches are the truth's own
		index: make(map[int64]int32),
		moved: make(map[[2]int32][]int64),
	}
}

func (r *replay) goroutine(id int64) int32 {
	g, ok := r.index[id]
	if !ok {
		g = int32(len(r.gs))
		r.index[id] = g
		r.gs = append(r.gs, waiter{})
		r.q.Grow(len(r.gs), r.np)
	}
	return g
}

func (r *replay) proc(p int64) int32 {
	if int(p) >= r.np {
		r.np = int(p) + 1
		r.q.Grow(len(r.gs), r.np)
	}
	return int32(p)
}

// put lets goroutine g, which is in no queue, be in a place from time t on.
func (r *replay) put(g int32, in reference.Place, t int64) {
	switch {
	case r.movesKnown:
	case in.Queue == reference.QueueRunnext:
		if old := r.q.PutRunnext(in.P, g); old != reference.None {
			r.put(old, reference.Place{Queue: reference.QueueLocal, P: in.P}, t)
		}
	case in.Queue == reference.QueueLocal:
		r.q.PutTail(in.P, g)
	case in.Queue == reference.QueueGlobal:
		r.q.PutGlobal(g)
	}
	w := &r.gs[g]
	w.stays = append(w.stays, stay{t, in})
}

// shift moves goroutine g from one queue to another at time t.
func (r *replay) shift(g int32, to reference.Place, t int64) {
	r.q.Remove(g)
	r.put(g, to, t)
}

// note notes that something moves between two queues at time t.
func (r *replay) note(from, to reference.Place, t int64) {
	k := [2]int32{queueKey(from), queueKey(to)}
	r.moved[k] = append(r.moved[k], t)
}

var (
	globalPlace = reference.Place{Queue: reference.QueueGlobal, P: reference.NoP}
	directPlace = reference.Place{Queue: reference.QueueDirect, P: reference.NoP}
)

func localPlace(p int32) reference.Place { return reference.Place{Queue: reference.QueueLocal, P: p} }

// line follows a line of the truth, at time t and, for ready and start, with
// the P of their event.
func (r *replay) line(l *Line, t int64, p int64) {
	switch {
	case l.K == "ready":
		g := r.goroutine(l.G)
		r.q.Remove(g)
		r.gs[g] = waiter{queued: true, history: history{open: math.MaxInt64}}
		in := r.target(l.To, p)
		if l.To == toDirect {
			in = directPlace
		}
		if in.Queue == reference.QueueUnknown {
			r.gs[g].open = t
		}
		r.put(g, in, t)
	case l.K == "move":
		g := r.goroutine(l.G)
		if w := &r.gs[g]; w.queued {
			// The thief's P shows itself when the stolen goroutine goes on.
			if n := len(w.stays) - 1; n > 0 && w.stays[n].in == directPlace {
				w.stays[n].in.P = int32(l.P)
			}
			r.put(g, r.target(l.To, l.P), t)
		}
	case r.movesKnown:
	case l.K == "overflow":
		if l.P == none {
			return
		}
		// Half of the ring, and behind it the newcomer. That is at the tail here,
		// if it came out of runnext; else its own line puts it into the global queue.
		p := r.proc(l.P)
		r.note(localPlace(p), globalPlace, t)
		newcomer := reference.None
		if r.q.RingLen(p) > 2*int(l.Batch-1) {
			newcomer = r.q.Tail(p)
		}
		for range l.Batch - 1 {
			if g := r.q.Head(p); g != reference.None && g != newcomer {
				r.shift(g, globalPlace, t)
			}
		}
		if newcomer != reference.None {
			r.shift(newcomer, globalPlace, t)
		}
	case l.K == "drain":
		r.empty(r.proc(l.P), t)
	case l.K == "steal":
		// The start can come much later: threads lose the processor.
		g := r.goroutine(l.G)
		if w := &r.gs[g]; w.queued {
			thief := r.proc(l.P)
			in := r.source(l, thief)
			if !same(w.stays[len(w.stays)-1].in, in) {
				r.settle(w, in, t)
			}
			r.q.Remove(g)
			w.stays = append(w.stays, stay{t, reference.Place{Queue: reference.QueueDirect, P: thief}})
			w.stolen = true
			r.batch(l, in, thief, t)
		}
	}
}

// target is where a line says that a goroutine went.
func (r *replay) target(to string, p int64) reference.Place {
	switch {
	case to == toGlobal:
		return globalPlace
	case to == toDirect:
		return reference.Place{Queue: reference.QueueDirect, P: int32(p)}
	case p == none:
		return reference.Place{P: reference.NoP}
	case to == toRunnext:
		return reference.Place{Queue: reference.QueueRunnext, P: r.proc(p)}
	}
	return localPlace(r.proc(p))
}

// source is where a line says that a goroutine was taken from by a P.
func (r *replay) source(l *Line, thief int32) reference.Place {
	switch l.Src {
	case srcRunnext:
		return reference.Place{Queue: reference.QueueRunnext, P: thief}
	case srcLocal:
		return localPlace(thief)
	case srcSteal:
		return localPlace(r.proc(max(l.Victim, 0)))
	case srcStealRunnext:
		return reference.Place{Queue: reference.QueueRunnext, P: r.proc(max(l.Victim, 0))}
	case srcGlobal, srcTick:
		return globalPlace
	}
	return directPlace
}

// empty moves all of p's goroutines to the global queue.
func (r *replay) empty(p int32, t int64) {
	r.note(localPlace(p), globalPlace, t)
	for g := r.q.Head(p); g != reference.None; g = r.q.Head(p) {
		r.shift(g, globalPlace, t)
	}
	if g := r.q.Runnext(p); g != reference.None {
		r.shift(g, globalPlace, t)
	}
}

// procs follows a change of GOMAXPROCS to n: what is queued on the Ps that go
// away goes to the global queue (procresize).
func (r *replay) procs(n int, t int64) {
	if r.movesKnown {
		return
	}
	for p := n; p < r.np; p++ {
		r.empty(int32(p), t)
	}
}

// start removes the goroutine of a start, on P p at time t, from its queue, and
// moves the rest of its batch. from is when it became runnable, for one whose
// becoming runnable the truth does not have.
func (r *replay) start(l *Line, p, t, from int64) history {
	g := r.goroutine(l.G)
	thief := r.proc(max(p, 0))
	in := r.source(l, thief)
	w := &r.gs[g]
	if !w.queued {
		w.history = history{stays: []stay{{from, in}}, open: math.MaxInt64}
	} else if l.Src != srcUnknown && !r.movesKnown && !w.stolen && !same(w.stays[len(w.stays)-1].in, in) {
		r.settle(w, in, t)
	}
	r.q.Remove(g)
	h, stolen := w.history, w.stolen
	*w = waiter{}
	if !stolen && !r.movesKnown {
		r.batch(l, in, thief, t)
	}
	return h
}

// batch moves the rest of a batch, whose first the thief has just started: it
// was at the head of where that one was.
func (r *replay) batch(l *Line, in reference.Place, thief int32, t int64) {
	var head func() int32
	switch {
	case l.Batch <= 1:
		return
	case l.Src == srcGlobal:
		head = r.q.GlobalHead
	case l.Src == srcSteal && in.P != thief:
		head = func() int32 { return r.q.Head(in.P) }
	default:
		return
	}
	r.note(in, localPlace(thief), t)
	for range l.Batch - 1 {
		if g := head(); g != reference.None {
			r.shift(g, localPlace(thief), t)
		}
	}
}

// settle corrects the stays of a goroutine that was taken from another place, at
// time t, than where the replay has it. The order of queues is known but for
// puts and takes at the same moment, so that the batches are off by a
// goroutine now and then. So it went there with the last batch from where it
// was. If there was none, and it has been where it was taken from, then it did
// not leave. Else the batch came from the latest of its places that one left.
func (r *replay) settle(w *waiter, in reference.Place, t int64) {
	last := w.stays[len(w.stays)-1]
	if at, ok := r.last(last.in, in, last.from, t); ok {
		w.stays = append(w.stays, stay{at, in})
		return
	}
	for i := len(w.stays) - 1; i >= 0; i-- {
		if same(w.stays[i].in, in) {
			w.stays = w.stays[:i+1]
			return
		}
	}
	for i := len(w.stays) - 1; i >= 0; i-- {
		if at, ok := r.last(w.stays[i].in, in, w.stays[i].from, t); ok {
			w.stays = append(w.stays[:i+1], stay{at, in})
			return
		}
	}
	// Or by way of a third queue.
	for i := len(w.stays) - 1; i >= 0; i-- {
		if via, first, second, ok := r.via(w.stays[i], in, t); ok {
			w.stays = append(w.stays[:i+1], stay{first, via}, stay{second, in})
			return
		}
	}
	// Or with a batch whose first has not been started yet, which is when the
	// truth shows it: at the latest now.
}

// last returns the time of the last batch from one place to another in
// (after, until].
func (r *replay) last(from, to reference.Place, after, until int64) (int64, bool) {
	times := r.moved[[2]int32{queueKey(from), queueKey(to)}]
	i, found := slices.BinarySearch(times, until)
	for found && i < len(times) && times[i] == until {
		i++
	}
	if i == 0 || times[i-1] <= after {
		return 0, false
	}
	return times[i-1], true
}

func (r *replay) via(s stay, in reference.Place, t int64) (via reference.Place, first, second int64, ok bool) {
	for key := int32(-1); key < int32(r.np); key++ {
		pl := globalPlace
		if key >= 0 {
			pl = localPlace(key)
		}
		if same(pl, s.in) || same(pl, in) {
			continue
		}
		b, ok := r.last(pl, in, s.from, t)
		if !ok || b < second {
			continue
		}
		if a, ok := r.last(s.in, pl, s.from, b); ok {
			via, first, second = pl, a, b
		}
	}
	return via, first, second, second > 0
}

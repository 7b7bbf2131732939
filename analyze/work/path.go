package work

import (
	"github.com/gmpscope/gmpscope/analyze/internal/hugepages"
	"github.com/gmpscope/gmpscope/analyze/waits"
)

// activity is what a goroutine does in an interval of its life.
type activity uint8

const (
	notKnown activity = iota
	running
	runnable
	offCPU // running, but its thread is on no CPU
	sweep
	assist // works for the collector, or waits for it
	syscall
	child    // waits for a child process
	stopping // stops the world
	onLock
	onCond  // a sync.Cond
	onGroup // a WaitGroup
	onChannel
	onSelect
	onNetwork
	onPipe
	onCoroutine
	asleep
	rest // of many things
	numActivities
)

var activities = [numActivities]string{
	"unknown", "running", "runnable", "off-cpu", "gc-sweep", "gc-assist", "syscall", "child", "stw",
	"lock", "cond", "waitgroup", "channel", "select", "network", "pipe", "coroutine", "sleep", "rest",
}

// waitsFor returns what a goroutine does that is blocked.
func waitsFor(f family, t trait) activity {
	switch {
	case t&inExec != 0 && (f == read || f == write):
		return child
	case t&inFile != 0 && (f == read || f == write):
		return onPipe
	case t&inGroup != 0 && f == lock:
		return onGroup
	}
	return byFamily[f]
}

// byFamily is what a goroutine does in a block of a family, but for what its stack says.
var byFamily = [numFamilies]activity{
	read: onNetwork, write: onNetwork, receive: onChannel, send: onChannel, selects: onSelect, cond: onCond,
	lock: onLock, sleep: asleep, collector: assist,
}

// interval is a node of the paths: what a goroutine did from begin to end. Its prev is the
// interval before it; a goroutine's first has its creator's. Intervals are never changed, so
// all that is woken or created can share the past of its waker. It holds no pointers.
type interval struct {
	begin, end int64  // ns
	serve      int64  // since when the waker's unit was under way at the wake-up; -1: in none
	prev, link uint32 // how far back in the ring; 0: none. link is the waker's newest then
	same       uint32 // likewise, the waker's last wait at the same site
	class      int32
	site       int32 // function at which it was blocked
	activity   activity
	cause      uint8 // of runnable: number of the cause in waits.Causes, plus 1
	home       bool  // it was blocked at home
	born       bool  // it was created: link is its creator's
}

// ring keeps the newest intervals. Their numbers count from 1.
type ring struct {
	kept []interval // a power of two
	next int64
}

func newRing(size int64) ring { return ring{kept: hugepages.Make[interval](int(size)), next: 1} }

// at returns the interval with a number, or nil if it is not kept any more.
func (r *ring) at(n int64) *interval {
	if n <= 0 || r.next-n > int64(len(r.kept)) {
		return nil
	}
	return &r.kept[n&int64(len(r.kept)-1)]
}

// back returns the number of the interval that lies so far behind n.
func back(n int64, distance uint32) int64 {
	if distance == 0 {
		return 0
	}
	return n - int64(distance)
}

// distance returns how far the interval with a number lies behind the next one; 0 if it is
// not kept.
func (r *ring) distance(n int64) uint32 {
	if n <= 0 || r.next-n >= int64(len(r.kept)) {
		return 0
	}
	return uint32(r.next - n)
}

// add adds an interval, which the caller fills in, and returns its number.
func (r *ring) add() (int64, *interval) {
	n := r.next
	r.next++
	return n, &r.kept[n&int64(len(r.kept)-1)]
}

// mark ends the present interval of a life, and returns this instant.
func (a *Accumulator) mark(l *life) mark {
	if a.now > l.since {
		a.pass(l, a.now)
	}
	return mark{a.now, l.head}
}

// longYield is from when on a wait after runtime.Gosched has an interval of its own, ns. Who polls,
// as runtime.GC does, yields a million times a second.
const longYield = 20_000

// poll goes on with a life that runs again after it yielded, and reports whether it waited so
// shortly that its interval goes on.
func (a *Accumulator) poll(l *life) bool {
	at := l.yieldedAt
	l.yieldedAt = 0
	if a.now-at < longYield {
		l.yielded += a.now - at
		return true
	}
	if at > l.since {
		a.pass(l, at)
	}
	l.doing = runnable
	return false
}

// pass ends the present interval of a life at a time, and returns it. Of a life that polls it is
// two: how long it ran, and how long it waited.
func (a *Accumulator) pass(l *life, end int64) *interval {
	if l.yieldedAt > 0 {
		l.yielded += end - l.yieldedAt
		l.yieldedAt = end
	}
	doing := l.doing
	if ns := l.yielded; ns > 0 {
		if l.yielded = 0; end-ns > l.since {
			a.pass(l, end-ns)
		}
		doing = runnable
	}
	prev := a.ring.distance(l.head)
	n, x := a.ring.add()
	*x = interval{} // OPT: and then field by field, since a literal is made elsewhere and copied, at once
	x.begin, x.end, x.serve, x.prev, x.class, x.activity = l.since, end, noUnit, prev, l.class, doing
	if doing >= syscall {
		x.site = l.site
	}
	l.head, l.since = n, end
	return x
}

// behind returns how far interval n lies behind the newest; 0 if it is not kept.
func (r *ring) behind(n int64) uint32 {
	d := r.distance(n)
	if d > 0 {
		d--
	}
	return d
}

// wake ends the interval in which a life was blocked, as event m says; by woke it.
func (a *Accumulator) wake(l *life, m *event, by int32) mark {
	link, same, serve := int64(0), int64(0), m.wakerUnit
	if by != 0 {
		w := a.lives.At(by)
		link, same = w.head, w.waitedAt(l.site, l.doing)
	} else if m.source == sourceNetwork && m.family == read {
		if s := a.answer(l, m); s != nil {
			link, serve = s.from.node, s.unit
		}
	}
	x := a.pass(l, a.now)
	x.serve, x.link, x.same = serve, a.ring.behind(link), a.ring.behind(same)
	if l.doing >= onLock && l.doing < onNetwork {
		l.waited(l.site, l.doing, l.head)
	}
	if m.traits&inRun != 0 && l.doing == onChannel && by != 0 && a.keptSubTests < maxSubTests {
		a.keptSubTests++
		a.subTests[l.id] = append(a.subTests[l.id], subTest{x.begin, x.end, a.lives.At(by).class, l.site})
	}
	c := a.classes[l.class]
	x.home = c.how == Cycle && c.home.at(&c.tree, m)
	return mark{a.now, l.head}
}

// bear begins the life of a goroutine that another, or 0, created.
func (a *Accumulator) bear(l *life, by int32) mark {
	x := a.pass(l, a.now)
	x.born = true
	if by != 0 {
		x.link = a.ring.behind(a.lives.At(by).head)
	}
	return mark{a.now, l.head}
}

// waited adds the intervals of a wait for a P that ends now, one a cause.
func (a *Accumulator) waited(l *life, w *waits.EndedWait) {
	if l.doing != runnable {
		return
	}
	for i, ns := range w.Causes {
		if end := min(l.since+ns, a.now); end > l.since {
			a.pass(l, end).cause = uint8(i) + 1
		}
	}
}

// unitOf returns when the unit that a life does has begun.
func (a *Accumulator) unitOf(l *life) int64 {
	switch {
	case a.classOf(l).how == undecided:
		return unitUnknown
	case l.unit.is:
		return l.unit.from.at
	}
	return noUnit
}

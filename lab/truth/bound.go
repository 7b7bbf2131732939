package truth

import (
	"cmp"
	"errors"
	"io"
	"math"
	"slices"
	"sort"
	"strings"

	"golang.org/x/exp/trace"

	"github.com/gmpscope/gmpscope/reference"
)

// Some queue lengths cannot be told from a trace by anybody. A queue operation
// has no event of its own: it is done somewhere between two events of its
// thread. If another thread starts a goroutine in between, the trace does not
// say on which side of that start the operation was. [FindOpen] tells from the
// truth for which starts that matters.
//
// All else that could be known is taken as known: who was put and taken, by
// whom, and the order of each queue, which is first in, first out. An operation
// is then bounded by the events around it on its own thread, by those around
// what is in front of it and behind it in the queue, and by the size of its
// batch, which says how long the queue was. Times of operations are not used.

// OpenLengths reports which queue lengths right after a start the trace leaves open.
type OpenLengths struct {
	Start int  // index of the start's line
	LL    bool // the length of the P's own queue
	// The least and the greatest length of the global queue that it allows.
	GLLeast, GLMost int64
}

// GL reports whether the length of the global queue is open.
func (o *OpenLengths) GL() bool { return o.GLLeast != o.GLMost }

// ErrNoMoves means that a truth lacks the lines of kind move.
var ErrNoMoves = errors.New("the truth has no move lines")

// span is when an operation can have been, in ns since the first event: after
// lo, and not after hi.
type span struct{ lo, hi int64 }

const (
	always = math.MinInt64
	never  = math.MaxInt64
)

func (s *span) after(t int64)  { s.lo = max(s.lo, t) }
func (s *span) before(t int64) { s.hi = min(s.hi, t) }

// threadEvent is an event of a thread.
type threadEvent struct {
	t    int64
	list bool // it makes one of a list of goroutines runnable, which is put later as a whole (injectglist)
}

// threadEvents holds the events of each thread, in order, and GOMAXPROCS.
type threadEvents struct {
	of    map[int64][]threadEvent
	procs []struct{ t, n int64 }
}

func readThreads(r io.Reader) (*threadEvents, error) {
	tr, err := trace.NewReader(r)
	if err != nil {
		return nil, err
	}
	es := &threadEvents{of: make(map[int64][]threadEvent)}
	for first := trace.Time(-1); ; {
		ev, err := tr.ReadEvent()
		if err == io.EOF {
			return es, nil
		}
		if err != nil {
			return nil, err
		}
		if first < 0 {
			first = ev.Time()
		}
		e := threadEvent{t: int64(ev.Time() - first)}
		switch ev.Kind() {
		case trace.EventStackSample:
			continue // by a signal, and not in the order of the others
		case trace.EventMetric:
			if m := ev.Metric(); m.Name == "/sched/gomaxprocs:threads" {
				es.procs = append(es.procs, struct{ t, n int64 }{e.t, int64(m.Value.Uint64())})
			}
		case trace.EventStateTransition:
			st := ev.StateTransition()
			if st.Resource.Kind == trace.ResourceGoroutine {
				from, to := st.Goroutine()
				if from == trace.GoUndetermined {
					continue // nothing that the thread did
				}
				e.list = from == trace.GoWaiting && to == trace.GoRunnable && ev.Goroutine() == trace.NoGoroutine
			}
		}
		if m := ev.Thread(); m != trace.NoThread {
			es.of[int64(m)] = append(es.of[int64(m)], e)
		}
	}
}

// around is the span between the events of thread m before and after time t,
// which is not that of an event.
func (es *threadEvents) around(m, t int64) span {
	list := es.of[m]
	i := firstAt(list, t)
	s := span{always, never}
	if i > 0 {
		s.lo = list[i-1].t
	}
	if i < len(list) {
		s.hi = list[i].t
	}
	return s
}

// firstAt is the index of the first event that is not before time t.
func firstAt(list []threadEvent, t int64) int {
	i, _ := slices.BinarySearchFunc(list, t, func(e threadEvent, t int64) int { return cmp.Compare(e.t, t) })
	return i
}

// since is the span from the event of thread m at time t to the next one.
func (es *threadEvents) since(m, t int64) span {
	list := es.of[m]
	i := firstAt(list, t+1)
	if i > 0 && list[i-1].list {
		for i < len(list) && list[i].list {
			i++
		}
	}
	s := span{t, never}
	if i < len(list) {
		s.hi = list[i].t
	}
	return s
}

// at returns GOMAXPROCS at time t.
func (es *threadEvents) at(t int64) int {
	n := int64(0)
	for _, p := range es.procs {
		if n > 0 && p.t > t {
			break
		}
		n = p.n
	}
	return int(n)
}

// globalTake is a take from the global queue.
type globalTake struct {
	span
	first, n    int  // of its goroutines, by their order in the queue
	least, most int  // length of the queue that its size tells
	mine        *put // the last one of its own thread before it
}

// ruleBook describes the sizes of batches, which are the same in all releases that truth was
// recorded of.
var ruleBook = reference.Releases()[0]

// sized notes that the take was a batch, whose size tells how long the queue was.
func (t *globalTake) sized(rules reference.Rules, procs int) {
	t.least = max(t.n, (t.n-1)*procs)
	if t.n < rules.GlobalBatchMax {
		t.most = max(t.least, t.n*procs-1)
	}
}

// fifo is the global queue over time: what was put, in the order in which it was
// taken, and the takes.
type fifo struct {
	puts  []span
	takes []globalTake
}

// tighten bounds operations by one another.
func (f *fifo) tighten() {
	const rounds = 3
	for range rounds {
		for i := range f.takes {
			t := &f.takes[i]
			if i > 0 {
				t.after(f.takes[i-1].lo)
			}
			for _, k := range [...]int{t.first + t.n - 1, t.first + t.least - 1} {
				if k < len(f.puts) {
					t.after(f.puts[k].lo)
					f.puts[k].before(t.hi)
				}
			}
			if k := t.first + t.most; k < len(f.puts) {
				t.before(f.puts[k].hi)
				f.puts[k].after(t.lo)
			}
		}
		for i := len(f.takes) - 2; i >= 0; i-- {
			f.takes[i].before(f.takes[i+1].hi)
		}
		for i := 1; i < len(f.puts); i++ {
			f.puts[i].after(f.puts[i-1].lo)
		}
		for i := len(f.puts) - 2; i >= 0; i-- {
			f.puts[i].before(f.puts[i+1].hi)
		}
	}
}

// lengths returns the least and the greatest length that the queue can have had
// at time t.
func (f *fifo) lengths(t int64) (least, most int64) {
	putLeast := sort.Search(len(f.puts), func(i int) bool { return f.puts[i].hi > t })
	putMost := sort.Search(len(f.puts), func(i int) bool { return f.puts[i].lo >= t })
	takeLeast := sort.Search(len(f.takes), func(i int) bool { return f.takes[i].hi > t })
	takeMost := sort.Search(len(f.takes), func(i int) bool { return f.takes[i].lo >= t })
	least, most = never, always
	for b := takeLeast; b <= max(takeLeast, takeMost); b++ {
		lo, hi, gone := putLeast, max(putLeast, putMost), 0
		if b > 0 {
			last := &f.takes[b-1]
			gone = last.first + last.n
			lo = max(lo, gone, last.first+last.least)
			if last.mine != nil {
				lo = max(lo, last.mine.at+1)
			}
		}
		if b < len(f.takes) {
			hi = min(hi, f.takes[b].first+f.takes[b].most)
		}
		if lo <= hi {
			least, most = min(least, int64(lo-gone)), max(most, int64(hi-gone))
		}
	}
	if least > most { // the truth contradicts itself: read without a lock
		n := int64(putLeast)
		if takeLeast > 0 {
			n -= int64(f.takes[takeLeast-1].first + f.takes[takeLeast-1].n)
		}
		return n, n
	}
	return least, most
}

// ring is a P's ring over time: what was put, in order, and what left it.
type ring struct {
	puts   []span
	leaves []span // of the first ones, in the same order
	steals []ringSteal
}

// ringSteal is a steal from a ring.
type ringSteal struct {
	first, n int // of its goroutines
}

// between returns the span of a steal.
func (r *ring) between(s ringSteal) span {
	sp := r.leaves[s.first]
	if s.first > 0 {
		sp.after(r.leaves[s.first-1].lo)
	}
	if k := s.first + s.n; k < len(r.leaves) {
		sp.before(r.leaves[k].hi)
	}
	// A thief takes n of 2n-1 or 2n (runqgrab).
	if k := s.first + 2*s.n - 2; k < len(r.puts) {
		sp.after(r.puts[k].lo)
	}
	if k := s.first + 2*s.n; k < len(r.puts) {
		sp.before(r.puts[k].hi)
	}
	return sp
}

// FindOpen reports for each start, in their order, which lengths the trace leaves
// open. The truth must have move lines, else the error is [ErrNoMoves].
func FindOpen(lines []Line, r io.Reader) ([]OpenLengths, error) {
	if !slices.ContainsFunc(lines, func(l Line) bool { return l.K == "move" }) {
		return nil, ErrNoMoves
	}
	es, err := readThreads(r)
	if err != nil {
		return nil, err
	}
	f := newFollower(es)
	f.follow(lines)
	return f.open(lines), nil
}

// put is one into the global queue.
type put struct {
	span
	at int // its place in the order of the queue, or none
}

// queued is where a goroutine is.
type queued struct {
	in  string // toGlobal, toLocal, or none of them
	p   int64
	seq int  // toLocal: its place in the order of the ring
	put *put // toGlobal
}

// taking is a take from the global queue of which n goroutines have shown themselves.
type taking struct{ take, n int }

// follower follows the goroutines through the queues.
type follower struct {
	es     *threadEvents
	at     map[int64]queued
	global fifo
	rings  map[int64]*ring
	taking map[int64]taking // by thread: its last take from the global queue
	mine   map[int64]*put   // by thread: its last
}

func newFollower(es *threadEvents) *follower {
	return &follower{es: es, at: make(map[int64]queued), rings: make(map[int64]*ring), taking: make(map[int64]taking), mine: make(map[int64]*put)}
}

func (f *follower) ring(p int64) *ring {
	if f.rings[p] == nil {
		f.rings[p] = new(ring)
	}
	return f.rings[p]
}

// put puts a goroutine at the end of a queue.
func (f *follower) put(l *Line, sp span) {
	q := queued{in: l.To, p: l.P}
	switch l.To {
	case toLocal:
		r := f.ring(l.P)
		q.seq = len(r.puts)
		r.puts = append(r.puts, sp)
	case toGlobal:
		q.put = &put{sp, none}
		f.mine[l.M] = q.put
	}
	f.at[l.G] = q
}

// leave removes a goroutine from its ring.
func (f *follower) leave(q queued, sp span) {
	r := f.ring(q.p)
	for len(r.leaves) <= q.seq {
		r.leaves = append(r.leaves, sp)
	}
}

// take begins a take from the global queue of n goroutines by thread m.
func (f *follower) take(m int64, n int, sp span) *globalTake {
	f.global.takes = append(f.global.takes, globalTake{span: sp, first: len(f.global.puts), n: n, least: 1, most: math.MaxInt32, mine: f.mine[m]})
	f.taking[m] = taking{len(f.global.takes) - 1, 0}
	for range n {
		// Those that were put before the trace began can have been at any time.
		f.global.puts = append(f.global.puts, span{always, never})
	}
	return &f.global.takes[len(f.global.takes)-1]
}

// taken reports whether a goroutine is the next one of the present take of thread m. The
// rest of a batch shows only when it is put into the taker's ring, when others
// may have taken, too.
func (f *follower) taken(m int64, q queued) {
	k, ok := f.taking[m]
	if !ok || k.n == f.global.takes[k.take].n || q.put == nil {
		return
	}
	q.put.at = f.global.takes[k.take].first + k.n
	f.global.puts[q.put.at] = q.put.span
	k.n++
	f.taking[m] = k
}

// takes reports whether a line is the take that ends in a start, which stands behind it
// only because the clock of the trace is coarse.
func (l *Line) takes(start *Line) bool {
	const coarse = 128
	return l.K == "move" && l.To == toDirect && start.K == "start" && l.G == start.G && l.M == start.M && l.T < start.T+coarse
}

func (f *follower) follow(lines []Line) {
	starts := make(map[int64][]*Line) // that are still to come, of each goroutine
	for i := range lines {
		if l := &lines[i]; l.K == "start" {
			starts[l.G] = append(starts[l.G], l)
		}
	}
	grabbed := make(map[int64][]queued) // by thread
	for i := range lines {
		l := &lines[i]
		if l.K == "start" && i+1 < len(lines) && lines[i+1].takes(l) {
			l = &lines[i+1]
		} else if i > 0 && l.takes(&lines[i-1]) {
			l = &lines[i-1]
		}
		switch l.K {
		case "ready":
			f.put(l, f.es.since(l.M, l.T))
		case "steal":
			if g := grabbed[l.M]; len(g) > 0 && g[0].in == toLocal {
				f.ring(g[0].p).steals = append(f.ring(g[0].p).steals, ringSteal{first: g[0].seq, n: len(g)})
			}
			delete(grabbed, l.M)
		case "start":
			delete(f.at, l.G)
			starts[l.G] = starts[l.G][1:]
		case "move":
			sp := f.es.around(l.M, l.T)
			q := f.at[l.G]
			switch {
			case l.To == toDirect && l.P != none && len(starts[l.G]) > 0 && coarse(starts[l.G][0].Src) == "global":
				if s := starts[l.G][0]; s.Src == srcGlobal {
					f.take(l.M, int(s.Batch), sp).sized(ruleBook, f.es.at(l.T))
				} else {
					f.take(l.M, 1, sp)
				}
				f.taken(l.M, q)
			case q.in == toGlobal:
				f.taken(l.M, q)
			case q.in == toLocal:
				f.leave(q, sp)
				if l.To == toDirect && l.P == none {
					grabbed[l.M] = append(grabbed[l.M], q)
				}
			}
			if l.To == toDirect {
				delete(f.at, l.G)
			} else {
				f.put(l, sp)
			}
		}
	}
	// What was never taken stands behind all others.
	var rest []span
	for _, q := range f.at {
		if q.in == toGlobal {
			rest = append(rest, q.put.span)
		}
	}
	slices.SortFunc(rest, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.hi, b.hi), cmp.Compare(a.lo, b.lo))
	})
	f.global.puts = append(f.global.puts, rest...)
	f.global.tighten()
}

// open looks at every start.
func (f *follower) open(lines []Line) []OpenLengths {
	steals := make(map[int64][]span)
	for p, r := range f.rings {
		for _, x := range r.steals {
			steals[p] = append(steals[p], r.between(x))
		}
	}
	next := make(map[int64]int) // by P: the first steal that is not over
	var out []OpenLengths
	for i := range lines {
		l := &lines[i]
		if l.K != "start" {
			continue
		}
		o := OpenLengths{Start: i}
		o.GLLeast, o.GLMost = f.global.lengths(l.T)
		list, k := steals[l.P], next[l.P]
		for k < len(list) && list[k].hi <= l.T {
			k++
		}
		next[l.P] = k
		for ; k < len(list) && list[k].lo < l.T; k++ {
			o.LL = o.LL || list[k].hi > l.T
		}
		out = append(out, o)
	}
	return out
}

// Lengths reports how many queue lengths a trace leaves open, and how many of the
// others a dump has right.
type Lengths struct {
	LLOpen, GLOpen Rate // of all starts, Right those that are open
	LL, GL         Rate // exact, of those that are not open
	GLAllowed      Rate // of those that are open, Right where the dump has one that the trace allows
}

// Add adds the counts of another score.
func (s *Lengths) Add(o *Lengths) {
	for _, p := range [...][2]*Rate{
		{&s.LLOpen, &o.LLOpen}, {&s.GLOpen, &o.GLOpen}, {&s.LL, &o.LL}, {&s.GL, &o.GL}, {&s.GLAllowed, &o.GLAllowed},
	} {
		p[0].add(*p[1])
	}
}

// CompareLengths scores the starts of a dump, whose matches [Compare] returned.
func CompareLengths(truth, dump []Line, starts []Match, open []OpenLengths) Lengths {
	var s Lengths
	byLine := make(map[int]*OpenLengths, len(open))
	for i := range open {
		byLine[open[i].Start] = &open[i]
	}
	for _, m := range starts {
		o := byLine[m.Truth]
		if o == nil || m.Dump < 0 {
			continue
		}
		t, d := &truth[m.Truth], &dump[m.Dump]
		s.LLOpen.count(o.LL)
		s.GLOpen.count(o.GL())
		if !o.LL {
			s.LL.count(t.LL == d.LL)
		}
		if o.GL() {
			s.GLAllowed.count(o.GLLeast <= d.GL && d.GL <= o.GLMost)
		} else {
			s.GL.count(t.GL == d.GL)
		}
	}
	return s
}

// LengthsHead names the columns of Summary, all per cent; LengthsRule is the line
// below it, for a table with one column before it.
const (
	LengthsHead = "gl open | gl where not open | gl allowed where open | ll open | ll where not open"
	LengthsRule = "|---|---:|---:|---:|---:|---:|"
)

// Summary is the score in one line of a Markdown table.
func (s *Lengths) Summary() string {
	return strings.Join([]string{s.GLOpen.String(), s.GL.String(), s.GLAllowed.String(), s.LLOpen.String(), s.LL.String()}, " | ")
}

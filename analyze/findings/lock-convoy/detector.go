// Package lockconvoy is the detector lock-convoy: do goroutines stand in line for
// a lock, one behind the other, for a millisecond and more? doc.md explains it.
package lockconvoy

import (
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "lock-convoy"

// Thresholds decide when the detector reports locks for which goroutines stand in line. Fields
// whose names end in Ns are in nanoseconds; shares are fractions from 0 to 1.
type Thresholds struct {
	// WaitNs is how long a wait for a lock must be: with one this long a
	// sync.Mutex goes into starvation mode.
	WaitNs int64 `json:"wait_ns"`
	// Row is how many such waits must end without the line getting empty, unless one
	// of them was of at least LongNs.
	Row    int64 `json:"row"`
	LongNs int64 `json:"long_ns"`
	// RetryNs: who was woken and blocks at the same place again, having run no
	// longer than this, did not get the lock: its wait goes on.
	RetryNs int64 `json:"retry_ns"`
	// CriticalShare is the share of the duration with such a line from which on it
	// may be critical.
	CriticalShare float64        `json:"critical_share"`
	Grade         findings.Grade `json:"grade"` // severities, by the time that goroutines waited in line for the lock
}

// Default returns the thresholds that apply unless a configuration sets others. WaitNs is the
// runtime's (starvationThresholdNs, internal/sync/mutex.go, before Go 1.24 sync/mutex.go); the
// other numbers are our own.
func Default() Thresholds {
	return Thresholds{WaitNs: 1_000_000, Row: 3, LongNs: 5_000_000, RetryNs: 20_000, CriticalShare: 0.25, Grade: findings.DefaultGrade()}
}

// New returns the detector that reports locks for which goroutines stand in line, with
// thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, CostOf: findings.OfBlocked,
		Remedy: findings.Remedy{FreeLock: true, Makespan: true, Why: "nobody waits for the lock: the most that shorter sections, or more locks, can give"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, overdue: findings.NewOverdue(view), lost: -1}
			w.sites = findings.NewTable(maxSites, func(stack int32) site { return site{stack: stack, last: -1, seenAt: -1} })
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindReady}, Whys: []reference.Why{reference.WhyTimer}}, w.slept)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindReady}, Reasons: []reference.Reason{reference.ReasonSync}}, w.ready)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindStop}, Whys: []reference.Why{reference.WhyGoyield}}, w.stop)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindStop}, Reasons: []reference.Reason{reference.ReasonSync}}, w.block)
			view.Syscalls(findings.SyscallFilter{MinNs: minCall, Lost: true}, w.syscall)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindLost}}, w.lose)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	sites findings.Table[int32, site] // by the stack of the wait
	waits findings.Pending[wait]
	// Sleeps whose timer fired at the end of a long run, and how long it may have been due.
	overdue *findings.Overdue
	late    findings.Pending[late]
	wakers  findings.Recent[waker]
	calls   findings.Recent[call]
	passes  [2 * maxPasses]pass // the last ones, by number
	passed  int64               // how many there were
	// Sites with waits that are not settled, the one with the oldest first.
	unsettled []*site
	line      []int64                        // scratch: when those in line for a pass began to wait, sorted
	releases  findings.Table[int32, release] // by stack, in Finish
	lost      int64                          // when the last gap in the trace began; -1: there was none
}

const (
	// maxSites bounds memory, as maxHolders of one site does; what comes later is
	// not told.
	maxSites   = 4096
	maxHolders = 64
	// maxPasses is how many passes old what is not settled may be.
	maxPasses = 1024
	// maxWaits is how many waits of a site are settled at once, at most.
	maxWaits = 256
	// maxSeen is how many that run are looked at when somebody begins to wait.
	maxSeen = 8
	// maxNested is how many passes of other locks, which a holder takes meanwhile, are told from those of
	// the one that it holds.
	maxNested = 16
	// minCall is the shortest system call that is remembered.
	minCall = 100_000
)

// wait is the last wait of a goroutine for a lock.
type wait struct {
	stack int32
	since int64 // when it began, attempts in vain included
	run   int64 // how long the goroutine had run when it was woken
	stops int64 // how often it had stopped then
}

// late is the last sleep of a goroutine whose timer fired only when a goroutine left its P.
type late struct {
	to   int64
	kept findings.Cell // that one's run interval, of which Ns is for how long the timer may have been due
}

// waker is who was woken at a lock, or woke a goroutine there.
type waker struct {
	run  int64 // as in wait; -1: it did not wait
	wait int64 // how long it had waited for a P then
	pass int64 // by which it got the lock, or gave it up, last; 0: by none that is known
	site *site // where it woke a goroutine last
}

// pass is a lock that goes from one who held it to one who waited for it.
type pass struct {
	number int64
	at     int64
	site   *site // where the other one waited
	hold   hold  // of the giver
	before int64 // the giver's last one before, after which it held the lock again; 0: none that is known
	// What the giver had done when it got the lock, as in waker.
	run, wait int64
}

// call is a system call.
type call struct {
	from, to int64
	stack    int32
}

// site is a place where goroutines wait for a lock: a stack.
type site struct {
	stack    int32
	handoffs int64
	giver    int64 // who gave the lock up last after so long a hold that it made somebody wait for WaitNs; 0: none
	// Who may have held the lock when somebody began to wait after the last wake-up, the giver first.
	seen   [maxSeen]seen
	seenAt int64
	// The present row.
	last          int64 // when the last one was woken
	row           int64
	from          int64
	counts        bool     // it is long enough, or a wait in it is
	waits         []waited // of the row, until it counts
	unsettled     []waited // that count
	oldest        int64    // watcher.passed when the first of them came
	longest       int64
	longFrom, end int64
	waited        int64 // ns of all waits
	// All rows that counted.
	rows    int64
	lined   int64 // ns
	victims findings.Tally
	holders []*holder
	index   [256]uint8 // of holders, from 1, by a hash of their places, or behind that
}

// place is where a lock was given up, and by a goroutine of which class.
type place struct{ stack, class int32 }

// seen is what a goroutine had done at a time: it had run, and waited for a P, for so long.
type seen struct{ g, at, run, wait int64 }

// waited is one wait, and the pass that ended it.
type waited struct {
	cell findings.Cell
	pass int64
}

// begin is from when on the wait counts: the parts of it that ended in vain have been counted
// already.
func (x *waited) begin() int64 { return x.cell.To - x.cell.Ns }

// holder is who held the lock while others waited at a site: where it gave the lock
// up. All times are multiplied by how many waited.
type holder struct {
	place
	did
}

// did is what holders did.
type did struct {
	held, ran, calls, queued int64 // ns
	yielded                  int64 // ns of queued, after runtime.Gosched
	blocked                  int64
	reasons                  findings.Reasons[int64] // of blocked
	late                     int64                   // of it, asleep with a timer that may have been due
	longest                  findings.Cell           // hold
	slow                     findings.Cell           // what held one up longest
	kept                     findings.Cell           // the run interval that kept a timer longest
}

func (w *watcher) ready(d *reference.Decision) {
	if d.By < 0 || d.By == d.G {
		return
	}
	g := w.view.Goroutine()
	if g.BlockedNs < 0 {
		return
	}
	s := w.sites.At(g.Stack)
	if s == nil {
		return
	}
	since := w.since(g, d.Time)
	number := w.pass(s, g, d)
	if p := w.known(number); p.hold.cell.Ns >= w.t.WaitNs {
		s.giver = d.By
	}
	w.count(s, g, since, number, d.Time)
	*w.wakers.Make(d.G) = waker{run: g.RunNs, wait: g.WaitNs, pass: number}
	b := w.wakers.Make(d.By)
	b.run, b.pass, b.site = -1, number, s
}

// block notes what those have done up to now who may hold the lock that somebody begins to
// wait for: who held it for long the last time, and perhaps never waits for it, and those
// that run.
func (w *watcher) block(d *reference.Decision) {
	s := w.sites.At(d.Stack)
	if s == nil || s.seenAt > s.last {
		return
	}
	s.seenAt, s.seen = d.Time, [maxSeen]seen{}
	n := 0
	see := func(h *findings.Goroutine) {
		if h == nil || h.ID == d.G || n == maxSeen || n > 0 && s.seen[0].g == h.ID {
			return
		}
		s.seen[n] = seen{g: h.ID, at: d.Time, run: h.RunNs, wait: h.WaitNs}
		if h.StartAt >= 0 {
			s.seen[n].run += d.Time - h.StartAt
		}
		n++
	}
	if s.giver != 0 {
		see(w.view.ByID(s.giver))
	}
	for p := int32(0); p < w.view.KnownPs() && n < maxSeen; p++ {
		see(w.view.Running(p))
	}
}

// pass notes that d.By gives a lock up to g at s, and returns the pass's number.
func (w *watcher) pass(s *site, g *findings.Goroutine, d *reference.Decision) int64 {
	w.passed++
	for len(w.unsettled) > 0 && w.passed-w.unsettled[0].oldest >= maxPasses {
		w.settle(w.unsettled[0])
	}
	p := &w.passes[w.passed%int64(len(w.passes))]
	*p = pass{}
	p.number, p.at = w.passed, d.Time
	p.site, p.run = s, -1
	from := g.BlockedAt
	if k := w.wakers.Find(d.By); k != nil {
		p.before, p.run, p.wait = k.pass, k.run, k.wait
		before := w.known(p.before)
		// Who waits longest gets a lock first: a pass to one who came later was of another lock.
		for i := 0; before != nil && before.site != s && g.BlockedAt < before.hold.cell.From && i < maxNested; i++ {
			p.before, p.run, p.wait = before.before, before.run, before.wait
			before = w.known(p.before)
		}
		if before != nil {
			from = max(from, before.at)
		} else {
			p.before = 0
		}
	}
	w.hold(p, from, d)
	return p.number
}

// known returns a pass, nil if it is none or too long ago.
func (w *watcher) known(number int64) *pass {
	if p := &w.passes[number%int64(len(w.passes))]; number > 0 && p.number == number {
		return p
	}
	return nil
}

// since is when the wait of g that ends now began.
func (w *watcher) since(g *findings.Goroutine, now int64) int64 {
	since := g.BlockedAt
	if l := w.waits.Find(g); l != nil && l.stack == g.Stack && g.RunNs-l.run <= w.t.RetryNs && g.Stops == l.stops+1 && l.since > w.lost {
		since = l.since
	}
	*w.waits.Make(g) = wait{stack: g.Stack, since: since, run: g.RunNs, stops: g.Stops}
	return since
}

// lose is for a gap in the trace: a wait before it did not go on behind it, as far as
// is known.
func (w *watcher) lose(d *reference.Decision) { w.lost = d.Time }

// count processes a wait of g at s that ends now, by a pass.
func (w *watcher) count(s *site, g *findings.Goroutine, since, number, now int64) {
	last := s.last
	s.last = now
	s.waited += g.BlockedNs
	if last < 0 || g.BlockedAt > last {
		w.endRow(s, last)
		s.from = g.BlockedAt
	}
	if now-since >= w.t.WaitNs {
		s.row++
		s.waits = append(s.waits, waited{findings.Cell{Class: g.Class, Ns: g.BlockedNs, From: since, To: now, G: g.ID, P: reference.NoP, Stack: g.Stack}, number})
	}
	if s.counts = s.counts || s.row >= w.t.Row || now-since >= w.t.LongNs; s.counts {
		w.take(s)
	}
}

// take adds what is known of the present row, which counts.
func (w *watcher) take(s *site) {
	for _, x := range s.waits {
		s.victims.Add(&x.cell)
	}
	if len(s.unsettled) == 0 {
		s.oldest, w.unsettled = w.passed, append(w.unsettled, s)
	}
	s.unsettled = append(s.unsettled, s.waits...)
	if s.waits = s.waits[:0]; len(s.unsettled) >= maxWaits {
		w.settle(s)
	}
}

// settle divides waits among those who held the lock meanwhile: who gave it up at the end
// held it since it was given the lock itself, before that who gave it to it, and so on.
// A pass is part of all waits in the line for it. So many waits are settled at once.
func (w *watcher) settle(s *site) {
	if at := slices.Index(w.unsettled, s); at == 0 {
		w.unsettled = w.unsettled[1:]
	} else {
		w.unsettled = slices.Delete(w.unsettled, at, at+1)
	}
	rest := s.unsettled
	slices.Reverse(rest) // the last pass first
	for len(rest) > 0 {
		rest = w.follow(s, rest)
	}
	s.unsettled = s.unsettled[:0]
}

// follow settles the waits, the last pass first, that came by the lock of the first one, and
// returns the others.
func (w *watcher) follow(s *site, waits []waited) []waited {
	others, line := waits[:0], w.line[:0]
	for number := waits[0].pass; ; {
		for len(waits) > 0 && waits[0].pass >= number {
			if x := waits[0]; x.pass > number {
				others = append(others, x)
			} else {
				at, _ := slices.BinarySearch(line, x.begin())
				line = slices.Insert(line, at, x.begin())
			}
			waits = waits[1:]
		}
		p := w.known(number)
		if p == nil || len(line) == 0 {
			w.line = line[:0]
			return append(others, waits...)
		}
		line, number = w.blame(s, p, line), p.before
	}
}

// blame adds the hold that a pass ended to who held the lock, as often as there were some in
// line for it, and returns who was in line for the pass before.
func (w *watcher) blame(s *site, p *pass, line []int64) []int64 {
	from, all := p.at, 0 // all that waited since then
	if before := w.known(p.before); before != nil {
		from = before.at
		all, _ = slices.BinarySearch(line, from)
	}
	if p.hold.cell.Ns <= 0 {
		return line[:all]
	}
	if h := s.holder(place{p.hold.cell.Stack, p.hold.cell.Class}); h != nil {
		h.add(&p.hold, p.at-from, int64(all))
		for _, begin := range line[all:] {
			h.add(&p.hold, p.at-begin, 1)
		}
	}
	return line[:all]
}

func (s *site) holder(at place) *holder {
	i := uint8((uint64(uint32(at.stack))<<32 | uint64(uint32(at.class))) * 0x9E3779B97F4A7C15 >> 56)
	for ; s.index[i] > 0; i++ {
		if h := s.holders[s.index[i]-1]; h.place == at {
			return h
		}
	}
	if len(s.holders) == maxHolders {
		return nil
	}
	h := &holder{place: at}
	s.holders = append(s.holders, h)
	s.index[i] = uint8(len(s.holders))
	return h
}

// add adds, times n, the part of a hold that is so many ns long.
func (h *holder) add(x *hold, ns, n int64) {
	if ns <= 0 || n == 0 {
		return
	}
	part := float64(ns) / float64(max(1, x.cell.To-x.cell.From))
	of := func(ns int64) int64 { return n * int64(part*float64(ns)) }
	h.held += n * ns
	h.ran += of(x.ran)
	h.calls += of(x.call)
	h.queued += of(x.queued)
	if x.yields {
		h.yielded += of(x.queued)
	}
	h.blocked += of(x.blocked)
	h.reasons.Add(x.reason, of(x.blocked))
	h.late += of(x.kept.Ns)
	h.longest.KeepLonger(&x.cell)
	h.slow.KeepLonger(&x.slow)
	h.kept.KeepLonger(&x.kept)
}

func (w *watcher) endRow(s *site, last int64) {
	if s.counts {
		s.rows++
		s.lined += last - s.from
	}
	if s.row > s.longest {
		s.longest, s.longFrom, s.end = s.row, s.from, last
	}
	s.row, s.counts, s.waits = 0, false, s.waits[:0]
}

// hold is one time for which the lock was held.
type hold struct {
	cell                       findings.Cell
	ran, call, blocked, queued int64
	reason                     reference.Reason
	yields                     bool          // it was queued last because it called runtime.Gosched
	slow                       findings.Cell // call or blocked, whichever was longer
	kept                       findings.Cell // as in late, of the last block
}

// hold reports in the hold of a pass, which is zero, what d.By, who gives the lock up now, did since from,
// when it got it at the latest.
func (w *watcher) hold(p *pass, from int64, d *reference.Decision) {
	h, x := w.view.Waker(), &p.hold
	held := d.Time - from
	if h == nil || h.ID != d.By || held <= 0 {
		return
	}
	// OPT: field by field, since a literal is made elsewhere and copied, at once.
	c := &x.cell
	c.Class, c.Ns, c.From, c.To, c.G, c.P, c.Stack = h.Class, held, from, d.Time, h.ID, h.P, d.Stack
	now := int64(0)
	if h.StartAt >= 0 {
		now = d.Time - max(h.StartAt, from)
	}
	ran := now
	then, known := w.seen(p, d.By, from, held)
	if known {
		ran = max(ran, h.RunNs-then.run+now)
	}
	since := func(begin, end int64) int64 { return max(0, end-max(begin, from)) } // of what may have begun before
	if k := w.calls.Find(d.By); k != nil && k.to > from {
		to := k.to
		if h.StartAt > k.to && h.ReadyWhy == reference.WhySyscallExit { // it lost its P, and came back later
			to = h.StartAt - max(0, h.Wait)
		}
		x.call = min(since(k.from, to), held)
		ran -= x.call
		x.slow = findings.Cell{Class: h.Class, Ns: x.call, From: k.from, To: k.from + x.call, G: h.ID, P: reference.NoP, Stack: k.stack}
	}
	x.ran = max(0, min(ran, held-x.call))
	if h.Wait > 0 {
		x.queued = since(h.StartAt-h.Wait, h.StartAt)
	}
	if blocked := since(h.BlockedAt, h.BlockedAt+h.BlockedNs); h.BlockedNs > 0 && blocked > 0 && h.Reason != reference.ReasonNone {
		x.blocked, x.reason = blocked, h.Reason
		if l := w.late.Find(h); l != nil && l.to == h.BlockedAt+h.BlockedNs {
			x.kept = l.kept
			x.kept.Ns = min(x.kept.Ns, blocked)
		}
	}
	if known {
		x.rest(then, h, held)
	}
	x.yields = h.ReadyWhy == reference.WhyGosched
	if x.blocked > x.call {
		x.slow = findings.Cell{Class: h.Class, Ns: h.BlockedNs, From: h.BlockedAt, To: h.BlockedAt + h.BlockedNs, G: h.ID, P: reference.NoP, Stack: h.Stack}
	}
}

// slept notes a sleep whose timer fired only when a goroutine left its P.
func (w *watcher) slept(d *reference.Decision) {
	g := w.view.Goroutine()
	if g == nil || g.System || g.Reason != reference.ReasonSleep {
		return
	}
	if ns, l := w.overdue.TimerDelay(g, d); ns >= w.t.WaitNs {
		*w.late.Make(g) = late{d.Time, findings.Cell{Class: l.Class, Ns: ns, From: l.From, To: l.To, G: l.G, P: d.P, Stack: l.Stack}}
	}
}

// seen returns what g had done when it got the lock that it passes on: since it was woken for it, or since
// somebody began to wait there, at about that time.
func (w *watcher) seen(p *pass, g, from, held int64) (seen, bool) {
	if p.run >= 0 {
		return seen{g: g, at: from, run: p.run, wait: p.wait}, true
	}
	s := p.site
	if max(s.seenAt-from, from-s.seenAt) <= held/8 {
		for _, x := range s.seen {
			if x.g == g && x.at == s.seenAt {
				return x, true
			}
		}
	}
	return seen{}, false
}

// rest adds what a holder did before its last block and system call: it was in more of them,
// or waited for a P more than once.
func (x *hold) rest(then seen, h *findings.Goroutine, held int64) {
	x.queued = max(x.queued, min(h.WaitNs-then.wait, held-x.ran-x.call-x.blocked))
	switch ns := held - x.ran - x.call - x.blocked - x.queued; {
	case ns <= 0:
	case x.reason != reference.ReasonNone:
		x.blocked += ns
	default:
		x.call += ns
	}
}

// stop notes the hand-overs of starvation mode: Unlock gives the lock to the
// first in line, and its P too (semrelease1, goyield).
func (w *watcher) stop(d *reference.Decision) {
	if k := w.wakers.Find(d.G); k != nil && k.site != nil {
		k.site.handoffs++
	}
}

func (w *watcher) syscall(c *findings.Syscall) {
	*w.calls.Make(c.G) = call{c.From, c.To, c.Stack}
}

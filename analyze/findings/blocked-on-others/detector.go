// Package blockedonothers is the detector blocked-on-others: for which function do
// goroutines wait while they are blocked, and what does it do meanwhile? doc.md explains it.
package blockedonothers

import (
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "blocked-on-others"

// Thresholds decide when the detector reports functions in which goroutines are blocked for
// long until others go on. Fields whose names end in Ns are in nanoseconds; shares are
// fractions from 0 to 1.
type Thresholds struct {
	// Line is how many goroutines must wait on average over the recording.
	Line float64 `json:"line"`
	// MinNs is for how long goroutines must wait in sum, and MeanNs for how long on average:
	// what is shorter is the cost of waking up.
	MinNs  int64 `json:"min_ns"`
	MeanNs int64 `json:"mean_ns"`
	// Asked is the share of the waits of goroutines that go on and on in which the one that
	// waits must have woken just before the one that ends its wait: else it may have nothing
	// to do.
	Asked float64 `json:"asked"`
	// Ended is how many goroutines of a class must have come to their end, so that each is
	// there for one thing, which waits as long as it is blocked.
	Ended int64 `json:"ended"`
	// Times is how many times each of these may wait in the function, on average: who waits more
	// often serves others. Of our recordings those that are there for one thing wait 10 times at
	// most, and the writer of a connection of gRPC 180 times.
	Times int64 `json:"times"`
	// IdleLine is Line where nothing tells that what goroutines wait for is not work.
	IdleLine float64 `json:"idle_line"`
	// OutsideLine is Line for system calls and sleeps, which need no other goroutine.
	OutsideLine float64 `json:"outside_line"`
}

// Default returns the thresholds that apply unless a configuration sets others. All are our
// own.
func Default() Thresholds {
	return Thresholds{Line: 0.2, MinNs: 50_000_000, MeanNs: 100_000, Asked: 0.3, Ended: 20, Times: 40, IdleLine: 1.25, OutsideLine: 0.5}
}

// New returns the detector that reports functions in which goroutines are blocked for long
// until others go on, with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, AnyLength: true, Kind: findings.KindCause, CostOf: findings.OfBlocked, MaybeMeant: true,
		Remedy: findings.Remedy{Why: "that goroutines wait for one another may be meant: what would be without is not in the trace"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, dials: map[int32]bool{}, credits: map[credit]int64{}}
			w.cells.Table = findings.NewTable(maxCells, func(k key) cell { return cell{key: k, number: int32(len(w.cells.List))} })
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindReady}, Reasons: []reference.Reason{
				reference.ReasonChanSend, reference.ReasonChanReceive, reference.ReasonSelect, reference.ReasonCond, reference.ReasonSync, reference.ReasonGCEnds,
			}}, w.woken)
			view.Runs(findings.RunFilter{Whys: []reference.Why{reference.WhyExit}}, w.exited)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindReady}, Whys: []reference.Why{reference.WhyTimer, reference.WhyNetwork}}, w.waited)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindReady}, Whys: []reference.Why{reference.WhyCreate}}, w.created)
			view.Syscalls(findings.SyscallFilter{Lost: true}, w.lostP)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindSyscallExit}, When: findings.WithoutP}, w.returned)
			return w
		},
	}
}

type watcher struct {
	t       Thresholds
	view    *findings.View
	woke    findings.Pending[wake] // whom a goroutine woke last
	last    findings.Pending[wait]
	calls   findings.Pending[int64] // when its system call lost its P
	made    findings.Pending[int64] // when it created one last
	rounds  findings.Pending[round]
	pauses  findings.Recent[pause]
	timers  findings.Pending[timed]
	servers findings.Pending[server]
	dials   map[int32]bool   // classes of goroutines that open connections
	credits map[credit]int64 // ns of the longest block before
	cells   findings.CachedTable[key, cell]
}

// pause is a long block of a goroutine, of which shorter ones that come soon after it are no end.
type pause struct {
	ns, to int64
	reason reference.Reason
	waker  int64
	ender  link
}

// pauseNs is how long a block is at least that is remembered beyond the next.
const pauseNs = 1_000_000

// wake is that a goroutine woke another one, at a time.
type wake struct{ at, woken int64 }

// wait is the last wait of a goroutine that another one has ended.
type wait struct {
	ns    int64
	ran   int64 // how long it had run until then, ns
	to    int64 // when it ended
	stack int32 // of who ended it
	cell  int32 // its number: there can be a million waits, so that they have no pointers
	// Whom g has woken since: nobody, or those who waited for the end that it tells at one stack
	// (told), or others, too.
	notified int32
	others   bool
	again    bool // it was at the same place in the wait before
}

// stopNs is for how long at most a goroutine runs that was only waiting to be told to stop.
const stopNs = 50_000

// maxStops is how many stacks of those that end waits are told apart in a cell.
const maxStops = 8

// maxCells bounds memory; what comes later is not shown.
const maxCells = 4096

// key is who waited where, and who ended it; by is byCollector or the like where no
// goroutine did.
type key struct {
	class, stack, by int32
}

// cell is the waits with one key.
type cell struct {
	key
	sums
	number  int32 // in watcher.cells
	reason  reference.Reason
	waits   findings.Cell
	waker   int64 // that ended the longest
	wakerAt int32 // where that was
	stops   findings.Few[end, stopped]
	endAt   int64 // when a wait ended last
	links   links
	answers findings.Few[place, answer] // who may have sent what ended them, if they are for the network
}

// sums are of waits, but for their number and length.
type sums struct {
	requests int64 // waits before which the one that waited had woken the one that ended it; sleeps before which it had created one; answers that came after another one in the round
	timed    int64 // answers in rounds that a timer began
	again    int64 // waits that a timer ended, as it had ended the one before of the goroutine, at the same stack
	vain     int64 // of these, those between which the goroutine did next to nothing
	children int64 // waits that were ended by one that the waiting one had created
	ends     int64 // times at which waits ended
	// The last round of those that ended the waits, in proportion to these: for how long
	// they ran, waited for a P, and were blocked by reason.
	ran, runnable float64
	blocked       findings.Reasons[float64]
}

func (s *sums) add(x *sums) {
	s.requests += x.requests
	s.timed += x.timed
	s.again += x.again
	s.vain += x.vain
	s.children += x.children
	s.ends += x.ends
	s.ran += x.ran
	s.runnable += x.runnable
	s.blocked.Merge(&x.blocked)
}

// links is for how long those that ended waits were themselves blocked, by who ended that, ns.
type links = findings.Few[link, float64]

// link is goroutines of a class at a stack; or byTimer, byPeer.
type link struct{ by, stack int32 }

// maxLinks is how many are told apart in a cell.
const maxLinks = 8

// end is where a wait was ended, after which the goroutine came to its end and did nothing more, but
// wake a goroutine at one stack; 0 is none.
type end struct{ stack, notified int32 }

// stopped is the waits with one end, ns.
type stopped struct {
	ns    int64
	again int64 // of goroutines that were at the same place in the wait before
}

func (w *watcher) woken(d *reference.Decision) {
	g, by := w.view.Goroutine(), w.view.Waker()
	if g == nil || g.System {
		return
	}
	w.paused(g)
	w.pause(g, d.Time)
	w.count(d, g, by)
	if by != nil && !by.System {
		w.credited(d, g, by)
		a := w.woke.Make(by)
		a.at, a.woken = d.Time, g.ID
		if last := w.last.Find(by); last != nil {
			last.others = last.others || d.Stack == 0 || last.notified != 0 && last.notified != d.Stack
			last.notified = d.Stack
		}
	}
}

// count counts the wait of g that by has ended, if it was a goroutine.
func (w *watcher) count(d *reference.Decision, g, by *findings.Goroutine) {
	if g.BlockedNs <= 0 || g.Stack == 0 || by == g {
		return
	}
	k := key{g.Class, g.Stack, byCollector}
	switch {
	case g.Reason == reference.ReasonGCEnds:
	case by == nil || by.System:
		return
	default:
		k.by = by.Class
	}
	c := w.cell(k)
	if c == nil {
		return
	}
	c.reason = g.Reason
	if c.waits.N++; g.BlockedNs > c.waits.Worst {
		c.waits.Worst, c.waits.G, c.waits.From, c.waits.To = g.BlockedNs, g.ID, g.BlockedAt, d.Time
		c.waker, c.wakerAt = d.By, d.Stack
	}
	c.waits.Ns += g.BlockedNs
	if d.Time > c.endAt {
		c.ends++
		c.endAt = d.Time
	}
	if k.by < 0 {
		return
	}
	if a := w.woke.Find(g); a != nil && a.woken == by.ID && a.at >= g.RunAt && a.at <= g.BlockedAt {
		c.requests++
	}
	if by.Creator == g.ID {
		c.children++
	}
	w.meanwhile(c, g, by, d.Time)
	last := w.last.Make(g)
	// OPT: field by field, since a literal is made elsewhere and copied, at once.
	last.again = last.ns > 0 && w.cells.List[last.cell].stack == g.Stack
	last.ns, last.ran, last.to, last.stack, last.cell = g.BlockedNs, g.RunNs, d.Time, d.Stack, c.number
	last.notified, last.others = 0, false
}

// exited notes the last wait of a goroutine that has come to its end right after it: no
// system call, no goroutine created, and none woken but at one stack.
func (w *watcher) exited(*findings.Run) {
	g := w.view.Goroutine()
	if g == nil || g.ReadyWhy == reference.WhyCreate { // nobody has ended a wait of its
		return
	}
	last := w.last.Find(g)
	if last == nil || g.RunNs-last.ran > stopNs || g.Created > 0 || g.CallAt >= last.to || last.others {
		return
	}
	stops := &w.cells.List[last.cell].stops
	if i := stops.Find(end{last.stack, last.notified}, maxStops); i >= 0 {
		s := &stops.Values[i]
		s.ns += last.ns
		if last.again {
			s.again += last.ns
		}
	}
}

// pause remembers the block of g that ends now, if it is long, and did not come soon after a far
// longer one.
func (w *watcher) pause(g *findings.Goroutine, now int64) {
	if g.BlockedNs < pauseNs {
		return
	}
	p := w.pauses.Make(g.ID)
	if p.ns < 4*g.BlockedNs || now-p.to > p.ns {
		*p = pause{g.BlockedNs, now, g.Reason, g.Waker, w.ender(g)}
	}
}

// meanwhile adds what by, which has ended a wait of g, did in its last round, from the block
// before to now. Where the wait took longer, it is taken to have gone on like that before, unless
// most of the wait was during a longer block of its before that. A goroutine that has not been
// blocked yet did nothing before it began.
func (w *watcher) meanwhile(c *cell, g, by *findings.Goroutine, now int64) {
	ranNs, waitNs, blockedNs, reason := by.Round(now)
	ns, round := g.BlockedNs, ranNs+waitNs+blockedNs
	if round == 0 {
		return
	}
	if 2*round <= ns { // else most of the wait was during the last round
		if p := w.pauses.Find(by.ID); p != nil && p.to <= now-round {
			if during := p.to - max(p.to-p.ns, now-ns); 2*during >= ns {
				c.blocked.Add(p.reason, float64(during))
				if p.waker != g.ID {
					addLink(&c.links, p.ender, float64(during))
				}
				ns -= during
			}
		}
	}
	part := float64(ns) / float64(round)
	if blockedNs == 0 {
		part = min(1, part)
	}
	c.ran += part * float64(ranNs)
	c.runnable += part * float64(waitNs)
	c.blocked.Add(reason, part*float64(blockedNs))
	if blockedNs > 0 && by.BlockedNs > 0 && by.Waker != g.ID {
		addLink(&c.links, w.ender(by), part*float64(blockedNs))
	}
}

// ender is who ended the last block of a goroutine, and where that one was; where nobody of the
// program did, where the goroutine was blocked.
func (w *watcher) ender(g *findings.Goroutine) link {
	switch by := w.view.ByID(g.Waker); {
	case g.ReadyWhy == reference.WhyTimer:
		return link{by: byTimer, stack: g.Stack}
	case g.ReadyWhy == reference.WhyNetwork:
		return link{by: byPeer, stack: g.Stack}
	case by != nil && !by.System:
		return link{by: by.Class, stack: g.WakeStack}
	}
	return link{}
}

// addLink adds to the time for which those that ended waits were blocked until that came.
func addLink(links *links, to link, ns float64) {
	if to == (link{}) {
		return
	}
	if i := links.Find(to, maxLinks); i >= 0 {
		links.Values[i] += ns
	}
}

func (w *watcher) cell(k key) *cell { return w.cells.AtHash(k, uint32(31*k.class+7*k.stack+k.by)) }

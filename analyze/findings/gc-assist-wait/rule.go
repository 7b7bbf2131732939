// Package gcassistwait is the detector gc-assist-wait: did goroutines have to
// wait, and work, for the garbage collector before they might allocate? doc.md
// explains it.
package gcassistwait

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "gc-assist-wait"

// Thresholds decide when the detector reports goroutines that had to mark, or to wait for the
// garbage collector, before they could allocate. Fields whose names end in Ns are in
// nanoseconds; shares are fractions from 0 to 1.
type Thresholds struct {
	BlockNs int64 `json:"block_ns"` // a wait for mark work or credit this long is long
	// Share is the time lost in assists, as a share of the running time of the program's goroutines, from
	// which on there is a finding even if no wait is long.
	Share float64 `json:"share"`
	// MinCount is the number of long waits from which on they are more than a
	// note. One as long as AloneNs suffices, and so does the share WarningShare.
	MinCount     int64          `json:"min_count"`
	WarningShare float64        `json:"warning_share"`
	AloneNs      int64          `json:"alone_ns"`
	Grade        findings.Grade `json:"grade"` // severities, by the time lost in assists
}

// Default returns the thresholds that apply unless a configuration sets others. That a
// goroutine should get credit within a millisecond is what golang/go#22654 expects; Share is
// ours: the collector's own workers are meant to do nearly all of the work (mgcpacer.go).
// WarningShare is what programs that allocate all the time and are well do not reach,
// measured.
func Default() Thresholds {
	return Thresholds{BlockNs: 1_000_000, Share: 0.05, MinCount: 3, WarningShare: 0.15, AloneNs: 10_000_000, Grade: findings.DefaultGrade()}
}

// New returns the detector that reports goroutines that had to mark, or to wait for the
// garbage collector, before they could allocate, with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, CostOf: findings.OfPTime,
		Remedy: findings.Remedy{Why: "assists are part of the goroutines' work"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, open: map[int64]*assist{}}
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindAssistBegin}}, w.begin)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindAssistEnd}}, w.end)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindStop}, Reasons: []reference.Reason{reference.ReasonAssist}}, w.stop)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindStop}, Whys: []reference.Why{reference.WhyExit}}, w.exit)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindLost}}, w.lose)
			w.wakes = view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindReady}}, w.ready)
			w.others = view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindStart, reference.KindPStart, reference.KindPStop}}, w.advance)
			w.wait(0)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	open    map[int64]*assist // by goroutine
	assists findings.Tally    // by the running time in them
	blocks  findings.Tally    // long ones
	blocked int64             // ns of all
	nblock  int64
	atEnd   int64 // long ones that only the end of the cycle ended

	wakes, others *findings.Switch // on while a goroutine waits

	waiting int64 // goroutines that are blocked
	rate    int64 // of them, those that could run on Ps which the program does not use
	at      int64
	lost    int64 // integral of rate
}

// assist is one that is under way, with its goroutine and its beginning.
type assist struct {
	findings.Cell
	ran   int64 // running time of the goroutine up to then
	block int64 // since when it is blocked; -1: it is not
}

func (w *watcher) begin(d *reference.Decision) {
	if d.G >= 0 && d.Flags.OfProgram() && w.open[d.G] == nil { // a new generation tells it again
		w.open[d.G] = w.assist(d)
	}
}

func (w *watcher) assist(d *reference.Decision) *assist {
	return &assist{findings.Cell{Class: d.Class, From: d.Time, G: d.G, P: d.P, Stack: d.Stack}, w.ran(d.G, d.Time), -1}
}

// ran is the running time of a goroutine so far.
func (w *watcher) ran(id, now int64) int64 {
	g := w.view.ByID(id)
	switch {
	case g == nil:
		return 0
	case g.StartAt >= 0:
		return g.RunNs + now - g.StartAt
	}
	return g.RunNs
}

// advance integrates up to the present, and looks how many of the blocked could
// run now on Ps that are idle, mark, or look for work.
func (w *watcher) advance(d *reference.Decision) {
	w.lost += w.rate * (d.Time - w.at)
	w.at, w.rate = d.Time, min(w.waiting, w.view.CountPs(ledger.Idle)+w.view.CountPs(ledger.GC)+w.view.CountPs(ledger.Sched))
}

// wait counts goroutines that are blocked, or are no longer.
func (w *watcher) wait(n int64) {
	w.waiting += n
	w.wakes.Set(w.waiting > 0)
	w.others.Set(w.waiting > 0)
}

func (w *watcher) end(d *reference.Decision) {
	if a := w.open[d.G]; a != nil {
		w.over(a, d.Time)
		w.exit(d)
	}
}

func (w *watcher) over(a *assist, to int64) {
	a.Ns, a.To = max(0, w.ran(a.G, to)-a.ran), to
	w.assists.Add(&a.Cell)
}

// exit ends an assist: damaged traces may not show its own end.
func (w *watcher) exit(d *reference.Decision) {
	a := w.open[d.G]
	if a == nil {
		return
	}
	delete(w.open, d.G)
	if a.block >= 0 {
		w.wait(-1)
		w.advance(d)
	}
}

// lose is for a gap in the trace: what becomes of the assists is not known.
func (w *watcher) lose(d *reference.Decision) {
	clear(w.open)
	w.wait(-w.waiting)
	w.advance(d)
}

func (w *watcher) stop(d *reference.Decision) {
	if !d.Flags.OfProgram() {
		return
	}
	a := w.open[d.G]
	if a == nil { // its beginning was not shown
		a = w.assist(d)
		w.open[d.G] = a
	}
	if a.block < 0 {
		w.wait(1)
		w.advance(d)
	}
	a.block = d.Time
	a.Stack = cmp.Or(d.Stack, a.Stack)
}

func (w *watcher) ready(d *reference.Decision) {
	if a := w.open[d.G]; a != nil && a.block >= 0 {
		// Who waits when the cycle ends is woken while the world is stopped
		// (gcWakeAllAssists).
		w.unblock(a, d.Time, w.view.Stopping())
		a.block = -1
		w.wait(-1)
	}
	w.advance(d)
}

// unblock accounts for a wait within an assist.
func (w *watcher) unblock(a *assist, to int64, atEnd bool) {
	ns := to - a.block
	w.nblock++
	w.blocked += ns
	if ns < w.t.BlockNs {
		return
	}
	if atEnd {
		w.atEnd++
	}
	w.blocks.Add(&findings.Cell{Class: a.Class, Ns: ns, From: a.block, To: to, G: a.G, P: a.P, Stack: a.Stack})
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	w.lost += w.rate * (f.EndNs - w.at)
	for _, g := range slices.Sorted(maps.Keys(w.open)) {
		a := w.open[g]
		if a.block >= 0 {
			w.unblock(a, f.EndNs, false)
		}
		w.over(a, f.EndNs)
	}
	var ran int64
	w.view.Classes(func(c *findings.Class) { ran += c.RunNs })
	total, long := w.assists.Total, w.blocks.Total
	cost := total.Ns + w.lost
	share := float64(cost) / float64(max(1, ran)) // of the program's running time
	s, ok := w.t.Grade.Severity(cost, f.RecordedNs())
	if !ok || long.N == 0 && share < w.t.Share {
		return nil
	}
	if long.N < w.t.MinCount && long.Worst < w.t.AloneNs && share < w.t.WarningShare {
		s = findings.Note
	}
	x := findings.Finding{
		Severity: s, CostNs: cost, FromNs: total.From, ToNs: total.To, Basis: findings.Certain, Feigned: findings.ByStall,
		Actors: w.assists.Actors(f, findings.Victim, 3),
	}
	if long.N > 0 {
		x.FromNs, x.ToNs = long.From, long.To
		x.Actors = w.blocks.Actors(f, findings.Victim, 3)
	}
	site := allocator(x.Actors)
	function := findings.FunctionOf(site)
	who, where := findings.Say("Who allocates"), findings.Say("where the stacks show it")
	if function != "" {
		who, where = findings.Say("%s allocates, and", findings.Name(function)), findings.Say("in %s", findings.Frame(site))
		if user := user(x.Actors, site); user != "" {
			who = findings.Say("%s, called by %s, allocates, and", findings.Name(function), user)
		}
	}
	x.Headline = findings.Say("%s helps the garbage collector: %s a second of running", who, perSecond(share))
	x.Title = findings.Say("Goroutines had to help the garbage collector, or wait for it, before they might allocate: it cost %s, %s for each second of running time",
		quantity.Duration(cost), perSecond(share))
	x.Measured("lost in assists, for each second of running time", findings.Said("%s", perSecond(share)).Of(cost), findings.Said("%s", perSecond(w.t.Share)))
	x.Measured("of it, marking", findings.Time(total.Ns).With(" in %s", quantity.Plural(total.N, "assist", "assists")))
	x.Measured("of it, blocked while Ps were free of the program", findings.Time(w.lost))
	x.Measured("blocked, all goroutines summed", findings.Time(w.blocked).With(" in %s", quantity.Plural(w.nblock, "block", "blocks")))
	x.Measured("long blocks", findings.Count(long.N), findings.Time(w.t.BlockNs).With(" each"))
	if long.N > 0 {
		x.Measured("the longest block", findings.Time(long.Worst), findings.Time(w.t.BlockNs))
		x.Measured("long blocks that ended only with the cycle", findings.Count(w.atEnd))
	}
	x.Advise("Allocate less %s, above all in bursts: reuse buffers, size slices and maps beforehand, keep temporary values on the stack. Who allocates faster than the collector marks has to mark for it.", where)
	x.Advise("Let cycles be rarer: raise GOGC, or set GOMEMLIMIT with GOGC off, if there is memory. What is alive, and full of pointers, is what has to be marked: keep less of it.")
	if more := f.MoreRoom(); more != "" {
		x.Advice[1] = findings.Say("%s", more)
	}
	if 2*w.atEnd > long.N {
		x.Advise("Most long blocks lasted until the cycle was over: there was no mark work left to share. A long linked list is marked one element after the other, by one thread; several short ones, or a slice, can be shared.")
	}
	return []findings.Finding{x}
}

// perSecond writes a ratio of two times, which may be more than 1, as that of a
// second.
func perSecond(ratio float64) string { return quantity.Duration(int64(ratio * 1e9)) }

// user is the program's own function that called the library's that allocates at a frame, ""
// if that one is the program's.
func user(actors []findings.Actor, site string) findings.Name {
	for _, a := range actors {
		if i := slices.Index(a.Stack, site); i >= 0 {
			return (&findings.Actor{Stack: a.Stack[i:], Tested: a.Tested}).AtInnermost().CalledBy()
		}
	}
	return ""
}

// allocator is the innermost frame that is not of the standard library and allocated, in the first
// stack that shows one; else the library's.
func allocator(actors []findings.Actor) string {
	library := ""
	for _, a := range actors {
		for _, frame := range a.Stack {
			switch {
			case !findings.OfLibrary(findings.FunctionOf(frame)):
				return frame
			case library == "" && !strings.HasPrefix(frame, "runtime.") && !strings.HasPrefix(frame, "internal/runtime/"):
				library = frame
			}
		}
	}
	return library
}

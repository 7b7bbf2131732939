// Package busywaiting is the detector busy-waiting: does a goroutine keep a P without
// ever blocking, to see whether something has happened? doc.md explains it.
package busywaiting

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/convoy"
	latepreemption "github.com/gmpscope/gmpscope/analyze/findings/late-preemption"
	netpolldelay "github.com/gmpscope/gmpscope/analyze/findings/netpoll-delay"
	preemptionthrash "github.com/gmpscope/gmpscope/analyze/findings/preemption-thrash"
	"github.com/gmpscope/gmpscope/analyze/findings/serialization"
	"github.com/gmpscope/gmpscope/analyze/findings/starvation"
	timerlateness "github.com/gmpscope/gmpscope/analyze/findings/timer-lateness"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "busy-waiting"

// Thresholds decide when the detector reports goroutines that keep a P to poll for something
// instead of blocking. Times in Grade are in nanoseconds; shares are fractions from 0 to 1.
type Thresholds struct {
	// MinCount is how often a class must have been preempted, and PollShare the share of
	// these times at which it was about to look whether something has happened.
	MinCount  int64   `json:"min_count"`
	PollShare float64 `json:"poll_share"`
	// PollRun is how much of the duration such a class must have run, in Ps, and PollEnds
	// the share of its run intervals that preemptions must have ended.
	PollRun  float64 `json:"poll_run"`
	PollEnds float64 `json:"poll_ends"`
	// Who spends WorkCalls of its time in system calls does more than to look; and so does a
	// class that keeps WorkPs of all Ps, if nobody else waited for WorkBehind of that time:
	// nobody is left to bring what it would wait for.
	WorkCalls  float64 `json:"work_calls"`
	WorkPs     float64 `json:"work_ps"`
	WorkBehind float64 `json:"work_behind"`
	// A class of fewer goroutines than Ps that did not look but ran for LoopRun of the
	// duration, and ended LoopShare of its run intervals by preemptions, computes or waits
	// for a variable; it counts if others waited behind it.
	LoopRun   float64        `json:"loop_run"`
	LoopShare float64        `json:"loop_share"`
	Grade     findings.Grade `json:"grade"` // severities, by the waiting behind such goroutines; for a class that polls for something, by its running time
}

// Default returns the thresholds that apply unless a configuration sets others. All are our
// own. A goroutine that sends a packet of 5 µs each millisecond, and looks at the clock in
// between, spends half a percent in system calls.
func Default() Thresholds {
	return Thresholds{
		MinCount: 4, PollShare: 0.5, PollRun: 0.2, PollEnds: 0.3, WorkCalls: 0.02, WorkPs: 0.9, WorkBehind: 0.01,
		LoopRun: 0.5, LoopShare: 0.7, Grade: findings.DefaultGrade(),
	}
}

// New returns the detector that reports goroutines that keep a P to poll for something instead
// of blocking, with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, CostOf: findings.OfPTime,
		Explains: []string{
			starvation.ID, timerlateness.ID, netpolldelay.ID, serialization.ID, convoy.ID, preemptionthrash.ID,
			latepreemption.ID,
		},
		Remedy: findings.Remedy{Why: "what would be left of its running if it blocked the trace does not tell"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, classes: findings.NewTable(findings.MaxKept, newClass)}
			view.Runs(findings.RunFilter{Whys: []reference.Why{reference.WhySlice}}, w.preempted)
			return w
		},
	}
}

type watcher struct {
	t       Thresholds
	view    *findings.View
	classes findings.Table[int32, class]
}

const (
	// maxStacks and maxGoroutines are how many of a class are told apart.
	maxStacks     = 64
	maxGoroutines = 64
)

// class is the preemptions of its goroutines.
type class struct {
	id       int32
	n        int64
	gs       map[int64]int64 // of each goroutine
	stacks   map[int32]int64 // at each stack
	from, to int64
	p        int32
}

func newClass(id int32) class { return class{id: id, gs: map[int64]int64{}, stacks: map[int32]int64{}} }

func (w *watcher) preempted(r *findings.Run) {
	if r.System {
		return
	}
	c := w.classes.At(r.Class)
	if c == nil {
		return
	}
	if c.n == 0 {
		c.from = r.From
	}
	c.n++
	c.to, c.p = r.To, r.P
	findings.CountIn(c.gs, r.G, maxGoroutines)
	findings.CountIn(c.stacks, r.Stack, maxStacks)
}

// evidence is what a finding says.
type evidence struct {
	*class
	run       float64 // Ps, on average
	polls     int64   // preemptions at which it looked
	how       string  // by what, as a function
	stack     int32   // the commonest, of those at which it looked if it did
	preempted float64 // share of its run intervals
	behind    int64   // waiting of other classes while it ran, ns
	sure      bool    // it looks
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	var out []findings.Finding
	for _, c := range w.classes.List {
		if n, ok := w.assess(f, c); ok {
			out = append(out, w.finding(f, &n)...)
		}
	}
	return out
}

func (w *watcher) assess(f *findings.Facts, c *class) (n evidence, ok bool) {
	stat := w.view.ClassStat(c.id)
	if c.n < w.t.MinCount || stat.Runs == 0 {
		return n, false
	}
	n = evidence{class: c, run: f.Share(stat.RunNs), preempted: float64(c.n) / float64(stat.Runs), behind: behind(f, c.id)}
	n.countPolls(f)
	n.sure = float64(n.polls) >= w.t.PollShare*float64(c.n) && !w.works(f, &n, stat)
	if n.sure {
		least := w.t.PollEnds
		if n.how == theClock || n.how == aSelect { // work may look at it, too
			least = w.t.LoopShare
		}
		return n, n.run >= w.t.PollRun && n.preempted >= least
	}
	few := len(c.gs) < max(2, f.GOMAXPROCS)
	return n, few && n.run >= w.t.LoopRun*float64(len(c.gs)) && n.preempted >= w.t.LoopShare
}

// works reports whether goroutines that were looking when they were preempted have work
// between looks. Assembly, as of a hash, cannot be preempted: a goroutine that is in it is found at
// the next call, be it a look.
func (w *watcher) works(f *findings.Facts, n *evidence, stat *findings.Class) bool {
	if float64(stat.CallNs) >= w.t.WorkCalls*float64(stat.RunNs+stat.CallNs) {
		return true
	}
	return n.run >= w.t.WorkPs*float64(f.GOMAXPROCS) && float64(n.behind) < w.t.WorkBehind*float64(stat.RunNs)
}

// countPolls finds out at how many preemptions the goroutines looked whether something has
// happened, and how.
func (n *evidence) countPolls(f *findings.Facts) {
	most := int64(0)
	hows := map[string]int64{}
	for _, stack := range slices.Sorted(maps.Keys(n.stacks)) {
		times := n.stacks[stack]
		how := pollKind(f.Frames(stack))
		if how != "" {
			n.polls += times
			hows[how] += times
		}
		if times > most {
			most, n.stack = times, stack
		}
	}
	for _, how := range slices.Sorted(maps.Keys(hows)) {
		if n.how == "" || hows[how] > hows[n.how] {
			n.how = how
		}
	}
}

// theClock is what a goroutine looks at that waits for a time to come.
const theClock = "the clock"

// aSelect is a select of several cases. That it has a default case shows only in that its
// goroutine does not block.
const aSelect = "select"

// pollKind returns how a goroutine that was stopped at a stack looks whether something has
// happened: by a select with a default case, on the clock, by trying to lock; "" if it
// does something else.
func pollKind(frames []string) string {
	for _, fr := range frames {
		switch name := findings.FunctionOf(fr); {
		case name == "runtime.selectnbrecv", name == "runtime.selectnbsend":
			return "select with a default case"
		case name == "runtime.selectgo":
			return aSelect
		case name == "time.Since", name == "time.Time.Sub":
			return ""
		case name == "time.Now", name == "time.Until", strings.HasPrefix(name, "time.Time."):
			return theClock
		case strings.HasSuffix(name, ").TryLock"), strings.HasSuffix(name, ").TryRLock"):
			return "TryLock"
		case strings.HasPrefix(name, "sync/atomic."), strings.HasPrefix(name, "internal/runtime/atomic."):
			return "an atomic variable"
		case !strings.HasPrefix(name, "runtime."):
			return ""
		}
	}
	return ""
}

// behind is how long goroutines of other classes stood in line while those of a class ran.
// Who waits for an idle P to wake up is behind nobody.
func behind(f *findings.Facts, class int32) (ns int64) {
	name := string(f.Name(class))
	for i := range f.Waits.Classes {
		c := &f.Waits.Classes[i]
		if c.System || c.Name == name {
			continue
		}
		var meanwhile, line int64
		for _, a := range c.Antagonists {
			if a.Name == name {
				meanwhile += a.Ns
			}
		}
		for _, x := range c.Waits.Causes {
			if x.Cause == waits.CauseQueueing || x.Cause == waits.CauseOvertaken {
				line += x.Ns
			}
		}
		ns += min(meanwhile, line)
	}
	return ns
}

func (w *watcher) finding(f *findings.Facts, n *evidence) []findings.Finding {
	cost := n.behind
	if n.sure {
		cost = w.view.ClassStat(n.id).RunNs
	}
	s, ok := w.t.Grade.Severity(cost, f.RecordedNs())
	if !ok {
		return nil
	}
	gs := slices.Collect(maps.Keys(n.gs))
	g := slices.MinFunc(gs, func(x, y int64) int { return cmp.Or(cmp.Compare(n.gs[y], n.gs[x]), cmp.Compare(x, y)) })
	a := (&findings.Cell{Class: n.id, G: g, P: n.p, Stack: n.stack}).Actor(f, findings.Cause)
	x := findings.Finding{
		Severity: s, CostNs: cost, FromNs: n.from, ToNs: n.to, Basis: findings.Suspected, Actors: []findings.Actor{a},
	}
	function, place := findings.ProgramsFunction(a.Stack, a.Tested)
	function = cmp.Or(function, findings.Name(a.Class))
	kept, ps := "kept a P for "+quantity.Percent(n.run)+" of the time", quantity.Percent(min(1, n.run))+" of a P"
	if n.run > 1.05 {
		kept, ps = "kept "+quantity.Number(n.run)+" Ps on average", quantity.Amount(n.run, "P", "Ps")+" busy"
	}
	waited := ""
	if n.behind > 0 {
		waited = fmt.Sprintf(", while others waited %s behind it", quantity.Duration(n.behind))
	}
	limit := w.t.LoopRun
	if n.sure {
		limit = w.t.PollRun
	}
	x.Measured("Ps that it kept, on average", findings.Number(n.run), findings.Number(limit))
	x.Measured("times that it was preempted", findings.Count(n.n), findings.Count(w.t.MinCount))
	x.Measured("of all ends of its run intervals", findings.Share(min(1, n.preempted)), findings.Share(w.t.LoopShare))
	x.Measured("of these times, it was looking whether something has happened", findings.Share(float64(n.polls)/float64(max(1, n.n))), findings.Share(w.t.PollShare))
	x.Measured("others waited for a P while it ran", findings.Time(n.behind))
	if place != "" {
		x.Measured("where it was preempted most", findings.Said("%s", findings.Place(place)))
	}
	x.Headline = findings.Say("%s never blocks: it keeps %s", a.Short(), ps)
	x.Title = findings.Say("%s never blocked and %s%s", a.Doer(), kept, waited)
	x.Advise("See what %s does: if it waits for a variable to change, let it block for that on a channel or a sync.Cond; if it computes, let it do so in pieces and yield in between (runtime.Gosched), in a process of its own, or with a P to spare.", function)
	x.Advise("More Ps help only where there are more CPUs.")
	if n.sure {
		x.Basis = findings.Inferred
		x.Headline = findings.Say("%s polls instead of blocking: it keeps %s", a.Short(), ps)
		x.Title = findings.Say("%s polls (%s) instead of blocking, and %s%s", a.Doer(), n.how, kept, waited)
		x.AdviseOnly("Let %s block for what it polls for: select without a default case, a channel, a sync.Cond, a timer (time.Sleep, time.After, a context with a deadline).", function)
		x.Advise("If it must poll, let it sleep in between, longer each time: a goroutine that never blocks owns a P.")
	}
	return []findings.Finding{x}
}

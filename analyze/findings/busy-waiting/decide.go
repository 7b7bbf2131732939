package busywaiting

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/waits"
)

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
	for _, c := range w.classes {
		if n, ok := w.assess(f, c); ok {
			if x, ok := w.finding(f, &n); ok {
				out = append(out, x)
			}
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
// between looks. Assembly, as of a hash, cannot be preempted: whoever is in it is found at
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
		name, _, _ := strings.Cut(fr, " ")
		switch {
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
	name := f.Name(class)
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
			if x.Cause == waits.CauseBehind || x.Cause == waits.CauseOvertaken {
				line += x.Ns
			}
		}
		ns += min(meanwhile, line)
	}
	return ns
}

func (w *watcher) finding(f *findings.Facts, n *evidence) (findings.Finding, bool) {
	cost := n.behind
	if n.sure {
		cost = w.view.ClassStat(n.id).RunNs
	}
	s, ok := w.t.Grade.Severity(cost, f.RecordedNs())
	if !ok {
		return findings.Finding{}, false
	}
	x := findings.Finding{
		ID: ID, Severity: s, CostNs: cost, FromNs: n.from, ToNs: n.to, Basis: findings.Inferred,
	}
	if !n.sure {
		x.Basis = findings.Suspected
	}
	a := f.Class(findings.Cause, n.id)
	gs := slices.Collect(maps.Keys(n.gs))
	a.G = slices.MinFunc(gs, func(x, y int64) int { return cmp.Or(cmp.Compare(n.gs[y], n.gs[x]), cmp.Compare(x, y)) })
	a.P, a.Stack = findings.OnP(n.p), f.Frames(n.stack)
	x.Actors = append(x.Actors, a)
	w.phrase(f, &x, n)
	f.SoftenIfBrief(&x)
	return x, true
}

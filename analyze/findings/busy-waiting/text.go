package busywaiting

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, n *evidence) {
	a := &x.Actors[0]
	function, place := findings.ProgramsFunction(a.Stack, a.Tested)
	if function == "" {
		function = a.Class
	}
	kept := "kept a P for " + quantity.Percent(n.run) + " of the time"
	if n.run > 1.05 {
		kept = "kept " + quantity.Number(n.run) + " Ps on average"
	}
	ps := quantity.Percent(min(1, n.run)) + " of a P"
	if n.run > 1.05 {
		ps = quantity.Amount(n.run, "P", "Ps") + " busy"
	}
	waited := ""
	if n.behind > 0 {
		waited = fmt.Sprintf(", while others waited %s behind it", quantity.Duration(n.behind))
	}
	x.Evidence = []findings.Evidence{
		{What: "Ps that it kept, on average", Value: quantity.Number(n.run), Limit: quantity.Number(w.t.LoopRun)},
		{What: "times that it was preempted", Value: quantity.Count(n.n), Limit: quantity.Count(w.t.MinCount)},
		{What: "of all ends of its run intervals", Value: quantity.Percent(min(1, n.preempted)), Limit: quantity.Percent(w.t.LoopShare)},
		{What: "of these times, it was looking whether something has happened", Value: quantity.Percent(float64(n.polls) / float64(max(1, n.n))), Limit: quantity.Percent(w.t.PollShare)},
		{What: "others waited for a P while it ran", Value: quantity.Duration(n.behind), Ns: n.behind},
	}
	if place != "" {
		x.Evidence = append(x.Evidence, findings.Evidence{What: "where it was preempted most", Value: place})
	}
	if n.sure {
		x.Evidence[0].Limit = quantity.Number(w.t.PollRun)
		x.Headline = fmt.Sprintf("%s polls instead of blocking: it keeps %s", a.Short(), ps)
		x.Title = fmt.Sprintf("%s polls (%s) instead of blocking, and %s%s", a.Doer(), n.how, kept, waited)
		x.Advice = []string{
			"Let " + function + " block for what it polls for: select without a default case, a channel, a sync.Cond, a timer (time.Sleep, time.After, a context with a deadline).",
			"If it must poll, let it sleep in between, longer each time: a goroutine that never blocks owns a P.",
		}
		return
	}
	x.Headline = fmt.Sprintf("%s never blocks: it keeps %s", a.Short(), ps)
	x.Title = fmt.Sprintf("%s never blocked and %s%s", a.Doer(), kept, waited)
	x.Advice = []string{
		"See what " + function + " does: if it waits for a variable to change, let it block for that on a channel or a sync.Cond; if it computes, let it do so in pieces and yield in between (runtime.Gosched), in a process of its own, or with a P to spare.",
		"More Ps help only where there are more CPUs.",
	}
}

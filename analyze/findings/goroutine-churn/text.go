package goroutinechurn

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(x *findings.Finding, n *evidence) {
	t := &w.total
	x.Headline = fmt.Sprintf("Goroutines are created for next to no work: up to %s a second", quantity.Count(n.perSecond))
	x.Title = fmt.Sprintf("%s were created that ran for %s (median) in their whole life, up to %s a second",
		quantity.Plural(t.created, "goroutine", "goroutines"), quantity.Duration(n.medianNs), quantity.Count(n.perSecond))
	for i := range x.Actors {
		if a := &x.Actors[i]; a.Role == findings.Cause {
			x.Headline = fmt.Sprintf("%s creates goroutines for next to no work: up to %s a second", a.Short(), quantity.Count(n.perSecond))
			x.Title = fmt.Sprintf("%s created goroutines for next to no work: %s of %s ran for %s (median) in their whole life, up to %s a second",
				a.Doer(), quantity.Count(t.created), x.Actors[0].Class, quantity.Duration(n.medianNs), quantity.Count(n.perSecond))
			break
		}
	}
	x.Evidence = []findings.Evidence{
		{What: fmt.Sprintf("creations in the worst %s", quantity.Duration(w.t.WindowNs)), Value: quantity.Count(w.worst), Limit: quantity.Count(int64(w.t.Rate * float64(w.t.WindowNs) / 1e9))},
		{What: "running time in the life of one, median", Value: quantity.Duration(n.medianNs), Limit: quantity.Duration(w.t.LifeNs), Ns: n.medianNs},
		{What: "windows above the limits", Value: quantity.Count(w.windows)},
		{What: "starts that were first ones", Value: quantity.Percent(min(1, float64(t.created)/float64(max(1, t.starts))))},
		{What: "time that Ps took to get from one to the next, summed", Value: quantity.Duration(t.idle), Ns: t.idle},
	}
	x.Advice = []string{
		"Do so little work in the caller, or give several items to one goroutine: creating, starting and ending one takes about a microsecond, and a stack.",
		"Or keep a few workers, about GOMAXPROCS of them, that take items from a channel, several at a time.",
	}
}

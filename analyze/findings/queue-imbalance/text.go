package queueimbalance

import (
	"fmt"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, n *evidence) {
	x.Headline = fmt.Sprintf("P%d has up to %s in its queue, another P none", w.worst.P, quantity.Plural(w.peakLen, "goroutine", "goroutines"))
	if i := slices.IndexFunc(x.Actors, func(a findings.Actor) bool { return a.Role == findings.Cause }); i >= 0 {
		x.Headline = fmt.Sprintf("%s fills the queue of P%d: up to %s wait in it, in another P's none", x.Actors[i].Short(), w.worst.P, quantity.Plural(w.peakLen, "goroutine", "goroutines"))
	}
	x.Title = fmt.Sprintf("P%d had up to %s in its queue while another P worked beside an empty one: %s of the time",
		w.worst.P, quantity.Plural(w.peakLen, "goroutine", "goroutines"), quantity.Percent(n.share))
	x.Evidence = []findings.Evidence{
		{What: "time in such intervals", Value: quantity.Percent(n.share), Limit: quantity.Percent(n.limit), Ns: w.sumNs},
		{What: "intervals", Value: quantity.Count(w.intervals), Limit: quantity.Duration(w.t.LengthNs) + " each"},
		{What: "the longest", Value: quantity.Duration(w.longest), Ns: w.longest},
		{What: "longest queue", Value: quantity.Count(w.peakLen), Limit: quantity.Count(w.t.Over) + " above the mean of the Ps"},
		{What: "unevenness of queued time over the Ps (Gini)", Value: quantity.Number(n.gini), Limit: quantity.Number(w.t.Gini) + ", or " + quantity.Count(w.t.MinCount) + " intervals for a warning"},
	}
	feeder := "the producer"
	if top := w.feeders.Top(1); len(top) > 0 {
		feeder = f.Name(top[0].Class)
	}
	x.Advice = []string{
		"Let more than one goroutine produce: what " + feeder + " makes runnable goes into the queue of the P that it runs on, and stays there until a P without work steals it.",
	}
	if top := w.hogs.Top(1); len(top) > 0 {
		hog := f.Name(top[0].Class)
		x.Evidence = append(x.Evidence, findings.Evidence{What: "of it, beside " + hog + " that had a P to itself", Value: quantity.Duration(top[0].Ns), Ns: top[0].Ns})
		x.Advice = append(x.Advice, "A P looks into the others' queues only when it runs out of work, and "+hog+" does not let that happen: have it block now and then, or split its work into goroutines, so that its P takes its share of the others.")
	}
}

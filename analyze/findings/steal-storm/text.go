package stealstorm

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, n *evidence) {
	t := &w.total
	x.Headline = fmt.Sprintf("%s of the starts are steals, of work for %s", quantity.Percent(n.share), quantity.Duration(n.medianNs))
	x.Title = fmt.Sprintf("%s of the starts were of goroutines stolen from another P, which then ran for %s (median)", quantity.Percent(n.share), quantity.Duration(n.medianNs))
	x.Evidence = []findings.Evidence{
		{What: "starts that were stolen", Value: quantity.Percent(n.share), Limit: quantity.Percent(w.t.Share)},
		{What: "median run interval of these", Value: quantity.Duration(n.medianNs), Limit: quantity.Duration(w.t.RunNs), Ns: n.medianNs},
		{What: fmt.Sprintf("stolen starts in the worst %s", quantity.Duration(w.t.WindowNs)), Value: quantity.Count(w.worst), Limit: quantity.Count(int64(w.t.Rate * float64(w.t.WindowNs) / 1e9))},
		{What: "goroutines taken by one steal, on average", Value: quantity.Number(float64(t.moved) / float64(max(1, t.steals)))},
		{What: "waiting of stolen goroutines while the thief looked for work, on average", Value: quantity.Duration(t.idle / t.stolen), Ns: t.idle / t.stolen},
	}
	if n.steals > 0 {
		x.Evidence = append(x.Evidence, findings.Evidence{What: fmt.Sprintf("of all steals, from P%d", n.from), Value: quantity.Percent(float64(n.most) / float64(n.steals))})
	}
	who := "the producer"
	if top := w.wakers.Top(1); len(top) > 0 {
		who = f.Name(top[0].Class)
	}
	x.Advice = []string{
		"Make the pieces larger: let " + who + " hand out batches, so that a stolen goroutine runs for 100 µs and more before it needs the next.",
		"Let each P's goroutines produce their own work (shard the producer): what is made runnable on a P needs no steal there.",
		"Fewer Ps (GOMAXPROCS) mean fewer thieves; look whether throughput falls at all.",
	}
}

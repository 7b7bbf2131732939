package localityloss

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, n *evidence) {
	top, all := &n.hits[0], &n.all
	name := f.Name(top.id)
	how := "which took them no longer than on the last one"
	if top.ns > 0 {
		how = fmt.Sprintf("and ran for %s instead of %s (medians)", quantity.Duration(top.moved.Median()), quantity.Duration(top.stayed.Median()))
	}
	x.Headline = fmt.Sprintf("%s moves to another P at %s of its starts", findings.Short(name), quantity.Percent(float64(top.moves())/float64(top.starts)))
	x.Title = fmt.Sprintf("%s of the starts of %s were on another P than the last, %s",
		quantity.Percent(float64(top.moves())/float64(top.starts)), name, how)
	x.Evidence = []findings.Evidence{
		{What: "starts on another P than the last", Value: quantity.Percent(float64(all.moves()) / float64(all.starts)), Limit: quantity.Percent(w.limit(f))},
		{What: "moves in a second", Value: quantity.Count(int64(float64(all.moves()) / float64(max(1, f.RecordedNs())) * 1e9)), Limit: quantity.Count(int64(w.t.Rate))},
		{What: "mean run interval of " + name, Value: quantity.Duration(top.runNs / top.starts), Limit: quantity.Duration(w.t.RunNs), Ns: top.runNs / top.starts},
		{What: "its median run interval after a move, by that without", Value: quantity.Times(float64(top.moved.Median()) / float64(top.stayed.Median())), Limit: quantity.Times(w.t.Slower)},
		{What: "moves by a steal", Value: quantity.Percent(float64(all.how[stolen]) / float64(all.moves()))},
		{What: "moves by way of the global queue", Value: quantity.Percent(float64(all.how[global]) / float64(all.moves()))},
		{What: "moves because the waker ran elsewhere, or by the network poller", Value: quantity.Percent(float64(all.how[woken]) / float64(all.moves()))},
	}
	if all.marking > 0 {
		x.Evidence = append(x.Evidence, findings.Evidence{What: "moves while the garbage collector marked", Value: quantity.Percent(float64(all.marking) / float64(all.moves()))})
	}
	switch {
	case 2*all.how[stolen] > all.moves():
		x.Advice = append(x.Advice, "Most moves are steals: larger pieces of work, or fewer Ps, leave less to steal.")
	case 2*all.how[global] > all.moves():
		x.Advice = append(x.Advice, "Most moves lead through the global queue: avoid runtime.Gosched, and bursts of more than 256 goroutines on one P.")
	default:
		x.Advice = append(x.Advice, "Most moves follow the waker: a goroutine that is woken goes to the P where its waker runs. Keep those together that share data, by a queue for each group instead of one for all.")
	}
	x.Advice = append(x.Advice, "Let "+name+" do several steps at a time, so that the data it has loaded serves more of them.")
}

package globalqueueneglect

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, n *evidence) {
	total := w.victims.Total
	x.Headline = fmt.Sprintf("Goroutines wait in the global queue while up to %s later ones are started", quantity.Count(w.later))
	if fill := x.Actors[len(x.Actors)-len(n.fed):]; len(fill) > 0 {
		x.Headline = fmt.Sprintf("%s keeps the Ps' own queues full: the global one waits for up to %s starts", fill[0].Short(), quantity.Count(w.later))
	}
	x.Title = fmt.Sprintf("%s in the global queue while the Ps started later ones from their own queues, up to %s meanwhile",
		quantity.Plural(total.N, "time a goroutine stood", "times a goroutine stood"), quantity.Count(w.later))
	x.Evidence = []findings.Evidence{
		{What: "stays in the global queue that were too long", Value: quantity.Count(total.N), Limit: quantity.Duration(w.t.WaitNs)},
		{What: "most local starts during one of them", Value: quantity.Count(w.later), Limit: quantity.Count(w.t.Poll*w.view.Procs()) + " (" + quantity.Count(w.t.Poll) + " for each P)"},
		{What: "the stays, summed", Value: quantity.Duration(w.waited), Ns: w.waited},
		{What: "longest excess of one", Value: quantity.Duration(total.Worst), Ns: total.Worst},
		{What: "taken from the global queue, at the tick and otherwise", Value: quantity.Count(w.polls) + " and " + quantity.Count(w.batches)},
		{What: "length of the global queue when such a stay ended, at most", Value: quantity.Count(int64(w.maxLen))},
	}
	if len(n.fed) > 0 {
		x.Advice = append(x.Advice, "Have fewer goroutines of "+findings.Short(f.Name(n.fed[0].class))+" runnable at once, or let them do more for each wake-up: most of what came first was theirs.")
	}
	x.Advice = append(x.Advice, []string{
		"Find out what brings goroutines into the global queue: preemption of long runs, runtime.Gosched, system calls that lose their P, bursts of more than 256 new goroutines on one P; and have less of it.",
		"Spread those who create or wake many goroutines over more than one goroutine, so that no P has a long queue of its own to serve first.",
	}...)
	if n.local > 0 && 2*n.inherited > n.local {
		x.Evidence = append(x.Evidence, findings.Evidence{What: "local starts that inherited the time slice, and so did not count for the tick", Value: quantity.Percent(float64(n.inherited) / float64(n.local))})
		x.Advice = append(x.Advice, "Most local starts inherit the time slice, which holds back the 61st tick: look for goroutines that wake one another in turn.")
	}
	for _, c := range n.fed {
		x.Evidence = append(x.Evidence, findings.Evidence{What: "starts from local queues: " + f.Name(c.class), Value: quantity.Count(c.n)})
	}
}

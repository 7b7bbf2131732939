package timerlateness

import (
	"cmp"
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// markWorker is the start function of the collector's mark workers.
const markWorker = "runtime.gcBgMarkWorker"

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, n *evidence) {
	for _, c := range n.cells[:min(maxVictims, len(n.cells))] {
		x.Evidence = append(x.Evidence, findings.Evidence{
			What:  "lateness of " + f.Name(c.class) + " to its sleeps",
			Value: quantity.Percent(c.ratio()) + " (" + quantity.Duration(c.latenessNs()/max(1, c.n)) + " for each of " + quantity.Count(c.n) + ", blocked for " + quantity.Duration(c.slept/max(1, c.n)) + " on average)",
			Limit: quantity.Percent(w.t.Ratio), Ns: c.latenessNs(),
		})
	}
	sum := &n.sum
	if sum.late > 0 {
		mean := sum.held / sum.late
		x.Evidence = append(x.Evidence,
			findings.Evidence{What: "timers that fired at the end of a long run", Value: quantity.Count(sum.late) + " of " + quantity.Count(sum.n), Limit: quantity.Count(w.t.MinCount) + " of " + quantity.Duration(w.t.LateNs)},
			findings.Evidence{What: "how long they may have been due, summed; the cost is half of it", Value: quantity.Duration(sum.held), Ns: sum.held},
			findings.Evidence{What: "the longest", Value: quantity.Duration(sum.worst), Limit: quantity.Duration(w.t.LateNs), Ns: sum.worst})
		name, short := f.Name(w.causes.Top(1)[0].Class), ""
		for i := range x.Actors {
			if a := &x.Actors[i]; a.Role == findings.Cause {
				name, short = a.Work(), a.Brief()
				break
			}
		}
		x.Advice = append(x.Advice,
			"Split the long runs of "+name+", or let others in between with runtime.Gosched: a P looks at its timers only when a goroutine leaves it, unless another P is idle.",
			"Keep a P free: run fewer such goroutines at once than GOMAXPROCS.")
		if f.Name(w.causes.Top(1)[0].Class) == markWorker {
			x.Advice[0] = w.allocators.Advice(f)
			name, short = "a mark worker of the garbage collector", "mark workers of the garbage collector"
		}
		x.Headline = fmt.Sprintf("%s late, after runs of %s", quantity.Plural(sum.late, "timer fired", "timers fired"), cmp.Or(short, findings.Short(name)))
		x.Title = fmt.Sprintf("%s fired only when %s left its P, after %s on average, with no P idle: they were due at some time before", quantity.Plural(sum.late, "timer", "timers"), name, quantity.Duration(mean))
	}
	if sum.waits > 0 {
		x.Evidence = append(x.Evidence,
			findings.Evidence{What: "most timers that fired in a row", Value: quantity.Count(w.most), Limit: quantity.Count(max(w.t.Storm, w.t.StormPerP*int64(max(1, f.GOMAXPROCS))))},
			findings.Evidence{What: "goroutines of such storms that waited for a P", Value: quantity.Count(sum.waits), Limit: quantity.Duration(w.t.LateNs) + " each"},
			findings.Evidence{What: "their waits, summed", Value: quantity.Duration(sum.waitNs), Ns: sum.waitNs})
		if n.storm {
			x.Headline = fmt.Sprintf("Up to %s timers fire at once", quantity.Count(w.most))
			x.Title = fmt.Sprintf("%s in which up to %s timers fired at once made goroutines wait, up to %s", quantity.Plural(w.count, "storm", "storms"), quantity.Count(w.most), quantity.Duration(w.stormy.Total.Worst))
		}
		x.Advice = append(x.Advice,
			"Spread the timers: start the tickers at different times, or add a random part to the sleeps.",
			"Have one goroutine with one ticker do the round of what is due, in place of a timer for each.")
	}
}

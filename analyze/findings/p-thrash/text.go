package pthrash

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding) {
	t := &w.total
	rate := int64(float64(w.worst.wakes) / float64(w.t.WindowNs) * 1e9)
	x.Headline = fmt.Sprintf("Ps wake up for next to no work: %s", quantity.Plural(t.wakes, "time", "times"))
	x.Title = fmt.Sprintf("Ps were woken %s within %s of parking, and parked again after less than %s of work; %s of these times there was none",
		quantity.Plural(t.wakes, "time", "times"), quantity.Duration(w.t.GapNs), quantity.Duration(w.t.BusyNs), quantity.Percent(float64(t.empty)/float64(t.wakes)))
	x.Evidence = []findings.Evidence{
		{What: fmt.Sprintf("such wake-ups of P%d in the worst %s", w.worstP, quantity.Duration(w.t.WindowNs)), Value: quantity.Count(rate) + " a second", Limit: quantity.Count(int64(w.t.Rate)) + " a second"},
		{What: fmt.Sprintf("windows of %s above the limit, over all Ps", quantity.Duration(w.t.WindowNs)), Value: quantity.Count(w.windows)},
		{What: "goroutines run, for each wake-up", Value: quantity.Number(float64(t.tasks) / float64(t.wakes))},
		{What: "threads awake and looking in vain, summed", Value: quantity.Duration(t.awake), Ns: t.awake},
		{What: "waiting of goroutines for such a P, summed", Value: quantity.Duration(t.waited), Ns: t.waited},
	}
	who := "the goroutines"
	if top := w.wakers.Top(1); len(top) > 0 && top[0].Class != 0 {
		who = f.Name(top[0].Class)
	}
	x.Advice = []string{
		"Give each wake-up more to do: let " + who + " hand over several items at a time, or do small ones itself. Whatever it makes runnable wakes another P if one is idle, and waking a thread takes longer than this work.",
		"Fewer Ps (GOMAXPROCS) leave no idle one to wake; that saves CPU, and costs latency when work comes in bursts.",
	}
	if 2*t.empty > t.wakes {
		x.Advice = append(x.Advice, "Most of these Ps found nothing: the work was done before they came, by the P that had it. Calls of runtime.Gosched in a loop, and goroutines that answer each other one message at a time, do this.")
	}
}

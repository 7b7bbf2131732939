package yieldspinning

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice; where is the function that polled, "" if
// all of it is inside the runtime.
func (w *watcher) phrase(x *findings.Finding, c *cell, where string) {
	if where == "" {
		where = x.Actors[0].Class
	}
	x.Headline = fmt.Sprintf("%s polls and yields, %s", findings.Short(where), quantity.Plural(c.n, "time", "times"))
	x.Title = fmt.Sprintf("%s polled for something and called runtime.Gosched %s, each after %s on average",
		where, quantity.Plural(c.n, "time", "times"), quantity.Duration(c.own/c.n))
	x.Evidence = []findings.Evidence{
		{What: "yields after a short run", Value: quantity.Count(c.n), Limit: quantity.Duration(w.t.ShortNs) + " each"},
		{What: "of all stops of these goroutines", Value: quantity.Percent(float64(c.n) / float64(c.stops)), Limit: quantity.Percent(w.t.Share)},
		{What: "of all stops of the program", Value: quantity.Percent(float64(c.n) / float64(max(1, w.view.Totals().Stops)))},
		{What: "for each goroutine and second of it", Value: quantity.Count(int64(float64(c.n) * 1e9 / float64(max(1, c.span)))), Limit: quantity.Number(w.t.PerSecond)},
		{What: "goroutines", Value: quantity.Count(c.gs), Limit: quantity.Count(w.t.MinYields) + " yields each"},
		{What: "time that they ran for it", Value: quantity.Duration(c.own), Ns: c.own},
		{What: "time that the scheduler took to come back to them", Value: quantity.Duration(c.sched), Ns: c.sched},
		{What: "time that others stood in the same P's queue meanwhile", Value: quantity.Duration(c.held), Ns: c.held},
		{What: "longest stretch", Value: quantity.Duration(c.worst.longTo - c.worst.longFrom), Ns: c.worst.longTo - c.worst.longFrom},
	}
	x.Advice = []string{
		"Let " + where + " block for what it polls for: a channel, or a sync.Cond that whoever makes it true signals.",
		"If a few looks are worth while because it mostly comes at once, look a handful of times, then block; to poll a device, sleep in between, longer each time.",
		"Each yield goes through the global queue under the scheduler's lock, and may wake another P that finds nothing (golang/go#13527): the cost is felt beyond this goroutine, and grows with GOMAXPROCS.",
	}
}

// phraseMaybe is phrase, of goroutines that yield after longer runs.
func (w *watcher) phraseMaybe(x *findings.Finding, c *cell, where string) {
	if where == "" {
		where = x.Actors[0].Class
	}
	mean := quantity.Duration(c.own / c.n)
	x.Headline = fmt.Sprintf("%s yields %s, after %s each: does it poll?", findings.Short(where), quantity.Plural(c.n, "time", "times"), mean)
	x.Title = fmt.Sprintf("%s ran for %s and called runtime.Gosched %s, after %s on average: if it polls for something, that time is wasted",
		where, quantity.Duration(c.own), quantity.Plural(c.n, "time", "times"), mean)
	x.Evidence = []findings.Evidence{
		{What: "yields", Value: quantity.Count(c.n), Limit: quantity.Count(w.t.MinYields)},
		{What: "of all stops of these goroutines", Value: quantity.Percent(float64(c.n) / float64(c.stops)), Limit: quantity.Percent(w.t.Share)},
		{What: "time that they ran before them", Value: quantity.Duration(c.own), Ns: c.own},
		{What: "goroutines", Value: quantity.Count(c.gs)},
	}
	x.Advice = []string{
		"If " + where + " polls for something, let it block: on a channel, or a sync.Cond that whoever makes it true signals.",
		"If it computes, and yields as a courtesy, that is no longer needed: since Go 1.14 the runtime preempts what runs for 10 ms.",
	}
}

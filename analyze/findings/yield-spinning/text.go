package yieldspinning

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

// phrase writes title, evidence and advice; where is the function that polled, "" if
// all of it is inside the runtime.
func (w *watcher) phrase(x *findings.Finding, c *cell, where string) {
	if where == "" {
		where = x.Actors[0].Class
	}
	x.Title = fmt.Sprintf("%s polled for something and called runtime.Gosched %s, each after %s on average",
		where, findings.Plural(c.n, "time", "times"), findings.Dur(c.own/c.n))
	x.Evidence = []findings.Evidence{
		{What: "yields after a short run", Value: findings.Count(c.n), Limit: findings.Dur(w.t.ShortNs) + " each"},
		{What: "of all stops of these goroutines", Value: findings.Percent(float64(c.n) / float64(c.stops)), Limit: findings.Percent(w.t.Share)},
		{What: "of all stops of the program", Value: findings.Percent(float64(c.n) / float64(max(1, w.world.Stops())))},
		{What: "for each goroutine and second of it", Value: findings.Count(int64(float64(c.n) * 1e9 / float64(max(1, c.span)))), Limit: findings.Number(w.t.PerSecond)},
		{What: "goroutines", Value: findings.Count(c.gs), Limit: findings.Count(w.t.MinYields) + " yields each"},
		{What: "time that they ran for it", Value: findings.Dur(c.own), Ns: c.own},
		{What: "time that the scheduler took to come back to them", Value: findings.Dur(c.sched), Ns: c.sched},
		{What: "time that others stood in the same P's queue meanwhile", Value: findings.Dur(c.held), Ns: c.held},
		{What: "longest stretch", Value: findings.Dur(c.worst.longTo - c.worst.longFrom), Ns: c.worst.longTo - c.worst.longFrom},
	}
	x.Advice = []string{
		"Let " + where + " block for what it polls for: a channel, or a sync.Cond that whoever makes it true signals.",
		"If a few looks are worth while because it mostly comes at once, look a handful of times, then block; to poll a device, sleep in between, longer each time.",
		"Each yield goes through the global queue under the scheduler's lock, and may wake another P that finds nothing (golang/go#13527): the cost is felt beyond this goroutine, and grows with GOMAXPROCS.",
	}
}

package runnextmonopoly

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, c *cell, causes []findings.Actor) {
	total, longest := c.victims.Total, c.longest.To-c.longest.From
	x.Evidence = []findings.Evidence{
		{What: "run intervals in the longest slice", Value: quantity.Count(int64(c.longest.Runs)), Limit: quantity.Count(int64(w.t.Hops))},
		{What: "its length", Value: quantity.Duration(longest), Limit: quantity.Duration(w.t.SevereNs), Ns: longest},
		{What: "such slices", Value: quantity.Count(c.slices)},
		{What: "Ps that they kept, on average", Value: quantity.Number(f.Share(c.ns)), Limit: quantity.Number(w.t.SevereShare), Ns: c.ns},
		{What: "passes of the P", Value: rate(c.hops, c.ns)},
		{What: "times a goroutine was kept waiting", Value: quantity.Count(total.N), Limit: quantity.Duration(w.t.WaitNs) + " each"},
		{What: "longest that one was kept by one slice", Value: quantity.Duration(total.Worst), Ns: total.Worst},
	}
	if c.timers > 0 {
		x.Evidence = append(x.Evidence, findings.Evidence{What: "of the passes, to goroutines that a timer woke", Value: quantity.Percent(float64(c.timers) / float64(c.hops))})
	}
	if c.yielded > 0 {
		x.Evidence = append(x.Evidence, findings.Evidence{What: "of those kept waiting, had yielded", Value: quantity.Count(c.yielded)})
	}
	var parties []string
	for _, a := range causes {
		if name := a.Work(); !slices.Contains(parties, name) {
			parties = append(parties, name)
		}
	}
	short := findings.ShortOf(causes)
	names := strings.Join(parties, " and ")
	switch {
	case w.newestFirst(c):
		x.Headline = fmt.Sprintf("New goroutines of %s run before older ones, for up to %s", short, quantity.Duration(longest))
		x.Title = fmt.Sprintf("Goroutines of %s, each run as soon as it was created, kept a P for up to %s while older ones waited", names, quantity.Duration(longest))
		x.Advice = []string{
			"Bound how many are under way at once, and let a fixed number of workers take the work from a channel, which keeps its order: what is created runs next, within the same time slice, so the newest is served first.",
		}
	case c.relay:
		x.Headline = fmt.Sprintf("%s: each goroutine creates the next, and a P is theirs for up to %s", short, quantity.Duration(longest))
		x.Title = fmt.Sprintf("Goroutines of %s that each create the next kept a P for up to %s while others waited", names, quantity.Duration(longest))
		x.Advice = []string{
			"Create the next goroutine before the work, or loop in one goroutine: what is created runs next, within the same time slice, so nobody else gets in.",
		}
	case 2*c.timers > c.hops:
		x.Headline = fmt.Sprintf("Timers wake %s so often that a P is theirs for up to %s", short, quantity.Duration(longest))
		x.Title = fmt.Sprintf("Timers woke %s up to %s in a row on one P, which they kept for %s while others waited",
			names, quantity.Plural(int64(c.longest.Runs), "time", "times"), quantity.Duration(longest))
		x.Advice = []string{
			"Whoever a timer wakes runs next, within the time slice of the one before, so goroutines of " + names + " that sleep briefly take turns ahead of the queue: let one goroutine with one ticker do their work, or sleep longer and do more at a time.",
			"Or have fewer goroutines that need a P at the same time: where a P is free, nobody waits behind them.",
		}
	default:
		x.Headline = fmt.Sprintf("%s wake each other and keep a P for up to %s", short, quantity.Duration(longest))
		x.Title = fmt.Sprintf("%s woke each other up to %s in a row and kept a P for %s while others waited",
			names, quantity.Plural(int64(c.longest.Runs), "time", "times"), quantity.Duration(longest))
		x.Advice = []string{
			"Exchange more at a time: batch messages, or give the channel a buffer, so that a party goes on working instead of waking its partner for each item.",
			"Or let one goroutine do both parts: a hand-over after each step gains nothing if the partner only waits.",
		}
	}
}

func rate(n, ns int64) string {
	if ns <= 0 {
		return quantity.Count(n)
	}
	return quantity.Count(int64(float64(n)/float64(ns)*1e9)) + " per second of it"
}

package thunderingherd

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, c *cell, n *evidence) {
	x.Evidence = []findings.Evidence{
		{What: "goroutines woken at once, on average", Value: quantity.Number(n.mean), Limit: quantity.Count(max(w.t.Herd, w.t.PerP*int64(f.GOMAXPROCS))) + " within " + quantity.Duration(w.t.WindowNs)},
		{What: "at most", Value: quantity.Count(c.worst.n)},
		{What: "times", Value: quantity.Count(c.herds), Limit: quantity.Count(w.t.MinHerds)},
	}
	short := w.t.ShortNs
	if c.timer {
		short = w.t.TickNs
	}
	x.Evidence = append(x.Evidence,
		findings.Evidence{What: "of them, waited again at the same place after " + quantity.Duration(short) + " of running or less", Value: quantity.Percent(float64(c.vain) / float64(c.n)), Limit: quantity.Percent(w.t.Vain)},
		findings.Evidence{What: "time for these: run intervals, and the scheduler's turn before each", Value: quantity.Duration(c.ran), Ns: c.ran})
	if c.timer {
		w.phraseTimer(x, c, n)
	} else {
		phraseWaker(x, c, n)
	}
}

func (w *watcher) phraseTimer(x *findings.Finding, c *cell, n *evidence) {
	name := x.Actors[0].Work()
	x.Headline = fmt.Sprintf("Timers wake up to %s goroutines of %s at once for next to nothing", quantity.Count(c.worst.n), x.Actors[0].Short())
	x.Title = fmt.Sprintf("Timers woke up to %s goroutines of %s at once, %s; each had next to nothing to do, and waited for the others",
		quantity.Count(c.worst.n), name, quantity.Plural(c.herds, "time", "times"))
	x.Evidence = append(x.Evidence,
		findings.Evidence{What: "goroutines that timers wake in " + quantity.Duration(w.t.WindowNs) + " on average", Value: quantity.Number(n.usual), Limit: quantity.Times(1/w.t.Peak) + " of a herd"},
		findings.Evidence{What: "they waited for a P, summed", Value: quantity.Duration(c.wait), Ns: c.wait})
	x.Advice = []string{
		"Spread the timers of " + name + ": begin each at a random part of its period.",
		"Or keep one ticker, and have one goroutine go through all of them at each tick: that costs one wake-up instead of " + quantity.Number(n.mean) + ".",
	}
}

func phraseWaker(x *findings.Finding, c *cell, n *evidence) {
	x.Evidence = append(x.Evidence, findings.Evidence{What: "time that it took to wake these", Value: quantity.Duration(c.waking), Ns: c.waking})
	x.Evidence = append(x.Evidence, findings.Evidence{What: "those that had something to do waited for a P behind them, summed", Value: quantity.Duration(c.wait), Ns: c.wait})
	means := ""
	switch n.how {
	case broadcast:
		means = " with sync.Cond.Broadcast"
		x.Advice = []string{"Call Signal instead of Broadcast where one goroutine can take what there is. Where the waiters wait for different things, give each kind a Cond, or a channel, of its own."}
	case closing:
		means = " by closing a channel"
		x.Advice = []string{"Send to as many as have something to do, instead of closing a channel that all of them wait on; or let each waiter have a channel of its own."}
	case unknown:
		x.Advice = []string{"If they were woken by sync.Cond.Broadcast, call Signal where one goroutine can take what there is."}
	}
	x.Advice = append(x.Advice, "Fewer goroutines that wait for the same thing make each wake-up cheaper: about as many as GOMAXPROCS are enough for work that needs a P.")
	x.Headline = fmt.Sprintf("%s wakes up to %s goroutines at once; %s find nothing to do",
		x.Actors[1].Short(), quantity.Count(c.worst.n), quantity.Percent(float64(c.vain)/float64(c.n)))
	x.Title = fmt.Sprintf("%s woke up to %s goroutines at once%s, %s; %s of them found nothing to do and waited again",
		x.Actors[1].Doer(), quantity.Count(c.worst.n), means, quantity.Plural(c.herds, "time", "times"), quantity.Percent(float64(c.vain)/float64(c.n)))
}

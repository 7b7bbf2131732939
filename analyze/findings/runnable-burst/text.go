package runnableburst

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, n *evidence) {
	b := &w.biggest
	whys := w.why()
	x.Headline = headline(x, whys, b.peak)
	x.Title = title(x, whys, b.peak)
	x.Title += fmt.Sprintf(", %s for each P; for %s of the time they were more than %d for each", quantity.Number(n.forEach), quantity.Percent(f.Share(n.ns)), n.limit)
	x.Evidence = []findings.Evidence{
		{What: "runnable at once for each P, at most", Value: quantity.Number(n.forEach), Limit: quantity.Count(n.limit)},
		{What: fmt.Sprintf("time with more than %d for each P", n.limit), Value: quantity.Percent(f.Share(n.ns)), Limit: quantity.Percent(w.t.Share), Ns: n.ns},
		{What: "bursts", Value: quantity.Count(w.bursts), Limit: quantity.Duration(w.t.LengthNs) + " each"},
		{What: "the longest", Value: quantity.Duration(w.longest), Ns: w.longest},
		{What: "from the highest peak to its end", Value: quantity.Duration(b.to - b.peakAt), Ns: b.to - b.peakAt},
	}
	for _, y := range whys[:min(3, len(whys))] {
		x.Evidence = append(x.Evidence, findings.Evidence{What: "became runnable then: " + words(y.why), Value: quantity.Count(y.n)})
	}
	if len(whys) > 0 {
		why := whys[0].why
		if why == reference.WhyCreate && !slices.ContainsFunc(x.Actors, func(a findings.Actor) bool { return a.Role == findings.Cause }) {
			why = reference.WhyTimer // which creates them where no goroutine does
		}
		x.Advice = append(x.Advice, advice(why, x.Actors))
	}
	x.Advice = append(x.Advice,
		"Admit no more than a few for each P at once, and let the rest wait outside the scheduler, where they can be ordered, shed or cancelled: whoever becomes runnable now stands behind all of them.")
}

// headline is the short title.
func headline(x *findings.Finding, whys []entry, peak int64) string {
	many := "up to " + quantity.Plural(peak, "goroutine", "goroutines")
	for i := range x.Actors {
		a := &x.Actors[i]
		if len(whys) > 0 && a.Role == findings.Cause {
			switch whys[0].why {
			case reference.WhyCreate:
				return fmt.Sprintf("%s creates goroutines faster than they run: %s wait", a.Short(), many)
			case reference.WhyUnblock:
				return fmt.Sprintf("%s wakes %s at once", waker(a, a.Short()), many)
			}
		}
	}
	if len(whys) > 0 && len(x.Actors) > 0 {
		switch whys[0].why {
		case reference.WhyTimer:
			in := "of"
			if a := &x.Actors[0]; a.Short() != findings.Short(a.Class) {
				in = "in"
			}
			return fmt.Sprintf("Timers wake %s %s %s at once", many, in, x.Actors[0].Short())
		case reference.WhyCreate: // by no goroutine, as time.AfterFunc does it
			return fmt.Sprintf("Timers start %s of %s at once", many, x.Actors[0].Short())
		}
	}
	return "Too much work at once: " + many + " are runnable"
}

// marks reports whether an actor is a mark worker: it wakes those that wait for a cycle of the collector to end.
func marks(a *findings.Actor) bool { return strings.HasPrefix(a.Class, "runtime.gcBgMarkWorker") }

// waker is what an actor that wakes others is called.
func waker(a *findings.Actor, name string) string {
	if marks(a) {
		return "The garbage collector"
	}
	return name
}

// title reports who made so many goroutines runnable.
func title(x *findings.Finding, whys []entry, peak int64) string {
	many := quantity.Plural(peak, "goroutine", "goroutines")
	if len(whys) > 0 {
		for i := range x.Actors {
			a := &x.Actors[i]
			switch {
			case a.Role != findings.Cause:
			case whys[0].why == reference.WhyCreate:
				return fmt.Sprintf("%s created goroutines faster than they ran: up to %s were runnable at once", a.Doer(), many)
			case whys[0].why == reference.WhyUnblock:
				return fmt.Sprintf("%s made up to %s runnable at once%s", waker(a, a.Doer()), many, how(a.Stack))
			}
		}
		if len(x.Actors) > 0 {
			switch whys[0].why {
			case reference.WhyTimer:
				return fmt.Sprintf("Timers made up to %s of %s runnable at once", many, x.Actors[0].Work())
			case reference.WhyCreate:
				return fmt.Sprintf("Timers, as by time.AfterFunc, started goroutines faster than they ran: up to %s, most of %s, were runnable at once", many, x.Actors[0].Work())
			}
		}
	}
	return "Up to " + many + " were runnable at once"
}

// ways are the calls by which one goroutine wakes many, and what to do instead.
var ways = [...]struct {
	call, how, instead string
	holds              string // in the name of the function, too
}{
	{"runtime.closechan", " by closing a channel", "send a token to as many as there is work for, instead of closing the channel", ""},
	{"sync.(*Cond).Broadcast", " with sync.Cond.Broadcast", "Signal instead of Broadcast", ""},
	{"context.", " by cancelling a context", "let those that have more to do than to end finish it some milliseconds apart", "cancel"},
	{"sync.(*WaitGroup)", " through a sync.WaitGroup", "have one wait for the WaitGroup, and hand on to the others", ""},
	{"sync.(*RWMutex)", " by unlocking a sync.RWMutex", "hold the write lock for less, or swap what it guards by an atomic.Pointer", ""},
}

// way returns the number in ways of the call by which goroutines were woken, as far as the stack
// shows it; -1 if it does not.
func way(frames []string) int {
	for _, fr := range frames {
		name, _, _ := strings.Cut(fr, " ")
		for i := range ways {
			if strings.HasPrefix(name, ways[i].call) && strings.Contains(name, ways[i].holds) {
				return i
			}
		}
	}
	return -1
}

func how(frames []string) string {
	if i := way(frames); i >= 0 {
		return ways[i].how
	}
	return ""
}

func words(why reference.Why) string {
	switch why {
	case reference.WhyCreate:
		return "created"
	case reference.WhyUnblock:
		return "woken by a goroutine"
	case reference.WhyTimer:
		return "woken by a timer"
	case reference.WhyNetwork:
		return "woken by the network poller"
	case reference.WhySyscallExit:
		return "came back from a system call"
	case reference.WhySlice:
		return "preempted"
	}
	return why.String()
}

func advice(why reference.Why, actors []findings.Actor) string {
	switch why {
	case reference.WhyCreate:
		return "Most of them were just created: bound how many goroutines a request or a loop starts (a semaphore, errgroup.SetLimit, a fixed set of workers)."
	case reference.WhyUnblock:
		instead := "Signal instead of Broadcast, a token instead of a closed channel"
		if i := slices.IndexFunc(actors, func(a findings.Actor) bool { return a.Role == findings.Cause }); i >= 0 {
			if w := way(actors[i].Stack); w >= 0 {
				instead = ways[w].instead
			}
		}
		return "Most of them were woken by other goroutines, at once: wake as many as there is work for (" + instead + "), or let them go in groups, some milliseconds apart."
	case reference.WhyTimer:
		return "Most of them were woken or started by timers that were due together: spread their times."
	case reference.WhyNetwork:
		return "Most of them had waited for the network: limit the connections or requests that are worked on at once."
	case reference.WhySyscallExit:
		return "Most of them came back from system calls without a P: bound how many such calls are made at once."
	}
	return "See in the timeline what came before the peak."
}

package retakestall

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding) {
	total, n := w.victims.Total, w.calls.Total.N
	name := f.Name(w.calls.Top(1)[0].Class)
	quiet := "never before in the trace"
	switch {
	case w.quiet == 0:
		quiet = "meanwhile"
	case w.quiet > 0:
		quiet = quantity.Duration(w.quiet) + " before"
	}
	caller := findings.Short(name)
	for i := range x.Actors {
		if a := &x.Actors[i]; a.Role == findings.Cause {
			caller = a.Short() // that of the most calls comes first
			break
		}
	}
	x.Headline = fmt.Sprintf("System calls of %s keep a P from its queue for up to %s", caller, quantity.Duration(w.longest))
	x.Title = fmt.Sprintf("%s, most of %s, kept the P from the goroutines in its queue, up to %s",
		quantity.Plural(n, "system call", "system calls"), name, quantity.Duration(w.longest))
	x.Evidence = []findings.Evidence{
		{What: "calls with goroutines waiting behind them", Value: quantity.Count(n), Limit: quantity.Duration(w.t.StallNs) + " each"},
		{What: "the longest that one waited", Value: quantity.Duration(w.longest), Limit: quantity.Duration(w.t.StallNs), Ns: w.longest},
		{What: "how long these Ps stood still, summed", Value: quantity.Duration(w.stalls), Ns: w.stalls},
		{What: "goroutines that waited", Value: quantity.Count(total.N)},
		{What: "calls from which sysmon took the P in the end", Value: quantity.Count(w.taken)},
		{What: "calls that came back first", Value: quantity.Count(w.back)},
		{What: "when the longest began, sysmon had last taken a P", Value: quiet},
		{What: "calls unusually long for their stack, left out", Value: quantity.Count(w.rare), Limit: "under " + quantity.Percent(w.t.Rare)},
		{What: "longer than its sleeps explain, left out", Value: quantity.Count(w.freaks)},
	}
	x.Advice = []string{
		"Do not wake others and block in the kernel right after it: make the call of " + caller + " first, or from a goroutine of its own that wakes nobody.",
		"Replace the call by one that the poller handles, such as a socket, a pipe or a deadline, where a wait costs no P; or batch such calls, so that there are fewer.",
		"sysmon looks every 20 µs only as long as it finds Ps to take; after 1 ms without any it looks ever more rarely, down to every 10 ms. A rare blocking call therefore costs more than a frequent one. A further P would take the queue over meanwhile.",
	}
}

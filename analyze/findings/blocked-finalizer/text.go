package blockedfinalizer

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, y *findings.Finding, x *finalizer) {
	what, others := "finalizer", "all others wait until it is done"
	if x.runner == runCleanups {
		what, others = "cleanup", "others may have to wait until it is done"
	}
	share := quantity.Percent(f.Share(x.ns))
	y.Headline = fmt.Sprintf("%s blocks in a %s, for %s of the time: %s", x.function, what, share, others)
	y.Title = fmt.Sprintf("%s, called by a %s, was blocked %s, for %s in all (%s of the time) and up to %s at a time: %s",
		x.function, what, quantity.Plural(x.n, "time", "times"), quantity.Duration(x.ns), share, quantity.Duration(x.longest), others)
	at := ""
	if x.place != "" {
		at = " (" + x.place + ")"
	}
	y.Evidence = []findings.Evidence{
		{What: "blocked in " + x.function + at + ", in all", Value: quantity.Duration(x.ns), Limit: quantity.Duration(w.t.MinNs), Ns: x.ns},
		{What: "of the recording", Value: share, Limit: quantity.Percent(w.t.WarningShare), Ns: x.ns},
		{What: "times", Value: quantity.Count(x.n)},
		{What: "the longest", Value: quantity.Duration(x.longest), Ns: x.longest},
		{What: "called by", Value: x.runner},
	}
	y.Advice = []string{
		"Release what " + x.function + " releases with a call, such as Close, when it is not needed any more, and leave the " + what + " for what was forgotten.",
		"Let the " + what + " only hand over, to a goroutine or a channel with room: what sleeps, locks or waits in it holds up everything that finalizers release, memory too.",
	}
}

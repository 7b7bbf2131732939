package wakeupcost

import (
	"cmp"
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, y *findings.Finding, x *group) {
	top := x.sites[0]
	cause := f.Class(findings.Cause, top.class)
	cause.Stack = f.Frames(top.stack)
	_, place := findings.InnermostFunction(cause.Stack, f.Tested)
	short, function := cause.AtInnermost().Short(), cause.AtInnermost().Work()
	mean := x.shortNs / max(1, x.short)
	woken := f.Name(top.woken.Top(1)[0].Class)
	y.Headline = fmt.Sprintf("%s wakes others for next to nothing, %s a second", short, quantity.Plural(int64(x.perSecond), "time", "times"))
	y.Title = fmt.Sprintf("%s wakes %s for next to nothing: %s a second, each for %s of work (mean); with the way there they take %s of the P-time that was not idle",
		function, woken, quantity.Plural(int64(x.perSecond), "time", "times"), quantity.Duration(mean), quantity.Percent(x.share))
	y.Evidence = w.evidence(x, place)
	y.Advice = []string{
		"Hand over more at a time: let " + function + " collect what it has and send it in batches, or give the channel a buffer, so that both sides go on working instead of waking one another for each item.",
		"Or let one goroutine do both parts: where the other only takes the item and waits again, it gains nothing.",
	}
}

// phraseTimer is phrase for goroutines that a timer wakes.
func (w *watcher) phraseTimer(f *findings.Facts, y *findings.Finding, x *group) {
	top := x.sites[0]
	function, place := findings.InnermostFunction(f.Frames(top.stack), f.Tested)
	function = cmp.Or(function, f.Name(top.class))
	often := quantity.Plural(int64(x.perSecond), "time", "times")
	y.Headline = fmt.Sprintf("%s sleeps and wakes up for next to nothing, %s a second", function, often)
	y.Title = fmt.Sprintf("%s sleeps, and wakes up for next to nothing: %s a second, each for %s of work (mean); with the way there they take %s of the P-time that was not idle",
		function, often, quantity.Duration(x.shortNs/max(1, x.short)), quantity.Percent(x.share))
	y.Evidence = w.evidence(x, place)
	y.Advice = []string{
		"Let " + function + " block until there is something to do, in a channel or a sync.Cond, instead of looking again and again after a sleep.",
		"Where it must look, let one goroutine look for all, and less often: as many goroutines as sleep there all wake up.",
	}
}

// evidence is the figures of a group whose costliest site is at a place.
func (w *watcher) evidence(x *group, place string) []findings.Evidence {
	at := ""
	if place != "" {
		at = " at " + place
	}
	return []findings.Evidence{
		{What: fmt.Sprintf("wake-ups%s, after which the one woken ran for at most %s and waited again", at, quantity.Duration(w.t.ShortNs)), Value: quantity.Count(x.short)},
		{What: "a second", Value: quantity.Count(int64(x.perSecond)), Limit: quantity.Count(int64(w.t.PerSecond))},
		{What: "of all wake-ups at these places", Value: quantity.Percent(float64(x.short) / float64(max(1, x.n))), Limit: quantity.Percent(w.t.ShortShare)},
		{What: "they ran", Value: quantity.Duration(x.shortNs), Ns: x.shortNs},
		{What: "Ps took from one goroutine to the next", Value: quantity.Duration(x.switchNs), Ns: x.switchNs},
		{What: "both, of the P-time that was not idle", Value: quantity.Percent(x.share), Limit: quantity.Percent(w.t.WarningShare), Ns: x.cost()},
	}
}

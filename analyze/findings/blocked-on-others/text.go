package blockedonothers

import (
	"fmt"
	"unicode/utf8"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// headlineLen is how many characters a headline has.
const headlineLen = 90

// waited says what one waited for that was blocked for a reason.
var waited = map[reference.Reason]string{
	reference.ReasonSleep: "asleep", reference.ReasonSelect: "in a select", reference.ReasonNetwork: "for the network",
}

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, g *group) {
	total := quantity.Duration(g.ns)
	who := findings.Short(f.Name(g.class))
	times := quantity.Plural(g.n, "time", "times")
	class := w.world.ClassStat(g.class)
	share := float64(g.ns) / float64(max(1, class.RunNs+class.BlockedNs))
	x.Evidence = []findings.Evidence{
		{What: "waits in " + g.in, Value: quantity.Count(g.n)},
		{What: "their sum", Value: total, Limit: quantity.Duration(w.t.MinNs), Ns: g.ns},
		{What: "their mean", Value: quantity.Duration(g.ns / g.n), Limit: quantity.Duration(w.t.MeanNs), Ns: g.ns / g.n},
		{What: "goroutines that wait there, on average", Value: quantity.Number(float64(g.ns) / float64(max(1, f.RecordedNs()))), Limit: quantity.Number(w.t.Line)},
		{What: "of the time that these goroutines ran or were blocked", Value: quantity.Percent(share)},
		{What: "the longest", Value: quantity.Duration(g.longest.waits.Worst), Ns: g.longest.waits.Worst},
	}
	if g.top.by < 0 {
		x.Headline = fmt.Sprintf("%s waits for the end of garbage collections: %s in all", g.in, total)
		x.Title = fmt.Sprintf("Goroutines of %s were blocked %s in %s until the garbage collector had ended, %s in all", who, times, g.in, total)
		x.Advice = []string{"Let " + g.in + " not ask for a collection (runtime.GC, debug.FreeOSMemory, debug.SetGCPercent, a change of the memory limit) where somebody waits for it."}
		return
	}
	by := x.Actors[1].Short()
	reason, part := g.mostly()
	busy := g.ran / max(1, float64(g.ns))
	x.Evidence = append(x.Evidence,
		findings.Evidence{What: "ended by goroutines of " + findings.Short(f.Name(g.top.by)), Value: quantity.Part(g.topNs, g.ns)},
		findings.Evidence{What: "what those that ended them did in their last round: ran", Value: quantity.Percent(busy)},
	)
	meanwhile := ""
	if reason != reference.ReasonNone {
		x.Evidence = append(x.Evidence, findings.Evidence{What: "were blocked (" + reason.String() + ")", Value: quantity.Percent(part)})
	}
	switch {
	case busy >= 0.5:
		meanwhile = by + " had run for most of its last round"
		x.Advice = []string{"Make what " + by + " does shorter, or let several do it at once: " + g.in + " waits for it."}
	case part >= 0.5 && waited[reason] != "":
		meanwhile = by + " had itself waited before, mostly " + waited[reason]
		x.Advice = []string{by + " itself waits while " + g.in + " does: let it begin sooner (a shorter timer, a smaller batch)."}
		if reason == reference.ReasonNetwork {
			x.Advice[0] = by + " waits for an answer from outside meanwhile: if that is not simply as slow as it is, ask for less, or have several requests under way at once."
		}
	default:
		x.Advice = []string{"See what " + by + " waits for before it lets " + g.in + " go on, and whether all have to wait for it."}
	}
	if by == g.in {
		x.Headline = fmt.Sprintf("Goroutines wait for one another in %s: %s in all", g.in, total)
		x.Title = fmt.Sprintf("Goroutines of %s were blocked %s in %s until another went on there, %s in all", who, times, g.in, total)
		x.Advice = []string{"See whether those that wait in " + g.in + " have to: what is done in order, or together, goes at the pace of the slowest."}
		return
	}
	x.Headline = fmt.Sprintf("%s waits for %s: %s, %s of its time", g.in, by, total, quantity.Percent(share))
	if utf8.RuneCountInString(x.Headline) > headlineLen {
		x.Headline = fmt.Sprintf("%s waits for %s for %s of its time", g.in, by, quantity.Percent(share))
	}
	x.Title = fmt.Sprintf("Goroutines of %s were blocked %s in %s until %s went on, %s in all", who, times, g.in, by, total)
	if meanwhile != "" {
		x.Title += "; " + meanwhile
	}
}

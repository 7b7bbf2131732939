package slowstage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, n *evidence) {
	name := f.Name(n.class)
	stage := x.Actors[0].AtInnermost()
	where := stage.Work()
	var victims string
	if list := slices.DeleteFunc(slices.Clone(x.Actors[1:]), func(a findings.Actor) bool { return a.Class == name }); len(list) > 0 {
		victims = findings.ShortOf(list)
	}
	if victims != "" {
		victims = " (" + victims + ")"
	}
	waited := quantity.Number(n.directly) + " goroutines" + victims + " waited for it on average"
	after := "for it"
	if more := n.line - n.directly; more >= 0.05 {
		waited += ", and " + quantity.Number(more) + " for these"
		after = "behind it"
	}
	if n.siblings >= hotShard {
		x.Headline = fmt.Sprintf("One goroutine of %s has most of the work: %s others wait %s", findings.Short(where), quantity.Number(n.line), after)
		x.Title = fmt.Sprintf("One goroutine of %s was busy for %s of the time, while others of its like had nothing to do: %s, while %s of the P-time was idle",
			where, quantity.Percent(n.busy), waited, quantity.Percent(n.idle))
		x.Advice = []string{
			"Spread the work evenly over the goroutines of " + name + ": one channel that all of them take from, a finer or better hash, or the busy key split.",
			"Let who hands out the work not block on a full channel while the others have room: a larger buffer moves the limit only.",
		}
	} else {
		x.Headline = fmt.Sprintf("%s is the bottleneck: %s goroutines wait %s", findings.Short(where), quantity.Number(n.line), after)
		x.Title = fmt.Sprintf("%s is the stage that others wait for: it was busy for %s of the time, and %s, while %s of the P-time was idle",
			where, quantity.Percent(n.busy), waited, quantity.Percent(n.idle))
		x.Advice = []string{
			"Make " + where + " faster, or have more than one goroutine do it: nothing else makes the whole faster. Move what does not need to be there, encoding or hashing say, into those who wait for it.",
			"More Ps or more goroutines in the other stages do not help: they wait longer in larger numbers.",
		}
	}
	if away, is := n.outside(); is {
		x.Headline = fmt.Sprintf("%s waits for something outside, and %s goroutines wait %s", stage.Brief(), quantity.Number(n.line), after)
		x.Title = fmt.Sprintf("%s is the stage that others wait for: for %s of the time it was asleep or waited for the network itself, and %s",
			where, quantity.Percent(min(1, away)), waited)
		x.Advice = []string{
			"Let " + where + " have several requests under way at once, or ask for several things in one: it spends its time waiting for an answer, and nothing else gets through meanwhile.",
			"More Ps or more goroutines in the other stages do not help: they wait longer in larger numbers.",
		}
		// One that serves others stands in front of it.
		if loop := x.Actors[1:]; len(loop) > 0 && n.line-n.directly >= 1 && loop[0].Class != name {
			sends, receiver := loop[0].AtInnermost().Short(), findings.Short(name)
			if strings.Contains(receiver, ".func") { // a literal, which calls what receives
				receiver = stage.Brief()
			}
			x.Headline = fmt.Sprintf("%s blocks on %s, and %s goroutines wait for it", sends, receiver, quantity.Number(n.line-n.directly))
			x.Advice = append([]string{
				"Let " + sends + " not block on one slow receiver, " + receiver + ": drop what it has no room for (a select with default), or give it a queue and a goroutine of its own.",
			}, x.Advice...)
		}
	}
	x.Evidence = []findings.Evidence{
		{What: "not waiting for other goroutines, of its time", Value: quantity.Percent(n.busy), Limit: quantity.Percent(w.t.BusyShare)},
		{What: "goroutines that waited for it on average, and for those who did", Value: quantity.Number(n.line), Limit: quantity.Number(w.t.WarningLine), Ns: n.ns},
		{What: "of them, directly", Value: quantity.Number(n.directly), Ns: n.sends + n.others},
		{What: "they waited to send to it", Value: quantity.Duration(n.sends), Ns: n.sends},
		{What: "they waited for something from it", Value: quantity.Duration(n.others), Ns: n.others},
		{What: "times that it woke one", Value: quantity.Count(n.n), Limit: quantity.Count(w.t.MinWakes)},
		{What: "P-time that was idle", Value: quantity.Percent(n.idle), Limit: quantity.Percent(w.t.IdleShare)},
	}
	if n.siblings >= hotShard {
		x.Evidence = append(x.Evidence, findings.Evidence{What: "of them, of the same start function", Value: quantity.Number(n.siblings)})
	}
}

// hotShard is how many goroutines of the stage's own class must wait on average, so that
// it is the uneven share of work that is wrong.
const hotShard = 0.5

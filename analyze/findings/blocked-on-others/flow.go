package blockedonothers

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// All streams of a connection of HTTP/2 share its window: a handler that does not read the body of
// its request holds up all others that send on it. Where both ends are in the program the trace
// shows who: what it reads in the end gives the window back, after it was blocked for long.

// credit is that a goroutine of a class wakes the one that serves its connection, at a stack, and
// where it was blocked last before.
type credit struct{ class, wakes, blocked int32 }

// minCredit is how long a block before must have been, ns.
const minCredit = 1_000_000

// credited notes that by, which was blocked before, wakes g.
func (w *watcher) credited(d *reference.Decision, g, by *findings.Goroutine) {
	if g.Reason != reference.ReasonSelect || by.BlockedNs < minCredit || d.Stack == 0 || by.Stack == 0 {
		return
	}
	k := credit{by.Class, d.Stack, by.Stack}
	if _, ok := w.credits[k]; ok || len(w.credits) < maxCells {
		w.credits[k] = max(w.credits[k], by.BlockedNs)
	}
}

// inHTTP2 reports whether a stack goes through a method of net/http's HTTP/2, or of
// golang.org/x/net/http2.
func inHTTP2(frames []string, method string) bool {
	return slices.ContainsFunc(frames, func(fr string) bool {
		name := findings.FunctionOf(fr)
		return strings.HasSuffix(name, method) && strings.Contains(name, "http2")
	})
}

// flow is the finding about goroutines that wait for flow control of HTTP/2 because of a handler,
// if there is one; of at least so much waiting.
func (w *watcher) flow(f *findings.Facts, least int64) (findings.Finding, bool) {
	var sum, longest findings.Cell
	for _, c := range w.cells.List {
		if c.by >= 0 && c.reason == reference.ReasonCond && inHTTP2(f.Frames(c.stack), ").awaitFlowControl") {
			sum.N += c.waits.N
			sum.Ns += c.waits.Ns
			if c.waits.Worst > longest.Worst {
				longest = c.waits
				longest.Class, longest.Stack = c.class, c.stack
			}
		}
	}
	line := float64(sum.Ns) / float64(f.RecordedNs())
	if sum.Ns < max(least, w.t.MinNs) || sum.Ns < w.t.MeanNs*sum.N || line < w.t.Line {
		return findings.Finding{}, false
	}
	var reads findings.Name
	var cause credit
	for _, k := range slices.SortedFunc(maps.Keys(w.credits), func(x, y credit) int {
		return cmp.Or(cmp.Compare(w.credits[y], w.credits[x]), cmp.Compare(x.wakes, y.wakes), cmp.Compare(x.blocked, y.blocked))
	}) {
		blocked := f.Frames(k.blocked)
		if wakes := f.Frames(k.wakes); inHTTP2(wakes, ").noteBodyReadFromHandler") && !inHTTP2(blocked, "Body).Read") {
			reads, cause = findings.Common(blocked, wakes), k
			break
		}
	}
	if reads == "" {
		return findings.Finding{}, false
	}
	ns := quantity.Duration(w.credits[cause])
	victim := f.Actor(findings.Victim, longest.Class, longest.G, longest.Stack)
	actor := f.Actor(findings.Cause, cause.class, 0, cause.blocked)
	var in findings.Text
	if at := actor.AtInnermost().Short(); at != reads {
		in = findings.Say(" in %s", at)
	}
	return findings.Finding{
		Severity: findings.Note, CostNs: min(sum.Ns, f.BlockedNs), FromNs: longest.From, ToNs: longest.To, Basis: findings.Inferred,
		Actors:   []findings.Actor{victim, actor},
		Headline: findings.Say("%s does not read its HTTP/2 stream: others wait %s to send", reads, quantity.Duration(sum.Ns)),
		Title: findings.Say("%s was blocked%s for up to %s before it read the body of its request: that uses up what may be sent on its HTTP/2 connection, and goroutines waited %s, %s in all, up to %s, until they might send there",
			reads, in, ns, quantity.Plural(sum.N, "time", "times"), quantity.Duration(sum.Ns), quantity.Duration(longest.Worst)),
		Evidence: []findings.Evidence{
			findings.Measured("waits for flow control", findings.Count(sum.N)),
			findings.Measured("their sum", findings.Time(sum.Ns), findings.Time(w.t.MinNs)),
			findings.Measured("goroutines that wait so, on average", findings.Number(line), findings.Number(w.t.Line)),
			findings.Measured("the longest", findings.Time(longest.Worst)),
			findings.Measured("blocked before it read, at most", findings.Time(w.credits[cause])),
		},
		Advice: []findings.Text{
			findings.Say("Let %s read the body first, or while it waits%s; or give it a connection of its own, or connections a larger window than streams.", reads, in),
			findings.Say("More Ps do not help: what one stream may send is bound by what others have not read."),
		},
	}, true
}

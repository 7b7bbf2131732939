package fullsemaphore

import (
	"fmt"
	"math"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, m *semaphore) {
	total := m.waits.Total
	few := "few"
	if n := math.Round(m.slots()); n >= 1 {
		few = quantity.Count(int64(n))
	}
	x.Headline = fmt.Sprintf("%s lets %s through at a time; others wait for it: %s in all", m.function, few, quantity.Duration(total.Ns))
	doing, reason := m.most()
	x.Title = fmt.Sprintf("%s lets %s through at a time: others waited for a place there %s, %s in all, up to %s; who is through spends %s of the time blocked %s",
		m.function, few, quantity.Plural(total.N, "time", "times"), quantity.Duration(total.Ns), quantity.Duration(total.Worst), quantity.Part(doing, m.held), reason)
	const hold = "make shorter what is done with a place: hold it for the slow call only."
	x.Advice = []string{"Give " + m.function + " more places if what it guards can take more at a time, or " + hold}
	if keeper, in := m.keeps(f); keeper != "" {
		where := ""
		if in != "" && in != keeper {
			where = " in " + in
		}
		x.Title += fmt.Sprintf(", where %s keeps its place while it waits%s", keeper, where)
		x.Advice[0] = fmt.Sprintf("See whether %s needs its place while it waits%s: if not, let it give the place up before, and take one again afterwards. If so, give %s more places if what it guards can take more at a time, or %s", keeper, where, m.function, hold)
	}
	x.Evidence = []findings.Evidence{
		{What: "waits for a place", Value: quantity.Count(total.N), Limit: quantity.Count(w.t.Count)},
		{What: "their mean", Value: quantity.Duration(total.Ns / max(1, total.N)), Limit: quantity.Duration(w.t.MeanNs), Ns: total.Ns / max(1, total.N)},
		{What: "ended by one that had a place before", Value: quantity.Part(m.passed, total.N), Limit: quantity.Percent(w.t.Passed)},
		{What: "in line, on average", Value: quantity.Number(m.line()), Limit: quantity.Number(w.t.Line)},
		{What: "time with such a line", Value: quantity.Percent(f.Share(m.lined)) + " of the duration", Limit: quantity.Percent(w.t.Share), Ns: m.lined},
		{What: "places held by those that had waited, on average", Value: quantity.Number(m.slots()), Ns: m.held},
		{What: "of that, blocked " + reason, Value: quantity.Part(doing, m.held), Limit: quantity.Percent(w.t.Blocked), Ns: doing},
	}
	x.Advice = append(x.Advice,
		"Where the limit is meant, admit or refuse work before it waits here, so that its callers know; more Ps do not help.")
}

// most is what those that had a place were blocked for longest.
func (m *semaphore) most() (ns int64, reason string) {
	best := 0
	for i, n := range m.blocked {
		if n > m.blocked[best] {
			best = i
		}
	}
	return m.blocked[best], findings.BlockedFor(reference.Reason(best))
}

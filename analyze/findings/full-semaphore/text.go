package fullsemaphore

import (
	"fmt"
	"math"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// phrase writes title, evidence and advice: who keeps the places, if that is known, is named first.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, m *semaphore, k *keeper) {
	total := m.waits.Total
	few := "few"
	if n := math.Round(m.slots()); n >= 1 {
		few = quantity.Count(int64(n))
	}
	doing, reason := m.most()
	const hold = "make shorter what is done with a place: hold it for the slow call only."
	waited := fmt.Sprintf("others waited for a place there %s, %s in all, up to %s", quantity.Plural(total.N, "time", "times"), quantity.Duration(total.Ns), quantity.Duration(total.Worst))
	x.Headline = fmt.Sprintf("%s lets %s through at a time; others wait for it: %s in all", m.function, few, quantity.Duration(total.Ns))
	x.Title = fmt.Sprintf("%s lets %s through at a time: %s; who is through spends %s of the time blocked %s", m.function, few, waited, quantity.Part(doing, m.held), reason)
	x.Advice = []string{"Give " + m.function + " more places if what it guards can take more at a time, or " + hold}
	if k != nil && (k.in != m.function || k.has != m.function) {
		keeps, who, while := k.in, k.in, "while it waits"
		switch {
		case k.in == m.function:
			keeps, who, while = k.has, k.has, "while it waits for another"
		case k.has != k.in && k.has != m.function:
			who += ", within " + k.has + ","
		}
		x.Headline = fmt.Sprintf("%s keeps places of %s; others wait for one: %s in all", keeps, m.function, quantity.Duration(total.Ns))
		x.Title = fmt.Sprintf("%s keeps places of %s, which lets %s through at a time, %s: %s; who is through spends %s of the time blocked %s",
			who, m.function, few, while, waited, quantity.Part(doing, m.held), reason)
		if k.has != m.function {
			x.Advice[0] = fmt.Sprintf("See whether %s needs its place while it waits in %s: if not, let it give the place up before, and take one again afterwards. If so, give %s more places if what it guards can take more at a time, or %s", k.has, k.in, m.function, hold)
		}
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

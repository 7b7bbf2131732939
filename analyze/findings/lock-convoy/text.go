package lockconvoy

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(x *findings.Finding, n *numbers) {
	name := n.function
	held := func(ns int64) string { return quantity.Percent(float64(ns) / float64(max(1, n.held))) }
	x.Title = fmt.Sprintf("Goroutines stood in line for the lock in %s: %s of %s or more, up to %s before the line was empty",
		name, quantity.Plural(n.waits, "wait", "waits"), quantity.Duration(w.t.WaitNs), quantity.Count(n.worst.longest))
	x.Evidence = []findings.Evidence{
		{What: "waits in such lines", Value: quantity.Count(n.waits), Limit: quantity.Duration(w.t.WaitNs) + " each"},
		{What: "most of them before the line was empty", Value: quantity.Count(n.worst.longest), Limit: quantity.Count(w.t.Row)},
		{What: "time with such a line", Value: quantity.Percent(n.share) + " of the duration", Ns: n.longest},
		{What: "in line for so long, on average", Value: quantity.Number(n.line), Ns: n.cost},
		{What: "hand-overs of starvation mode (goyield)", Value: quantity.Count(n.handoffs)},
		{What: "of the time that the lock was held, its holder ran", Value: held(n.ran), Ns: n.ran},
	}
	if n.slow > 0 {
		top := 0
		for r, ns := range n.reasons {
			if ns > n.reasons[top] {
				top = r
			}
		}
		x.Evidence = append(x.Evidence, findings.Evidence{What: "of it, its holder was blocked, mostly for: " + reference.Reason(top).String(), Value: held(n.slow), Ns: n.slow})
	}
	if n.calls > 0 {
		x.Evidence = append(x.Evidence, findings.Evidence{What: "of it, its holder was in a system call", Value: held(n.calls), Ns: n.calls})
	}
	if n.queued > n.held/20 {
		x.Evidence = append(x.Evidence, findings.Evidence{What: "of it, its holder was ready to run, and waited for a P", Value: held(n.queued), Ns: n.queued})
	}
	switch {
	case 2*(n.slow+n.calls) > n.held:
		x.Advice = append(x.Advice, "Do not hold the lock across something slow: fetch or wait first, then lock and store; or mark the entry as being filled, unlock, and let the others wait for that entry only.")
	case 2*n.queued > n.held:
		x.Advice = append(x.Advice, "Whoever holds the lock mostly waits for a P, preempted in the middle, or just handed the lock: have fewer goroutines compute at the same time (about as many as there are Ps), and take the lock less often.")
	default:
		x.Advice = append(x.Advice, "Make the critical section in "+name+" shorter: compute before locking, and hold the lock only to read or store the result.")
	}
	x.Advice = append(x.Advice, "Or divide what the lock protects (one lock for each part), or publish a copy that readers need no lock for (atomic.Pointer). More Ps do not help: one goroutine at a time gets through.")
}

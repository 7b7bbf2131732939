package latepreemption

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, c *cell, anywhere bool) {
	name, longest := f.Name(c.class), c.longest.ns
	x.Headline = fmt.Sprintf("%s runs on for up to %s, past the end of its time slice", findings.Short(name), quantity.Duration(longest))
	x.Title = fmt.Sprintf("%s kept a P for up to %s at a stretch, past the end of the time slice, %s",
		name, quantity.Duration(longest), quantity.Plural(c.n, "time", "times"))
	x.Evidence = []findings.Evidence{
		{What: "late slices", Value: quantity.Count(c.n), Limit: quantity.Duration(w.t.SliceNs) + " each"},
		{What: "the longest", Value: quantity.Duration(longest), Limit: quantity.Duration(w.t.SliceNs), Ns: longest},
		{What: "run intervals in it", Value: quantity.Count(int64(c.longest.runs))},
		{What: "its time after the request was due", Value: quantity.Duration(longest - w.t.AskedNs), Ns: longest - w.t.AskedNs},
		{What: "ended by a preemption", Value: quantity.Count(c.by[0]) + " of " + quantity.Count(c.preempted) + " that ended so, late or not"},
		{What: "ended by the goroutine itself", Value: quantity.Count(c.by[1]), Limit: quantity.Duration(w.t.LostNs) + " each"},
		{What: "ended by a stop for the runtime", Value: quantity.Count(c.by[2]), Limit: quantity.Duration(w.t.LostNs) + " each"},
	}
	x.Advice = []string{
		"Look at the stack for what cannot be interrupted: assembly, a large copy or clear, code of the runtime; or a program built or run with asynchronous preemption off (GODEBUG=asyncpreemptoff=1), where a loop without calls never yields.",
		"Split such work, or call runtime.Gosched in the loop.",
	}
	switch {
	case anywhere:
		x.Advice = []string{"Record again on a quiet machine: this code can be interrupted at many places, so its thread, or the runtime's watcher (sysmon), had no CPU for a while. Look for " + f.TakesCPUs() + "."}
	case f.Records() == nil:
		x.Advice = append(x.Advice, "If the stack is ordinary code, its thread, or the runtime's watcher (sysmon), had no CPU for a while: a CPU quota or too many threads for the machine. Compare with fewer Ps.")
	default:
		x.Evidence = append(x.Evidence, findings.Evidence{What: "time without a CPU in it, by the kernel's records", Value: "left out"})
	}
	if c.by[3] > 0 {
		x.Evidence = append(x.Evidence, findings.Evidence{What: "cut off by the end of the trace", Value: quantity.Count(c.by[3])})
	}
}

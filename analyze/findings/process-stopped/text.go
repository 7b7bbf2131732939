package processstopped

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, n *evidence) {
	count := int64(len(n.stops))
	x.Headline = fmt.Sprintf("The whole process was stopped %s, for up to %s", quantity.Plural(count, "time", "times"), quantity.Duration(n.longest))
	x.Title = fmt.Sprintf("The whole process did not run %s, for up to %s at a time, %s of the recording: the machine, or whoever stops processes on it, is to blame, not the program",
		quantity.Plural(count, "time", "times"), quantity.Duration(n.longest), quantity.Percent(n.share))
	x.Evidence = []findings.Evidence{
		{What: "stops: silences that no program makes by itself", Value: quantity.Count(count), Limit: fmt.Sprintf("%d of %s, or one of %s", w.t.MinCount, quantity.Duration(w.t.StopNs), quantity.Duration(w.t.AloneNs))},
		{What: "their sum", Value: quantity.Duration(n.ns) + " (" + quantity.Percent(n.share) + " of the recording)", Limit: quantity.Percent(w.t.WarningShare), Ns: n.ns},
		{What: "the longest", Value: quantity.Duration(n.longest), Ns: n.longest},
		{What: "goroutines that ran into them, and went on together, summed", Value: quantity.Count(n.runs)},
		{What: "timers that were due in them and fired only afterwards", Value: quantity.Count(n.overdue)},
	}
	x.Advice = []string{
		"See what stopped the process: a debugger or a SIGSTOP, a frozen or migrated virtual machine or container, a CPU limit (cpu.stat of its control group counts nr_throttled), swapping, or neighbours that own the cores. Nothing in the program helps against it.",
		"Do not judge the program by this recording: waits, runs and locks contain the stops. Record again where it does not happen.",
	}
}

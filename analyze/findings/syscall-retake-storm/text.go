package syscallretakestorm

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, n *evidence) {
	sum, top := &n.sum, &n.cells[0]
	call, wait := sum.shortNs/sum.short, sum.waits.Ns/max(1, sum.waits.N)
	x.Headline = fmt.Sprintf("%s of %s lost their P", quantity.Plural(sum.short, "short system call", "short system calls"), findings.Short(f.Name(top.class)))
	x.Title = fmt.Sprintf("%s of about %s, most of %s, lost their P and waited %s for another",
		quantity.Plural(sum.short, "system call", "system calls"), quantity.Duration(call), f.Name(top.class), quantity.Duration(wait))
	x.Evidence = []findings.Evidence{
		{What: "calls that lost the P and came back soon", Value: quantity.Count(sum.short), Limit: quantity.Count(w.t.MinCount) + ", within " + quantity.Duration(w.t.ShortNs)},
		{What: "share of all calls of these goroutines", Value: quantity.Percent(float64(sum.short) / float64(max(1, n.calls))), Limit: quantity.Percent(w.t.Share)},
		{What: "such calls a second", Value: quantity.Number(float64(sum.short) * 1e9 / float64(max(1, f.RecordedNs()))), Limit: quantity.Number(w.t.Rate) + ", or the share"},
		{What: "their mean length", Value: quantity.Duration(call), Limit: quantity.Duration(w.t.ShortNs), Ns: call},
		{What: "mean wait for a P afterwards", Value: quantity.Duration(wait), Limit: quantity.Duration(call) + ", the call", Ns: wait},
		{What: "the longest", Value: quantity.Duration(top.waits.Worst), Ns: top.waits.Worst},
		{What: "calls that lost the P, however long", Value: quantity.Count(sum.taken) + " of " + quantity.Count(n.calls)},
		{What: "other retakes: by sysmon, by returning calls", Value: quantity.Count(f.Procs.Retakes.ByCause[reference.WhyRetakeSlow.String()]) + ", " + quantity.Count(f.Procs.Retakes.ByCause[reference.WhyRetakeReturn.String()])},
	}
	x.Advice = []string{
		"Make fewer and larger steps between the calls, or fewer calls: buffer (bufio), batch, keep what was read. A call that sysmon finds at two looks, 20 µs apart, loses its P as soon as others want it.",
		"Bound how many goroutines make such calls at once, by a semaphore or a few I/O goroutines, so that the others need not wait for a P after each call.",
		"The wait is for Ps that CPU-bound goroutines hold: leave a P to the others, by fewer of them, or have them yield (runtime.Gosched) between steps of some 100 µs.",
	}
}

package cputhrottling

import (
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/sidecar"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// Counts reports whether what a quota did is what it did to this trace: the counts may be
// two periods and half as far apart again as the trace is long. Others are of more, such as
// the tests of a package being built.
func Counts(f *findings.Facts, q *sidecar.Quota) bool {
	return q.Ns() <= f.EndNs+f.EndNs/2+2*q.PeriodNs
}

// byCount judges by what the control group counted while the trace was recorded, which makes it
// certain, or rules it out.
func (w *watcher) byCount(f *findings.Facts, q *sidecar.Quota) []findings.Finding {
	c := q.Counted()
	cost := min(c.ThrottledNs, int64(max(1, f.GOMAXPROCS))*f.RecordedNs())
	lost := int64(0)
	if f.CPUs == q.CPUs {
		lost = f.WithoutCPUNs()
		cost = max(cost, lost)
	}
	severity, ok := w.t.Grade.Severity(cost, f.RecordedNs())
	if !ok || c.Throttled == 0 {
		return nil
	}
	limit, periods := quantity.Amount(q.CPUs, "CPU", "CPUs"), quantity.Count(c.Throttled)+" of "+quantity.Count(c.Periods)
	x := findings.Finding{
		Severity: severity, CostNs: cost, ToNs: f.EndNs, Basis: findings.Certain, Proven: true,
		Headline: findings.Say("A CPU quota of %s stopped the process: %s periods, %s", limit, periods, quantity.Duration(c.ThrottledNs)),
		Title: findings.Say("A CPU quota of %s was used up in %s periods of %s, and threads were kept from the CPUs for %s in all, as the control group counted",
			limit, periods, quantity.Duration(q.PeriodNs), quantity.Duration(c.ThrottledNs)),
		Evidence: []findings.Evidence{
			findings.Measured("periods in which the quota was used up, by cpu.stat", findings.Said("%s", periods)),
			findings.Measured("threads were kept from the CPUs, by cpu.stat", findings.Time(c.ThrottledNs)),
			findings.Measured("time between the two counts", findings.Time(q.Ns())),
			findings.Measured("quota", findings.Said("%s", limit), findings.Said("GOMAXPROCS %s", quantity.Count(int64(f.GOMAXPROCS)))),
		},
		Advice: []findings.Text{
			findings.Say("%s", advice(f)), findings.Say(raise), findings.Say(bursts),
		},
	}
	if lost > 0 {
		x.Measured("goroutines ran without a CPU, at least: beyond what the quota gives", findings.Time(lost))
	}
	return []findings.Finding{x}
}

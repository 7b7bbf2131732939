package cputhrottling

import (
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/kernel"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// byKernel judges by the kernel's records: a thread that is ready to run while its CPU is
// idle is kept from it, as by a quota. What the control group counted makes it certain, or
// rules it out.
func (w *watcher) byKernel(f *findings.Facts, m *kernel.Machine) []findings.Finding {
	cost := m.Off.ThrottledNs
	if c := m.Cgroup; c != nil && c.Throttled == 0 {
		return nil
	}
	severity, ok := w.t.Grade.Severity(cost, f.RecordedNs())
	if !ok {
		return nil
	}
	x := findings.Finding{
		Severity: severity, CostNs: cost, ToNs: f.EndNs, Basis: findings.Inferred, Proven: true, Actors: f.OffVictims(m),
		Headline: findings.Say("%s; a CPU quota took the rest", findings.Had(m)),
		Title: findings.Say("%s: for %s its threads were ready to run and their CPU was idle, which nothing but a CPU quota does",
			findings.Had(m), quantity.Duration(cost)),
		Evidence: append(findings.EvidenceOf(m),
			findings.Measured("threads were ready to run, and their CPU was idle, for 1 ms and longer at a time", findings.Time(cost)),
			findings.Measured("threads were ready to run, and another program had their CPU", findings.Time(m.Off.OthersNs))),
		Advice: []findings.Text{
			findings.Say("%s", advice(f)), findings.Say(raise),
		},
	}
	if c := m.Cgroup; c != nil {
		x.Basis = findings.Certain
		x.Measured("periods of the quota in which it was used up, by cpu.stat", findings.Count(c.Throttled).With(" of %s", quantity.Count(c.Periods)))
	} else {
		x.Advise("Give the cpu.stat of the control group with --cgroup-stat: nr_throttled proves it, or refutes it.")
	}
	return []findings.Finding{x}
}

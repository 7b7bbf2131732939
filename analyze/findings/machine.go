package findings

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/kernel"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

const (
	// strainedShare is the share of the running time off the CPUs from which on threads
	// lacked CPUs, by the kernel's records.
	strainedShare = 0.1
	// minCoverage is the share of the running time of which these must tell.
	minCoverage = 0.9
)

// Records returns what the records of the kernel's scheduler tell about the CPUs of the process; nil
// if there are none, or if they cover less than nine tenths of the running time.
func (f *Facts) Records() *kernel.Machine {
	m := f.Machine
	if m == nil || float64(m.UnknownNs) > (1-minCoverage)*float64(m.RunningNs) {
		return nil
	}
	return m
}

// Had returns the beginning of a headline about a lack of CPUs, from the kernel's records: how many
// CPUs the program had, and how many it needed.
func Had(m *kernel.Machine) string {
	return fmt.Sprintf("The program had %s of the %s that it needed", quantity.Number(m.HadCPUs), quantity.Amount(m.NeededCPUs, "CPU", "CPUs"))
}

// EvidenceOf returns the evidence for a lack of CPUs from the kernel's records: for how long
// goroutines ran, for how much of that with a thread on a CPU, and how well the records fit the
// trace.
func EvidenceOf(m *kernel.Machine) []Evidence {
	return []Evidence{
		Measured("goroutines ran, by the trace", Time(m.RunningNs)),
		Measured("of it with a thread on a CPU, by the kernel's records", Time(m.OnCPUNs)),
		Measured("events at which their thread was on a CPU", Share(m.InsideShare)),
	}
}

// OffVictims returns as victims the first three classes, in the order of m, that have at least a
// tenth of all running time for which goroutines had no CPU, by the kernel's records.
func (f *Facts) OffVictims(m *kernel.Machine) []Actor {
	var out []Actor
	for i := range m.Classes {
		if c := &m.Classes[i]; len(out) < 3 && c.OffCPUNs*10 >= m.OffCPUNs && c.OffCPUNs > 0 {
			out = append(out, f.Class(Victim, c.ID))
		}
	}
	return out
}

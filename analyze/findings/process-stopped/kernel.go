package processstopped

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/kernel"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// byKernel judges by the kernel's records: threads that were stopped are in them, also of
// a process without work.
func (w *watcher) byKernel(f *findings.Facts, m *kernel.Machine) []findings.Finding {
	s := &m.Stops
	cost := max(m.Off.StoppedNs, s.TotalNs)
	severity, ok := w.t.Grade.Severity(cost, f.RecordedNs())
	if !ok {
		return nil
	}
	if f.Share(s.TotalNs) < w.t.WarningShare {
		severity = findings.Note
	}
	count := quantity.Plural(s.Count, "time", "times")
	x := findings.Finding{
		Severity: severity, CostNs: cost, FromNs: s.LongestAt, ToNs: s.LongestAt + s.LongestNs, Basis: findings.Certain, Proven: true, Actors: f.OffVictims(m),
		Headline: fmt.Sprintf("The process was stopped %s by a signal, for up to %s", count, quantity.Duration(s.LongestNs)),
		Title: fmt.Sprintf("The process was stopped %s by a signal or a debugger, for up to %s at a time, %s of the recording, as the kernel's records show: whoever stops it is to blame, not the program",
			count, quantity.Duration(s.LongestNs), quantity.Percent(f.Share(s.TotalNs))),
		Evidence: append(findings.EvidenceOf(m),
			findings.Evidence{What: "stops: threads were in the state T, stopped", Value: quantity.Count(s.Count)},
			findings.Evidence{What: "their sum", Value: quantity.Duration(s.TotalNs) + " (" + quantity.Percent(f.Share(s.TotalNs)) + " of the recording)", Limit: quantity.Percent(w.t.WarningShare), Ns: s.TotalNs},
			findings.Evidence{What: "goroutines that ran into them, summed", Value: quantity.Duration(m.Off.StoppedNs), Ns: m.Off.StoppedNs}),
		Advice: []string{
			"See who sent SIGSTOP or SIGTSTP: a debugger, a supervisor, a shell's job control, a checkpoint. Nothing in the program helps against it.",
			"Do not judge the program by this recording: waits, runs and locks contain the stops. Record again where it does not happen.",
		},
	}
	return []findings.Finding{x}
}

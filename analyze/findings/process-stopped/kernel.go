package processstopped

import (
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
		Headline: findings.Say("The process was stopped %s by a signal, for up to %s", count, quantity.Duration(s.LongestNs)),
		Title: findings.Say("The process was stopped %s by a signal or a debugger, for up to %s at a time, %s of the recording, as the kernel's records show: whoever stops it is to blame, not the program",
			count, quantity.Duration(s.LongestNs), quantity.Percent(f.Share(s.TotalNs))),
		Evidence: append(findings.EvidenceOf(m),
			findings.Measured("stops: threads were in the state T, stopped", findings.Count(s.Count)),
			findings.Measured("their sum", findings.Time(s.TotalNs).With(" (%s of the recording)", quantity.Percent(f.Share(s.TotalNs))), findings.Share(w.t.WarningShare)),
			findings.Measured("goroutines that ran into them, summed", findings.Time(m.Off.StoppedNs))),
		Advice: []findings.Text{
			findings.Say("See who sent SIGSTOP or SIGTSTP: a debugger, a supervisor, a shell's job control, a checkpoint. Nothing in the program helps against it."),
			findings.Say("Do not judge the program by this recording: waits, runs and locks contain the stops. Record again where it does not happen."),
		},
	}
	return []findings.Finding{x}
}

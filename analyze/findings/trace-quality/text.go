package tracequality

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, found []problem) {
	var what []string
	for _, p := range found {
		what = append(what, w.title(f, p))
	}
	x.Headline = "About this trace: " + what[0]
	x.Title = "About this trace: " + strings.Join(what, "; ")
	slices.Sort(found)
	for _, p := range found {
		x.Evidence = append(x.Evidence, w.evidence(f, p)...)
		if a := w.advice(f, p); a != "" {
			x.Advice = append(x.Advice, a)
		}
	}
	if len(x.Advice) == 0 {
		x.Advice = []string{"Read the warnings, and record again if they matter."}
	}
}

func (w *watcher) title(f *findings.Facts, p problem) string {
	switch p {
	case lostBytes:
		return "a part of it could not be read"
	case warnings:
		return "reading it gave warnings"
	case reduced:
		return "its format is older than Go 1.22 and shows no threads"
	case unexplained:
		return quantity.Percent(share(f.Unexplained, f.Starts)) + " of the starts could not be explained"
	case tracer:
		return "the tracer took " + quantity.Percent(share(f.TracerNs, f.PT())) + " of the P-time"
	case annotations:
		return "the program made a region, task or log for each " + quantity.Duration(f.PT()/f.Annotations) + " of P-time"
	case short:
		return "it lasts only " + quantity.Duration(f.RecordedNs())
	case fewCycles:
		return "it covers few GC cycles"
	}
	return "it names more Ps than are told apart"
}

func (w *watcher) evidence(f *findings.Facts, p problem) []findings.Evidence {
	switch p {
	case lostBytes:
		lost := min(1, share(f.LostBytes, f.Bytes))
		return []findings.Evidence{
			{What: "bytes that could not be read", Value: fmt.Sprintf("%s of %s (%s)", quantity.Count(f.LostBytes), quantity.Count(f.Bytes), quantity.Percent(lost)), Limit: "0"},
		}
	case warnings:
		return evidenceOfWarnings(f.Warnings)
	case reduced:
		silent := "none"
		if len(f.Silent) > 0 {
			silent = strings.Join(f.Silent, ", ")
		}
		return []findings.Evidence{
			{What: "detectors that need run queues and did not judge", Value: silent},
		}
	case unexplained:
		list := []findings.Evidence{
			{What: "starts without explanation", Value: fmt.Sprintf("%s of %s (%s)", quantity.Count(f.Unexplained), quantity.Count(f.Starts), quantity.Percent(share(f.Unexplained, f.Starts))), Limit: quantity.Percent(w.t.Unexplained)},
		}
		if w.first >= 0 {
			list = append(list, findings.Evidence{What: "the first of them", Value: "at " + quantity.Duration(w.first), Ns: w.first})
		}
		return list
	case tracer:
		return []findings.Evidence{
			{What: "P-time of the tracer's goroutines", Value: quantity.Duration(f.TracerNs) + " (" + quantity.Percent(share(f.TracerNs, f.PT())) + ")", Limit: quantity.Percent(w.t.Tracer), Ns: f.TracerNs},
		}
	case annotations:
		n := f.Annotations
		each := f.PT() / n
		return []findings.Evidence{
			{What: "P-time for each region, task or log", Value: quantity.Duration(each), Limit: quantity.Duration(w.t.AnnotationNs), Ns: each},
			{What: "their share of all events, without the ends of regions and tasks", Value: fmt.Sprintf("%s of %s (%s)", quantity.Count(n), quantity.Count(f.Events), quantity.Percent(float64(n)/float64(max(1, f.Events))))},
		}
	case short:
		return []findings.Evidence{
			{What: "duration", Value: quantity.Duration(f.RecordedNs()), Limit: quantity.Duration(w.t.ShortNs), Ns: f.RecordedNs()},
		}
	case fewCycles:
		return []findings.Evidence{
			{What: "duration, in periods of the slowest GC cycle", Value: quantity.Number(float64(f.RecordedNs()) / float64(w.slowestGC)), Limit: quantity.Count(w.t.Periods)},
		}
	}
	return []findings.Evidence{
		{What: "Ps without an account", Value: quantity.Count(int64(f.Procs.OmittedPs))},
	}
}

// evidenceOfWarnings shows the first lines of some of them.
func evidenceOfWarnings(all []string) (list []findings.Evidence) {
	const shown = 3
	for _, m := range all[:min(shown, len(all))] {
		m, _, _ = strings.Cut(m, "\n")
		list = append(list, findings.Evidence{What: "warning", Value: m})
	}
	if n := len(all) - shown; n > 0 {
		list = append(list, findings.Evidence{What: "further warnings", Value: quantity.Count(int64(n))})
	}
	return list
}

func (w *watcher) advice(f *findings.Facts, p problem) string {
	switch p {
	case lostBytes:
		return "Stop the trace with trace.Stop, or end the download, before the program exits: what the tracer had not written out is missing, mostly the last second. All that follows holds for the part that was read."
	case reduced:
		return "Record with Go 1.22 or newer: run queues can be rebuilt only from such traces."
	case unexplained:
		return "Queue lengths, steals and the causes of waits are less certain where starts are unexplained; a trace with fewer, larger bursts of threads without CPU explains better. If the trace is sound, this is a defect of gmpscope: please report it."
	case tracer:
		return "Write the trace to something fast, use the flight recorder, or annotate fewer regions and logs: what the tracer takes, the program did not get."
	case annotations:
		return "Annotate what takes tens of microseconds or more, not each small step: making the annotations took a part of the program's own time, and no account shows it apart."
	case short:
		return "Record some seconds of the load that matters: a few time slices are an anecdote."
	case fewCycles:
		return "Before relying on anything about the garbage collector, record " + quantity.Duration(w.t.Periods*w.slowestGC) + " or more."
	}
	return ""
}

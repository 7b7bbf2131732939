// Package tracequality is the detector trace-quality: can what the trace shows
// be trusted? doc.md explains it.
package tracequality

import (
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID of the detector.
const ID = "trace-quality"

// Thresholds of the detector.
type Thresholds struct {
	// Unexplained is the share of unexplained starts above which, and
	// UnexplainedMin their number from which on, the queues are in doubt.
	Unexplained    float64 `json:"unexplained"`
	UnexplainedMin int64   `json:"unexplained_min"`
	// Tracer is the share of all P-time above which the tracer itself disturbs,
	// in a trace of at least TracerMinNs.
	Tracer      float64 `json:"tracer"`
	TracerMinNs int64   `json:"tracer_min_ns"`
	// AnnotationNs is the P-time for each annotation of the program below which
	// the annotations themselves disturb, in a trace of at least TracerMinNs.
	AnnotationNs int64 `json:"annotation_ns"`
	// ShortNs is the duration below which numbers are anecdotes.
	ShortNs int64 `json:"short_ns"`
	// Periods is how many GC cycles a trace should cover that has two or more.
	Periods int64 `json:"periods"`
}

// Default returns the default thresholds. ShortNs is ten time slices. A region, a
// task or a log takes 170 to 510 ns of the goroutine that makes it, measured on
// amd64 with Go 1.26: one for each AnnotationNs is as much as Tracer, or more.
func Default() Thresholds {
	return Thresholds{
		Unexplained: 0.01, UnexplainedMin: 10, Tracer: 0.02, TracerMinNs: 100_000_000,
		AnnotationNs: 10_000,
		ShortNs:      100_000_000, Periods: 10,
	}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindTrace,
		Remedy: findings.Remedy{Why: "it is about the trace"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, first: -1, lastGC: -1}
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindStart}, When: findings.Unexplained}, w.unexplained)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindGCBegin}}, w.cycle)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindLost}}, w.lose)
			return w
		},
	}
}

type watcher struct {
	t           Thresholds
	first, last int64 // unexplained starts
	cycles      int64
	lastGC      int64 // -1: there was none since the last gap
	slowestGC   int64
}

func (w *watcher) unexplained(d *reference.Decision) {
	if w.first < 0 {
		w.first = d.Time
	}
	w.last = d.Time
}

func (w *watcher) cycle(d *reference.Decision) {
	w.cycles++
	if w.lastGC >= 0 {
		w.slowestGC = max(w.slowestGC, d.Time-w.lastGC)
	}
	w.lastGC = d.Time
}

// lose is for a gap in the trace: how many cycles began in it is not known.
func (w *watcher) lose(*reference.Decision) { w.lastGC = -1 }

// problem is something that the finding speaks of.
type problem uint8

const (
	lostBytes problem = iota
	warnings
	reduced
	unexplained
	tracer
	annotations
	short
	fewCycles
	omittedPs
)

// severity is that of a trace with the problem.
func (p problem) severity() findings.Severity {
	if p == lostBytes || p == unexplained {
		return findings.Warning
	}
	return findings.Note
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	x := findings.Finding{Severity: findings.Note, Basis: findings.Certain, ToNs: f.EndNs}
	var found []problem // the worst first
	for p, is := range w.problems(f) {
		switch p := problem(p); {
		case !is:
		case p.severity().Order() < x.Severity.Order():
			x.Severity = p.severity()
			found = slices.Insert(found, 0, p)
		default:
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return nil
	}
	if w.first >= 0 && slices.Contains(found, unexplained) {
		x.FromNs, x.ToNs = w.first, w.last
	}
	var what []string
	for _, p := range found {
		what = append(what, w.title(f, p))
	}
	x.Headline = findings.Say("About this trace: %s", what[0])
	x.Title = findings.Say("About this trace: %s", strings.Join(what, "; "))
	slices.Sort(found)
	for _, p := range found {
		x.Evidence = append(x.Evidence, w.evidence(f, p)...)
		if a := w.advice(f, p); a != "" {
			x.Advise("%s", a)
		}
	}
	if len(x.Advice) == 0 {
		x.Advise("Read the warnings, and record again if they matter.")
	}
	return []findings.Finding{x}
}

// problems reports for each problem whether the trace has it.
func (w *watcher) problems(f *findings.Facts) [omittedPs + 1]bool {
	// A window is as short as was asked for, and the counts below are those of all.
	long := f.RecordedNs() >= w.t.TracerMinNs && !f.Window
	brief := f.RecordedNs() > 0 && f.RecordedNs() < w.t.ShortNs && !f.Window
	return [...]bool{
		lostBytes:   f.LostBytes > 0,
		warnings:    len(f.Warnings) > 0,
		reduced:     f.Reduced,
		unexplained: f.Starts > 0 && !f.Reduced && share(f.Unexplained, f.Starts) > w.t.Unexplained && f.Unexplained >= w.t.UnexplainedMin,
		tracer:      f.PT() > 0 && long && share(f.TracerNs, f.PT()) > w.t.Tracer,
		annotations: f.Annotations > 0 && long && f.PT()/f.Annotations < w.t.AnnotationNs,
		short:       brief,
		fewCycles:   !brief && !f.Window && w.cycles >= 2 && w.slowestGC > 0 && f.RecordedNs() < w.t.Periods*w.slowestGC,
		omittedPs:   f.Procs.OmittedPs > 0,
	}
}

// share is a part of something, all of it where the whole is not known.
func share(part, whole int64) float64 {
	if whole <= 0 {
		return 1
	}
	return float64(part) / float64(whole)
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
			findings.Measured("bytes that could not be read", findings.Said("%s of %s (%s)", quantity.Count(f.LostBytes), quantity.Count(f.Bytes), quantity.Percent(lost)), findings.Said("0")),
		}
	case warnings:
		return evidenceOfWarnings(f.Warnings)
	case reduced:
		silent := "none"
		if len(f.Silent) > 0 {
			silent = strings.Join(f.Silent, ", ")
		}
		return []findings.Evidence{
			findings.Measured("detectors that need run queues and did not judge", findings.Said("%s", silent)),
		}
	case unexplained:
		list := []findings.Evidence{
			findings.Measured("starts without explanation", findings.Said("%s of %s (%s)", quantity.Count(f.Unexplained), quantity.Count(f.Starts), quantity.Percent(share(f.Unexplained, f.Starts))), findings.Share(w.t.Unexplained)),
		}
		if w.first >= 0 {
			list = append(list, findings.Measured("the first of them", findings.Said("at %s", quantity.Duration(w.first)).Of(w.first)))
		}
		return list
	case tracer:
		return []findings.Evidence{
			findings.Measured("P-time of the tracer's goroutines", findings.Time(f.TracerNs).With(" (%s)", quantity.Percent(share(f.TracerNs, f.PT()))), findings.Share(w.t.Tracer)),
		}
	case annotations:
		n := f.Annotations
		each := f.PT() / n
		return []findings.Evidence{
			findings.Measured("P-time for each region, task or log", findings.Time(each), findings.Time(w.t.AnnotationNs)),
			findings.Measured("their share of all events, without the ends of regions and tasks", findings.Said("%s of %s (%s)", quantity.Count(n), quantity.Count(f.Events), quantity.Percent(float64(n)/float64(max(1, f.Events))))),
		}
	case short:
		return []findings.Evidence{
			findings.Measured("duration", findings.Time(f.RecordedNs()), findings.Time(w.t.ShortNs)),
		}
	case fewCycles:
		return []findings.Evidence{
			findings.Measured("duration, in periods of the slowest GC cycle", findings.Number(float64(f.RecordedNs())/float64(w.slowestGC)), findings.Count(w.t.Periods)),
		}
	}
	return []findings.Evidence{
		findings.Measured("Ps without an account", findings.Count(int64(f.Procs.OmittedPs))),
	}
}

// evidenceOfWarnings shows the first lines of some of them.
func evidenceOfWarnings(all []string) (list []findings.Evidence) {
	const shown = 3
	for _, m := range all[:min(shown, len(all))] {
		m, _, _ = strings.Cut(m, "\n")
		list = append(list, findings.Measured("warning", findings.Said("%s", m)))
	}
	if n := len(all) - shown; n > 0 {
		list = append(list, findings.Measured("further warnings", findings.Count(int64(n))))
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

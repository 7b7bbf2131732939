// Package tracequality is the detector trace-quality: can what the trace shows
// be trusted? doc.md explains it.
package tracequality

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "trace-quality"

// Thresholds decide when the detector reports flaws of the trace that make other results
// doubtful. Fields whose names end in Ns are in nanoseconds; shares are fractions from 0 to 1.
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

// Default returns the thresholds that apply unless a configuration sets others. ShortNs is ten
// time slices. A region, a task or a log takes 170 to 510 ns of the goroutine that makes it,
// measured on amd64 with Go 1.26: one for each AnnotationNs is as much as Tracer, or more.
func Default() Thresholds {
	return Thresholds{
		Unexplained: 0.01, UnexplainedMin: 10, Tracer: 0.02, TracerMinNs: 100_000_000,
		AnnotationNs: 10_000,
		ShortNs:      100_000_000, Periods: 10,
	}
}

// New returns the detector that reports flaws of the trace that make other results doubtful,
// with thresholds t.
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

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	x := report{Finding: findings.Finding{Severity: findings.Note, Basis: findings.Certain, ToNs: f.EndNs}}
	w.reading(f, &x)
	w.recording(f, &x)
	if len(x.problems) == 0 {
		return nil
	}
	x.Headline = findings.Say("About this trace: %s", x.problems[0])
	x.Title = findings.Say("About this trace: %s", strings.Join(x.problems, "; "))
	if len(x.Advice) == 0 {
		x.Advise("Read the warnings, and record again if they matter.")
	}
	return []findings.Finding{x.Finding}
}

// report is the finding, and the problems of which it speaks, the worst first.
type report struct {
	findings.Finding
	problems []string
}

// add adds a problem, and what to do about it, if anything.
func (x *report) add(s findings.Severity, problem, advice string, evidence ...findings.Evidence) {
	if s.Order() < x.Severity.Order() {
		x.Severity = s
		x.problems = slices.Insert(x.problems, 0, problem)
	} else {
		x.problems = append(x.problems, problem)
	}
	x.Evidence = append(x.Evidence, evidence...)
	if advice != "" {
		x.Advise("%s", advice)
	}
}

// reading adds what went wrong when the trace was read.
func (w *watcher) reading(f *findings.Facts, x *report) {
	if f.LostBytes > 0 {
		lost := quantity.Percent(min(1, share(f.LostBytes, f.Bytes)))
		x.add(findings.Warning, "a part of it could not be read",
			"Stop the trace with trace.Stop, or end the download, before the program exits: what the tracer had not written out is missing, mostly the last second. All that follows holds for the part that was read.",
			findings.Measured("bytes that could not be read", findings.Said("%s of %s (%s)", quantity.Count(f.LostBytes), quantity.Count(f.Bytes), lost), findings.Said("0")))
	}
	if len(f.Warnings) > 0 {
		x.add(findings.Note, "reading it gave warnings", "", evidenceOfWarnings(f.Warnings)...)
	}
	if f.Reduced {
		x.add(findings.Note, "its format is older than Go 1.22 and shows no threads",
			"Record with Go 1.22 or newer: run queues can be rebuilt only from such traces.",
			findings.Measured("detectors that need run queues and did not judge", findings.Said("%s", cmp.Or(strings.Join(f.Silent, ", "), "none"))))
	}
	odd := share(f.Unexplained, f.Starts)
	if f.Starts > 0 && !f.Reduced && odd > w.t.Unexplained && f.Unexplained >= w.t.UnexplainedMin {
		x.add(findings.Warning, quantity.Percent(odd)+" of the starts could not be explained",
			"Queue lengths, steals and the causes of waits are less certain where starts are unexplained; a trace with fewer, larger bursts of threads without CPU explains better. If the trace is sound, this is a defect of gmpscope: please report it.",
			findings.Measured("starts without explanation", findings.Said("%s of %s (%s)", quantity.Count(f.Unexplained), quantity.Count(f.Starts), quantity.Percent(odd)), findings.Share(w.t.Unexplained)))
		if w.first >= 0 {
			x.FromNs, x.ToNs = w.first, w.last
			x.Measured("the first of them", findings.Said("at %s", quantity.Duration(w.first)).Of(w.first))
		}
	}
}

// recording adds what is wrong with the way that it was recorded.
func (w *watcher) recording(f *findings.Facts, x *report) {
	// A window is as short as was asked for, and the counts below are those of all.
	long := f.RecordedNs() >= w.t.TracerMinNs && !f.Window
	if tracer := share(f.TracerNs, f.PT()); f.PT() > 0 && long && tracer > w.t.Tracer {
		x.add(findings.Note, "the tracer took "+quantity.Percent(tracer)+" of the P-time",
			"Write the trace to something fast, use the flight recorder, or annotate fewer regions and logs: what the tracer takes, the program did not get.",
			findings.Measured("P-time of the tracer's goroutines", findings.Time(f.TracerNs).With(" (%s)", quantity.Percent(tracer)), findings.Share(w.t.Tracer)))
	}
	if n := f.Annotations; n > 0 && long && f.PT()/n < w.t.AnnotationNs {
		each := f.PT() / n
		x.add(findings.Note, "the program made a region, task or log for each "+quantity.Duration(each)+" of P-time",
			"Annotate what takes tens of microseconds or more, not each small step: making the annotations took a part of the program's own time, and no account shows it apart.",
			findings.Measured("P-time for each region, task or log", findings.Time(each), findings.Time(w.t.AnnotationNs)),
			findings.Measured("their share of all events, without the ends of regions and tasks", findings.Said("%s of %s (%s)", quantity.Count(n), quantity.Count(f.Events), quantity.Percent(float64(n)/float64(max(1, f.Events))))))
	}
	brief := f.RecordedNs() > 0 && f.RecordedNs() < w.t.ShortNs && !f.Window
	if brief {
		x.add(findings.Note, "it lasts only "+quantity.Duration(f.RecordedNs()),
			"Record some seconds of the load that matters: a few time slices are an anecdote.",
			findings.Measured("duration", findings.Time(f.RecordedNs()), findings.Time(w.t.ShortNs)))
	}
	if !brief && !f.Window && w.cycles >= 2 && w.slowestGC > 0 && f.RecordedNs() < w.t.Periods*w.slowestGC {
		x.add(findings.Note, "it covers few GC cycles",
			"Before relying on anything about the garbage collector, record "+quantity.Duration(w.t.Periods*w.slowestGC)+" or more.",
			findings.Measured("duration, in periods of the slowest GC cycle", findings.Number(float64(f.RecordedNs())/float64(w.slowestGC)), findings.Count(w.t.Periods)))
	}
	if n := f.Procs.OmittedPs; n > 0 {
		x.add(findings.Note, "it names more Ps than are told apart", "", findings.Measured("Ps without an account", findings.Count(int64(n))))
	}
}

// share is a part of something, all of it where the whole is not known.
func share(part, whole int64) float64 {
	if whole <= 0 {
		return 1
	}
	return float64(part) / float64(whole)
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

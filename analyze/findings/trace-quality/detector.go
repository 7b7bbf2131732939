// Package tracequality is the detector trace-quality: can what the trace shows
// be trusted? doc.md explains it.
package tracequality

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/reference"
)

//go:embed doc.md
var doc string

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
		ID: ID, Title: "how far the trace can be trusted", Doc: doc,
		Kind:   findings.KindTrace,
		Remedy: findings.Remedy{Why: "it is about the trace"},
		New: func(env findings.Env) findings.Watcher {
			w := &watcher{t: t, first: -1, lastGC: -1}
			env.World.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindStart}, When: findings.Unexplained}, w.unexplained)
			env.World.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindGCBegin}}, w.cycle)
			env.World.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindLost}}, w.lose)
			return w
		},
	}
}

type watcher struct {
	findings.Quiet
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
	x := findings.Finding{ID: ID, Severity: findings.Note, Basis: findings.Certain, ToNs: f.EndNs}
	var what []string
	say := func(s findings.Severity, text, advice string, e findings.Evidence) {
		if s.Order() < x.Severity.Order() {
			x.Severity = s
			what = append([]string{text}, what...)
		} else {
			what = append(what, text)
		}
		x.Evidence = append(x.Evidence, e)
		if advice != "" {
			x.Advice = append(x.Advice, advice)
		}
	}
	if f.LostBytes > 0 {
		share := 1.0
		if f.Bytes > 0 {
			share = min(1, float64(f.LostBytes)/float64(f.Bytes))
		}
		say(findings.Warning, "a part of it could not be read",
			"Stop the trace with trace.Stop, or end the download, before the program exits: what the tracer had not written out is missing, mostly the last second. All that follows holds for the part that was read.",
			findings.Evidence{What: "bytes that could not be read", Value: fmt.Sprintf("%s of %s (%s)", findings.Count(f.LostBytes), findings.Count(f.Bytes), findings.Percent(share)), Limit: "0"})
	}
	if len(f.Warnings) > 0 {
		s, text := findings.Note, "reading it gave warnings"
		for i, m := range f.Warnings {
			if i == 3 {
				x.Evidence = append(x.Evidence, findings.Evidence{What: "further warnings", Value: findings.Count(int64(len(f.Warnings) - 3))})
				break
			}
			m, _, _ = strings.Cut(m, "\n")
			e := findings.Evidence{What: "warning", Value: m}
			if i == 0 {
				say(s, text, "", e)
			} else {
				x.Evidence = append(x.Evidence, e)
			}
		}
	}
	if f.Reduced {
		silent := "none"
		if len(f.Silent) > 0 {
			silent = strings.Join(f.Silent, ", ")
		}
		say(findings.Note, "its format is older than Go 1.22 and shows no threads",
			"Record with Go 1.22 or newer: run queues can be rebuilt only from such traces.",
			findings.Evidence{What: "detectors that need run queues and did not judge", Value: silent})
	}
	if f.Starts > 0 && !f.Reduced {
		share := float64(f.Unexplained) / float64(f.Starts)
		if share > w.t.Unexplained && f.Unexplained >= w.t.UnexplainedMin {
			say(findings.Warning, findings.Percent(share)+" of the starts could not be explained",
				"Queue lengths, steals and the causes of waits are less certain where starts are unexplained; a trace with fewer, larger bursts of threads without CPU explains better. If the trace is sound, this is a defect of gmpscope: please report it.",
				findings.Evidence{What: "starts without explanation", Value: fmt.Sprintf("%s of %s (%s)", findings.Count(f.Unexplained), findings.Count(f.Starts), findings.Percent(share)), Limit: findings.Percent(w.t.Unexplained)})
			if w.first >= 0 {
				x.FromNs, x.ToNs = w.first, w.last
				x.Evidence = append(x.Evidence, findings.Evidence{What: "the first of them", Value: "at " + findings.Dur(w.first), Ns: w.first})
			}
		}
	}
	if pt := f.PT(); pt > 0 && f.RecordedNs() >= w.t.TracerMinNs {
		if share := float64(f.TracerNs) / float64(pt); share > w.t.Tracer {
			say(findings.Note, "the tracer took "+findings.Percent(share)+" of the P-time",
				"Write the trace to something fast, use the flight recorder, or annotate fewer regions and logs: what the tracer takes, the program did not get.",
				findings.Evidence{What: "P-time of the tracer's goroutines", Value: findings.Dur(f.TracerNs) + " (" + findings.Percent(share) + ")", Limit: findings.Percent(w.t.Tracer), Ns: f.TracerNs})
		}
	}
	if n := f.Annotations; n > 0 && f.RecordedNs() >= w.t.TracerMinNs {
		if each := f.PT() / n; each < w.t.AnnotationNs {
			say(findings.Note, "the program made a region, task or log for each "+findings.Dur(each)+" of P-time",
				"Annotate what takes tens of microseconds or more, not each small step: making the annotations took a part of the program's own time, and no account shows it apart.",
				findings.Evidence{What: "P-time for each region, task or log", Value: findings.Dur(each), Limit: findings.Dur(w.t.AnnotationNs), Ns: each})
			x.Evidence = append(x.Evidence, findings.Evidence{What: "their share of all events, without the ends of regions and tasks", Value: fmt.Sprintf("%s of %s (%s)", findings.Count(n), findings.Count(f.Events), findings.Percent(float64(n)/float64(max(1, f.Events))))})
		}
	}
	switch {
	case f.RecordedNs() > 0 && f.RecordedNs() < w.t.ShortNs:
		say(findings.Note, "it lasts only "+findings.Dur(f.RecordedNs()),
			"Record some seconds of the load that matters: a few time slices are an anecdote.",
			findings.Evidence{What: "duration", Value: findings.Dur(f.RecordedNs()), Limit: findings.Dur(w.t.ShortNs), Ns: f.RecordedNs()})
	case w.cycles >= 2 && w.slowestGC > 0 && f.RecordedNs() < w.t.Periods*w.slowestGC:
		say(findings.Note, "it covers few GC cycles",
			"Before relying on anything about the garbage collector, record "+findings.Dur(w.t.Periods*w.slowestGC)+" or more.",
			findings.Evidence{What: "duration, in periods of the slowest GC cycle", Value: findings.Number(float64(f.RecordedNs()) / float64(w.slowestGC)), Limit: findings.Count(w.t.Periods)})
	}
	if f.Procs.OmittedPs > 0 {
		say(findings.Note, "it names more Ps than are told apart", "",
			findings.Evidence{What: "Ps without an account", Value: findings.Count(int64(f.Procs.OmittedPs))})
	}
	if len(what) == 0 {
		return nil
	}
	x.Title = "About this trace: " + strings.Join(what, "; ")
	if len(x.Advice) == 0 {
		x.Advice = []string{"Read the warnings, and record again if they matter."}
	}
	return []findings.Finding{x}
}

package tracequality

import (
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

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
	x := findings.Finding{ID: ID, Severity: findings.Note, Basis: findings.Certain, ToNs: f.EndNs}
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
	w.phrase(f, &x, found)
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

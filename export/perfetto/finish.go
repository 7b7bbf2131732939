package perfetto

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/export"
)

// Finish writes the open run intervals, the findings, and the description of the trace,
// and completes the file.
func (w *Writer) Finish(res *analyze.Result) error {
	if err := w.findings(res.Findings); err != nil {
		return err
	}
	if err := w.about(res); err != nil {
		return err
	}
	return w.out.w.Flush()
}

// findings writes a slice for each finding. Slices of one track have to be nested: what is
// not gets another one of the same name, which are shown as one.
func (w *Writer) findings(list []findings.Finding) error {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(x, y findings.Finding) int { return cmp.Compare(x.FromNs, y.FromNs) })
	type lane struct {
		track uint64
		until int64
	}
	lanes := []lane{{track: findingsTrack}}
	for i := range list {
		f := &list[i]
		free := slices.IndexFunc(lanes, func(l lane) bool { return l.until <= f.FromNs })
		if free < 0 {
			free = len(lanes)
			lanes = append(lanes, lane{track: w.newTrack()})
			if err := w.out.describe(&descriptor{uuid: lanes[free].track, name: "findings"}); err != nil {
				return err
			}
		}
		lanes[free].until = f.ToNs
		if err := w.finding(f, lanes[free].track); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) finding(f *findings.Finding, on uint64) error {
	texts := []note{{"title", f.Title.String()}, {"severity", string(f.Severity)}, {"basis", f.Basis}}
	for i, s := range export.Evidence(f) {
		texts = append(texts, note{fmt.Sprintf("evidence %d", i+1), s})
	}
	for i, s := range f.Advice {
		texts = append(texts, note{fmt.Sprintf("advice %d", i+1), s.String()})
	}
	if err := w.texts(texts); err != nil {
		return err
	}
	cost, err := w.annotation("cost_ns")
	if err != nil {
		return err
	}
	w.out.noteInt(cost, f.CostNs)
	return w.slice(&event{at: f.FromNs, kind: sliceBegin, track: on, name: f.ID}, f.ToNs)
}

// about writes what the trace is.
func (w *Writer) about(res *analyze.Result) error {
	var texts []note
	for i, s := range export.Comments(res) {
		texts = append(texts, note{fmt.Sprintf("line %d", i+1), s})
	}
	if w.left > 0 {
		texts = append(texts, note{"left out", "run intervals on further Ps and threads"})
	}
	if err := w.texts(texts); err != nil {
		return err
	}
	return w.slice(&event{at: res.BeginNs(), kind: sliceBegin, track: traceTrack, name: export.Shown(res.Trace.Name)}, res.EndNs())
}

// note is an annotation.
type note struct{ name, text string }

// texts notes annotations of the next event.
func (w *Writer) texts(notes []note) error {
	for _, n := range notes {
		iid, err := w.annotation(n.name)
		if err != nil {
			return err
		}
		w.out.noteString(iid, export.Shown(n.text))
	}
	return nil
}

// annotation returns the number of the name of annotations.
func (w *Writer) annotation(name string) (uint64, error) {
	if iid, ok := w.annotations[name]; ok {
		return iid, nil
	}
	iid := uint64(len(w.annotations) + 1)
	w.annotations[name] = iid
	return iid, w.out.intern(internedAnnotationNames, iid, name)
}

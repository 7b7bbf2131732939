package perfetto

import (
	"cmp"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/export"
)

// Finish writes the open run intervals, the findings, and the description of the trace,
// and completes the file.
func (w *Writer) Finish(res *analyze.Result) error {
	w.findings(res.Findings)
	w.about(res)
	return w.out.w.Flush()
}

// findings writes a slice for each finding. Slices of one track have to be nested: what is
// not gets another one of the same name, which are shown as one.
func (w *Writer) findings(list []findings.Finding) {
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
			w.out.describe(&descriptor{uuid: lanes[free].track, name: "findings"})
		}
		lanes[free].until = f.ToNs
		w.finding(f, lanes[free].track)
	}
}

func (w *Writer) finding(f *findings.Finding, on uint64) {
	w.noteText("title", f.Title.String())
	w.noteText("severity", string(f.Severity))
	w.noteText("basis", f.Basis)
	for i, s := range export.Evidence(f) {
		w.noteText(fmt.Sprintf("evidence %d", i+1), s)
	}
	for i, s := range f.Advice {
		w.noteText(fmt.Sprintf("advice %d", i+1), s.String())
	}
	w.noteInt("cost_ns", f.CostNs)
	w.slice(&event{at: f.FromNs, kind: sliceBegin, track: on, name: f.ID}, f.ToNs)
}

func (w *Writer) about(res *analyze.Result) {
	for i, s := range export.Comments(res) {
		w.noteText(fmt.Sprintf("line %d", i+1), s)
	}
	if w.left > 0 {
		w.noteText("left out", "run intervals on further Ps and threads")
	}
	w.slice(&event{at: res.BeginNs(), kind: sliceBegin, track: traceTrack, name: export.Shown(res.Trace.Name)}, res.EndNs())
}

// noteInt notes an annotation of the next event.
func (w *Writer) noteInt(name string, v int64) {
	w.out.note(appendUint(w.annotation(name), annotationInt, uint64(v)))
}

func (w *Writer) noteText(name, text string) {
	w.out.note(appendString(w.annotation(name), annotationString, export.Shown(text)))
}

// annotation begins an annotation of that name.
func (w *Writer) annotation(name string) []byte {
	iid := intern(&w.out, w.annotations, internedAnnotationNames, name, func() string { return name })
	return appendUint(w.out.head[:0], annotationNameIID, iid)
}

// intern returns the number of a name, and writes it when it comes up first.
func intern[K comparable](out *packets, numbers map[K]uint64, field protowire.Number, k K, name func() string) uint64 {
	iid, ok := numbers[k]
	if !ok {
		iid = uint64(len(numbers) + 1)
		numbers[k] = iid
		out.intern(field, iid, name())
	}
	return iid
}

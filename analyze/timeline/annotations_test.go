package timeline

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/reference"
)

var notes = Names{Frames: noNames.Frames, Note: func(h int32) string { return fmt.Sprintf("n%d", h) }}

// annotated is the result of decisions that annotate.
func annotated(end int64, ds ...reference.Decision) Result {
	a := New(Options{})
	b := &ledger.Block{Decisions: ds}
	ledger.New().Annotate(b)
	a.Add(b, nil, 0)
	return a.Finish(end, notes)
}

// TestAnnotations has tasks and regions that end, that do not, that end with their goroutine,
// and that began before the trace.
func TestAnnotations(t *testing.T) {
	d := func(at int64, k reference.Kind, g, task int64, label int32) reference.Decision {
		return reference.Decision{Time: at, Kind: k, G: g, By: task, Label: label}
	}
	exit := d(90, reference.KindStop, 2, 0, 0)
	exit.Why, exit.P = reference.WhyExit, reference.NoP
	r := annotated(100,
		d(5, reference.KindRegionEnd, 1, 0, 9),
		d(10, reference.KindTaskBegin, 1, 77, 1),
		d(20, reference.KindRegionBegin, 1, 77, 2),
		d(30, reference.KindRegionBegin, 1, 0, 3),
		d(40, reference.KindRegionEnd, 1, 0, 3),
		d(50, reference.KindRegionEnd, 1, 77, 2),
		d(60, reference.KindRegionBegin, 2, 77, 2),
		d(70, reference.KindTaskEnd, 3, 77, 1),
		exit,
		d(95, reference.KindTaskBegin, 4, 78, 1),
	)
	want := []string{
		"G1 10-70 n1 task", "G1 20-50 n2 of n1", "G1 30-40 n3 in 1", "G2 60-90 n2 of n1", "G4 95-100 n1 task",
	}
	var got []string
	for _, x := range r.Windows[0].Annotations {
		s := fmt.Sprintf("G%d %d-%d %s", x.G, x.From, x.To, r.Annotations[x.Name])
		if x.Task {
			s += " task"
		}
		if x.Of > 0 {
			s += " of " + r.Annotations[x.Of]
		}
		if x.Depth > 0 {
			s += fmt.Sprintf(" in %d", x.Depth)
		}
		got = append(got, s)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestAnnotationsAreBounded has more regions, and names, than are kept: the longest stay, and
// the others are counted.
func TestAnnotationsAreBounded(t *testing.T) {
	var ds []reference.Decision
	const n = 3 * windowArrows
	at := int64(0)
	for i := range int64(n) {
		ds = append(ds, reference.Decision{Time: at, Kind: reference.KindRegionBegin, G: 1, Label: 1 + int32(i%1000)})
		at += 1 + i
		ds = append(ds, reference.Decision{Time: at, Kind: reference.KindRegionEnd, G: 1, Label: 1 + int32(i%1000)})
	}
	for range maxNested + 5 {
		ds = append(ds, reference.Decision{Time: at, Kind: reference.KindRegionBegin, G: 2, Label: 1})
	}
	r := annotated(at+1000*n, ds...)
	w := r.Windows[0]
	if len(w.Annotations) != windowArrows || w.MoreAnnotations != n+maxNested-windowArrows || len(r.Annotations) != maxNames {
		t.Errorf("%d kept, %d left out, %d names", len(w.Annotations), w.MoreAnnotations, len(r.Annotations))
	}
	for _, x := range w.Annotations {
		if x.To-x.From < n-windowArrows {
			t.Fatalf("%+v is kept, and longer ones are not", x)
		}
	}
}

package html

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/report"
)

// gapDoc is of one P that was idle, not recorded, and busy: a quarter, a half, a quarter.
func gapDoc() *report.Document {
	doc := fakeDoc(1, 4)
	r := doc.Result
	const ms = 1_000_000
	r.Trace.DurationNs, r.Trace.LostNs, r.Trace.GOMAXPROCS = 4*ms, 2*ms, 1
	r.Procs.Ps = []procs.Proc{{LifetimeNs: 4 * ms, IdleNs: ms, RunningNs: ms, NotRecordedNs: 2 * ms}}
	series := timeline.Series{Mean: []float32{1, 0, 0, 2}, Max: []int32{1, 0, 0, 2}}
	none := make([]uint8, 4)
	r.Timeline = timeline.Result{
		BinNs: ms, Bins: 4, EndNs: 4 * ms, Global: series, Runnable: series, IdleP: series, Missed: series.Mean,
		Steals: make([]int32, 4), Retakes: make([]int32, 4), Handoffs: make([]int32, 4), Preemptions: make([]int32, 4),
		Lanes: []timeline.Lane{{
			User: []uint8{0, 0, 0, 255}, System: none, GC: none, Syscall: none, Sched: none, Stopped: none,
			Queue: series, NotRecorded: []uint8{0, 255, 255, 0},
		}},
		NotRecorded: []timeline.Span{{From: ms, To: 3 * ms, Name: "not recorded"}},
		Windows: []timeline.Window{{FromNs: 0, ToNs: 4 * ms, Intervals: []timeline.PInterval{
			{From: 0, To: ms, State: timeline.Idle, G: -1}, {From: ms, To: 3 * ms, State: timeline.NotRecorded, G: -1}, {From: 3 * ms, To: 4 * ms, State: timeline.User, G: 1},
		}}},
	}
	r.Findings = []findings.Finding{{ID: "convoy", Severity: findings.Warning, FromNs: 0, ToNs: 4 * ms}}
	return doc
}

func plainSpaces(s string) string { return strings.ReplaceAll(s, "\u00a0", " ") }

// What is not recorded is hatched, has an entry in the legends, and no share is of it.
func TestGapIsHatched(t *testing.T) {
	d := gapDoc()
	r := d.Result
	ps := report.ProcessorsSection(r).Blocks
	if want := "Of CPU capacity (Ps × time), 50 % ran the program, 0 % the garbage collector, 50 % was idle."; plainSpaces(ps[0].(doc.Para).Text) != want {
		t.Errorf("%q, want %q", ps[0], want)
	}
	entry := legendItem{"gap", "not recorded"}
	v := newTime(r)
	pic := newPicture(r, &r.Findings[0])
	each := ps[1].(doc.Fold).Blocks
	var account []legendItem
	for _, p := range each[0].(doc.Legend) {
		account = append(account, legendItem{p.Key, p.Title})
	}
	for what, legend := range map[string][]legendItem{"account": account, "timeline": v.States, "picture": pic.Legend} {
		if !slices.Contains(legend, entry) {
			t.Errorf("the legend of the %s is %v", what, legend)
		}
	}
	first := each[1].(doc.Table).Rows[1]
	at := slices.Index(report.StateKeys[:], "gap")
	if c := first.Cells[1:]; plainSpaces(c[at].Text) != "2 ms" || plainSpaces(c[slices.Index(report.StateKeys[:], "idle")].Text) != "50 %" {
		t.Errorf("cells: %+v", c)
	}
	for what, svg := range map[string]string{"bar": string(newCell(first.Cells[0], nil, true).Bars[0]), "lanes": string(v.SVG), "lines": string(v.SeriesSVG), "picture": string(pic.SVG)} {
		if !strings.Contains(svg, `class="f-gap"`) {
			t.Errorf("the %s have no gap: %s", what, svg)
		}
	}
	p, err := packTimeline(r, detail{cells: maxCells, windows: maxWindows, page: io.Discard}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := int(packedState(timeline.NotRecorded)); len(p.States) != n+1 || p.States[n] != entry || len(p.Gaps) != 1 {
		t.Errorf("states %v, gaps %v", p.States, p.Gaps)
	}
	if !slices.ContainsFunc(p.Arrays, func(a packedArray) bool { return a.Name == "0.gap" }) {
		t.Errorf("arrays: %v", p.Arrays)
	}
	page := plainSpaces(write(t, d, Options{}))
	for _, s := range []string{`<pattern id="hatch"`, "2 ms of it was not recorded"} {
		if !strings.Contains(page, s) {
			t.Errorf("the page lacks %q", s)
		}
	}
	whole := fakeDoc(1, 4)
	for i := range whole.Result.Waits.Worst {
		whole.Result.Waits.Worst[i].AheadFromNs = whole.Result.Waits.Worst[i].FromNs
	}
	if sound := write(t, whole, Options{}); strings.Contains(sound, `<pattern id="hatch"`) || strings.Contains(sound, `class="f-gap"`) {
		t.Error("the page of a sound trace has a gap")
	}
}

// Where a point of a chart stands for several bins, those that are not recorded have no
// part in it, and one of none but such is no point.
func TestGapHasNoMean(t *testing.T) {
	d := gapDoc()
	r := d.Result
	if got, want := rebin(r.Timeline.Runnable.Mean, recorded(&r.Timeline), 2), []float64{1, 2}; !slices.Equal(got, want) {
		t.Errorf("means %v, want %v", got, want)
	}
	ls := timeLines(r.Timeline, 4)
	if svg := string(linesSVG(ls[:1], scaleOf(ls), &r.Timeline)); strings.Count(svg, "<polyline") != 2 {
		t.Errorf("the curve is drawn through the gap: %s", svg)
	}
}

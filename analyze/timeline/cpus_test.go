package timeline

import (
	"fmt"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/reference"
)

func process(name int32) string { return fmt.Sprintf("p%d", name) }

// TestCPUsAreBounded has more switches, CPUs and names than are kept.
func TestCPUsAreBounded(t *testing.T) {
	const (
		step = 1000
		n    = 3 * ringCPUs
	)
	a := New(Options{})
	var end int64
	for i := range n {
		from := int64(i) * step
		end = from + step
		a.ObserveCPUs(&ledger.CPUs{
			On:  []ledger.OnCPU{{From: from, To: end, CPU: int32(i % (maxCPULanes + 5)), Name: int32(1 + i%1000), Who: ledger.OnOther}},
			Off: []ledger.OffCPUSpan{{From: from, To: from + step/2, P: 2, CPU: 1, Why: ledger.LackTurn}},
		})
	}
	a.Add(&ledger.Block{Decisions: []reference.Decision{{Time: end, Kind: reference.KindGCBegin}}, Notes: make([]ledger.Note, 1)}, nil, 0)
	a.Keep(end-10_000*step, end, "late")
	a.Keep(0, 1000*step, "early")
	r := a.Finish(end, Names{Frames: noNames.Frames, Process: process})
	if len(r.CPUs.Lanes) != maxCPULanes || r.CPUs.OmittedCPUs != 5 {
		t.Errorf("%d lanes, %d left out", len(r.CPUs.Lanes), r.CPUs.OmittedCPUs)
	}
	if len(r.CPUs.Processes) != maxProcesses {
		t.Errorf("%d names", len(r.CPUs.Processes))
	}
	if cells := (3*len(r.CPUs.Lanes) + len(r.CPUs.Off)) * r.CPUs.Bins; cells > 2*DefaultMaxCells {
		t.Errorf("%d cells", cells)
	}
	off := 0
	for _, v := range r.CPUs.Off[0].Off {
		off += int(v)
	}
	if mean := float64(off) / float64(r.CPUs.Bins) / 255; mean < 0.48 || mean > 0.52 {
		t.Errorf("P2 was off the CPUs for %.3f of its time, want half", mean)
	}
	for i := range r.Windows {
		w := &r.Windows[i]
		if len(w.OnCPU) > wholeDepths/2 || len(w.OffCPU) > wholeDepths/2 {
			t.Errorf("%s: %d stretches on, %d off", w.Title, len(w.OnCPU), len(w.OffCPU))
		}
		for _, x := range w.OnCPU {
			if x.From < w.CPUsFromNs || x.To > w.ToNs {
				t.Fatalf("%+v in [%d, %d]", x, w.CPUsFromNs, w.ToNs)
			}
		}
		if got, want := int64(len(w.OnCPU))*step, (w.ToNs-w.CPUsFromNs)*maxCPULanes/(maxCPULanes+5); got < want-20*step || got > want+20*step {
			t.Errorf("%s: %d ns on CPUs from %d on, want about %d", w.Title, got, w.CPUsFromNs, want)
		}
	}
	if len(r.Windows) == 0 {
		t.Error("no window")
	}
}

// TestLateCPU has a CPU of which nothing was known when a window was cut out: it is not idle
// there.
func TestLateCPU(t *testing.T) {
	a := New(Options{})
	a.whole = -1 // no window of all
	block := func(at int64, c ledger.CPUs, marks ...Marked) {
		a.Add(&ledger.Block{Decisions: []reference.Decision{{Time: at, Kind: reference.KindGCBegin}}, Notes: make([]ledger.Note, 1), CPUs: c}, nil, 0, marks...)
	}
	block(1000, ledger.CPUs{OpenOn: []ledger.OnCPU{{From: 0, To: 1000, CPU: 0}}}, Marked{From: 500, To: 1000, Title: "x"})
	block(9000, ledger.CPUs{OpenOn: []ledger.OnCPU{{From: 0, To: 9000, CPU: 0}}})
	block(10_000, ledger.CPUs{On: []ledger.OnCPU{{From: 0, To: 10_000, CPU: 0}, {From: 0, To: 10_000, CPU: 3, Name: 7, Who: ledger.OnOther}}})
	r := a.Finish(10_000, Names{Frames: noNames.Frames, Process: process})
	if len(r.Windows) != 1 {
		t.Fatalf("%d windows", len(r.Windows))
	}
	w := r.Windows[0]
	want := []OnCPU{{CPU: 0, From: w.FromNs, To: w.ToNs}, {CPU: 3, From: w.FromNs, To: w.ToNs, Process: processUnknown}}
	if len(w.OnCPU) != 2 || w.OnCPU[0] != want[0] || w.OnCPU[1] != want[1] {
		t.Errorf("%+v, want %+v", w.OnCPU, want)
	}
}

package html

import (
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/report"
)

// withCPUs gives the timeline of a document CPUs, on which others have hostile names, and time
// off them.
func withCPUs(doc *report.Document, cpus int) *report.Document {
	rnd := rand.New(rand.NewPCG(3, 4))
	t := &doc.Result.Timeline
	c := &timeline.CPUs{BinNs: t.BinNs, Bins: t.Bins, Processes: append([]string{"this program", "not known", "(others)"}, hostileNames...)}
	row := func(most int) []uint8 {
		out := make([]uint8, t.Bins)
		for i := range out {
			out[i] = uint8(rnd.IntN(most))
		}
		return out
	}
	for i := range cpus {
		c.Lanes = append(c.Lanes, timeline.CPULane{CPU: int32(i), Program: row(120), Others: row(100), Unknown: row(20)})
	}
	for _, l := range t.Lanes {
		c.Off = append(c.Off, timeline.POff{P: l.P, Off: row(90)})
	}
	t.CPUs = c
	for i := range t.Windows {
		w := &t.Windows[i]
		w.CPUsFromNs = w.FromNs
		for cpu := range cpus {
			for at := w.FromNs; at < w.ToNs; {
				to := min(at+int64(20_000+rnd.IntN(2_000_000)), w.ToNs)
				x := timeline.OnCPU{CPU: int32(cpu), From: at, To: to, Process: int32(rnd.IntN(len(c.Processes)))}
				if x.Process%2 == 0 {
					x.Process, x.M = 0, 1000+int64(rnd.IntN(7))
				}
				w.OnCPU = append(w.OnCPU, x)
				at = to + int64(rnd.IntN(100_000))
			}
		}
		for _, s := range w.Intervals {
			if n := s.To - s.From; s.G > 0 && n > 30_000 {
				w.OffCPU = append(w.OffCPU, timeline.OffCPU{P: s.P, From: s.From + n/3, To: s.From + n/2, CPU: int32(rnd.IntN(cpus+1)) - 1, Why: lacks[rnd.IntN(len(lacks))].why})
			}
		}
	}
	return doc
}

// TestCPUsArePacked has the CPUs in the data of the timeline, by number, and none without
// records of the kernel's.
func TestCPUsArePacked(t *testing.T) {
	doc := fakeDoc(2, 50)
	plain := write(t, doc, Options{})
	for _, s := range []string{`"cpus":`, "w0.on.cpu", "cpu0.program", "another program, or a thread without goroutines", "gms.cpus = "} {
		if strings.Contains(plain, s) {
			t.Errorf("the page without records has %q", s)
		}
	}
	withCPUs(doc, 3)
	p, err := packTimeline(doc.Result, detail{cells: maxCells, windows: maxWindows, page: io.Discard}, doc.Names())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(p.CPUs.CPUs, []int32{0, 1, 2}) || len(p.CPUs.Off) != 2 || len(p.CPUs.Processes) != 3+len(hostileNames) || len(p.CPUs.Lacks) != len(lacks) {
		t.Errorf("%+v", p.CPUs)
	}
	lens := map[string]int{}
	for _, a := range p.Arrays {
		lens[a.Name] = a.Len
	}
	w := doc.Result.Timeline.Windows[0]
	if lens["w0.on.cpu"] != len(w.OnCPU) || lens["w0.off.why"] != len(w.OffCPU) || lens["cpu2.others"] != 50 || lens["off1"] != 50 {
		t.Errorf("arrays: %v", lens)
	}
	few, err := packTimeline(doc.Result, detail{cells: 100, windows: 0, page: io.Discard}, doc.Names())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range few.Arrays {
		if a.Name == "cpu2.others" && a.Len > 10 {
			t.Errorf("%d bins of 11 rows, for 100 cells", a.Len)
		}
	}
	page := write(t, doc, Options{})
	for _, s := range []string{"another program, or a thread without goroutines", "gms.cpus = ", `"lacks":`} {
		if !strings.Contains(page, s) {
			t.Errorf("the page lacks %q", s)
		}
	}
}

//go:build browser

package html

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/kernel"
	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/internal/browsertest"
	"github.com/gmpscope/gmpscope/report"
)

// kernelDoc is the report of a recording with the kernel's records.
func kernelDoc(t *testing.T, name string) *report.Document {
	t.Helper()
	dir := filepath.Join("..", "..", "testdata", "kernel")
	f, err := os.Open(filepath.Join(dir, name+".ftrace.zst"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := kernel.New(f, name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	res, err := analyze.File(t.Context(), filepath.Join(dir, name+".trace.zst"), analyze.Options{Kernel: r})
	if err != nil {
		t.Fatal(err)
	}
	return report.Build(res, "test")
}

// TestBrowserCPUs has a lane for each CPU: what the pointer tells of who had it is what the
// records say, and so is what the details tell of a run interval that lacked a CPU.
func TestBrowserCPUs(t *testing.T) {
	doc := kernelDoc(t, "neighbour")
	tl := &doc.Result.Timeline
	w := &tl.Windows[0]
	var other, own *timeline.OnCPU
	for i := range w.OnCPU {
		x := &w.OnCPU[i]
		if x.Process > 2 && (other == nil || x.To-x.From > other.To-other.From) {
			other = x
		}
		if x.Process == 0 && (own == nil || x.To-x.From > own.To-own.From) {
			own = x
		}
	}
	var off *timeline.OffCPU
	for i := range w.OffCPU {
		if x := &w.OffCPU[i]; x.Why == "turn" && (off == nil || x.To-x.From > off.To-off.From) {
			off = x
		}
	}
	if other == nil || own == nil || off == nil {
		t.Fatal("the recording has nobody else on a CPU")
	}
	file := writePage(t, doc, Options{})
	p := browsertest.Start(t).Open(t, file, fmt.Sprintf("t=%d-%d", off.From-5_000_000, off.To+5_000_000), browsertest.View{Width: 1280, Height: 900})
	p.Wait(`document.documentElement.dataset.timeline === "ready"`)
	for _, v := range []browsertest.View{{Width: 1280, Height: 900}, {Width: 390, Height: 800, Dark: true}} {
		look(p, v)
		p.Screenshot(fmt.Sprintf("cpus-%d", v.Width), false)
		point := func(from, to int64, cpu int32) string {
			return browsertest.Eval[string](p, fmt.Sprintf(`(() => {
				gms.view.set(%[1]d - 1e5, %[2]d + 1e5);
				const c = document.getElementById("tl-canvas"), r = c.getBoundingClientRect(), y = gms.timeline.under + 14 + gms.timeline.D.cpus.ids.indexOf(%[3]d) * (r.height - gms.timeline.under - 18) / gms.timeline.D.cpus.ids.length;
				c.dispatchEvent(new PointerEvent("pointermove", { clientX: r.left + 52 + (r.width - 62) / 2, clientY: r.top + y, pointerId: 1 }));
				return document.getElementById("tl-tip").textContent;
			})()`, from, to, cpu))
		}
		if got := point(other.From, other.To, other.CPU); !strings.Contains(got, tl.CPUs.Processes[other.Process]) || !strings.Contains(got, fmt.Sprintf("CPU %d", other.CPU)) {
			t.Errorf("of another program: %q", got)
		}
		if got := point(own.From, own.To, own.CPU); !strings.Contains(got, "this program") || !strings.Contains(got, fmt.Sprintf("M%d", own.M)) {
			t.Errorf("of this program: %q, want M%d", got, own.M)
		}
		got := browsertest.Eval[string](p, fmt.Sprintf(`(() => {
			const tl = gms.timeline, A = tl.arrays();
			tl.visit(() => tl.show({ win: 0, i: A["w0.p"].findIndex((p, i) => p === %d && A["w0.from"][i] + tl.D.windows[0].f <= %d && A["w0.from"][i] + A["w0.len"][i] + tl.D.windows[0].f >= %d) }));
			return document.getElementById("tl-details").textContent;
		})()`, off.P, off.From, off.To))
		if !strings.Contains(got, "Off the CPUs") || !strings.Contains(got, "its CPU ran another thread") {
			t.Errorf("details: %q", got)
		}
		p.Screenshot(fmt.Sprintf("cpus-off-%d", v.Width), false)
		if w := browsertest.Eval[int](p, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); w > 0 {
			t.Errorf("the page is %d px wider than the window", w)
		}
	}
	p.Check()
}

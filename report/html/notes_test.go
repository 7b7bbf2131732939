//go:build browser

package html

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/internal/browsertest"
)

// TestBrowserAnnotations reads a task and a region in the lane of a goroutine, and in the
// details of a run interval.
func TestBrowserAnnotations(t *testing.T) {
	doc := fakeDoc(2, 100)
	r := &doc.Result.Timeline
	r.Annotations = []string{"(others)", "render", "checkout <b>"}
	w := &r.Windows[0]
	var run *timeline.PInterval
	for i := range w.Intervals {
		if s := &w.Intervals[i]; s.G > 0 && (run == nil || s.To-s.From > run.To-run.From) {
			run = s
		}
	}
	middle := (run.From + run.To) / 2
	w.Annotations = []timeline.Annotation{
		{G: run.G, From: w.FromNs, To: w.ToNs, Name: 2, Task: true}, {G: run.G, From: run.From, To: run.To, Name: 1, Of: 2},
		{G: run.G + 1, From: w.FromNs, To: w.ToNs, Name: 1},
	}
	w.MoreAnnotations = 3
	p := browsertest.Start(t).Open(t, writePage(t, doc, Options{}), fmt.Sprintf("t=%d-%d&lanes=g", run.From, run.To), browsertest.View{Width: 1280, Height: 1000})
	p.Wait(`document.documentElement.dataset.timeline === "ready" && gms.timeline.lanes.includes(` + itoa(run.G) + `)`)
	for _, v := range []browsertest.View{{Width: 1280, Height: 1000}, {Width: 390, Height: 800, Dark: true}} {
		look(p, v)
		tip := browsertest.Eval[string](p, fmt.Sprintf(`(() => {
			const tl = gms.timeline, c = document.getElementById("tl-canvas"), r = c.getBoundingClientRect();
			tl.draw();
			const y = tl.under - 6 - (Math.max(tl.lanes.length, 2) - tl.lanes.indexOf(%d)) * tl.laneHeight + 8;
			c.dispatchEvent(new PointerEvent("pointermove", { clientX: r.left + 52 + (r.width - 62) / 2, clientY: r.top + y, pointerId: 1 }));
			return document.getElementById("tl-tip").textContent;
		})()`, run.G))
		details := browsertest.Eval[string](p, fmt.Sprintf(`(() => {
			const tl = gms.timeline, A = tl.arrays();
			tl.visit(() => tl.show({ win: 0, i: A["w0.g"].findIndex((g, i) => g === %d && A["w0.from"][i] + tl.D.windows[0].f <= %d && A["w0.from"][i] + A["w0.len"][i] + tl.D.windows[0].f >= %[2]d) }));
			return document.getElementById("tl-details").textContent;
		})()`, run.G, middle))
		for what, got := range map[string]string{"tooltip": tip, "details": details} {
			if !strings.Contains(got, "checkout <b>") || !strings.Contains(got, "render, ") || !strings.Contains(got, "for the task checkout <b>") {
				t.Errorf("%s: %q", what, got)
			}
		}
		p.Screenshot(fmt.Sprintf("notes-%d", v.Width), false)
		if w := browsertest.Eval[int](p, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); w > 0 {
			t.Errorf("the page is %d px wider than the window", w)
		}
	}
	p.Check()
}

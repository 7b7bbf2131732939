//go:build browser

package html

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/internal/browsertest"
)

// longest returns the keys of the run intervals of w whose values sum up to most, at most 40, the
// largest first.
func longest(w *timeline.Window, key func(s *timeline.PInterval) int64, value func(s *timeline.PInterval) float64) []int64 {
	sums := map[int64]float64{}
	for i := range w.Intervals {
		if s := &w.Intervals[i]; key(s) > 0 {
			sums[key(s)] += value(s)
		}
	}
	var out []int64
	for k := range sums {
		out = append(out, k)
	}
	slices.SortFunc(out, func(x, y int64) int { return cmp.Or(cmp.Compare(sums[y], sums[x]), cmp.Compare(x, y)) })
	out = out[:min(len(out), 40)]
	return out
}

// TestBrowserLanes gives lanes to goroutines and threads, finds a run interval in one of
// them, and goes back to the Ps.
func TestBrowserLanes(t *testing.T) {
	doc := fakeDoc(4, 300)
	w := &doc.Result.Timeline.Windows[0]
	p := browsertest.Start(t).Open(t, writePage(t, doc, Options{}), fmt.Sprintf("t=%d-%d", w.FromNs, w.ToNs), browsertest.View{Width: 1280, Height: 1200})
	p.Wait(`document.documentElement.dataset.timeline === "ready"`)
	ran := func(s *timeline.PInterval) float64 { return float64(s.To - s.From) }
	lost := func(s *timeline.PInterval) float64 { return max(float64(s.Wait), 0) + ran(s)/1e6 }
	choose := func(mode string) []int64 {
		t.Helper()
		browsertest.Eval[bool](p, fmt.Sprintf(`(() => { const s = document.getElementById("tl-lanes"); s.value = %q; s.dispatchEvent(new Event("change")); return true })()`, mode))
		p.Screenshot("lanes-"+mode, false)
		return browsertest.Eval[[]int64](p, `Array.from(gms.timeline.lanes)`)
	}
	if got, want := choose("m"), slices.Sorted(slices.Values(longest(w, func(s *timeline.PInterval) int64 { return s.M }, ran))); !slices.Equal(got, want) {
		t.Errorf("lanes of threads %v, want %v", got, want)
	}
	gs := choose("g")
	if want := longest(w, func(s *timeline.PInterval) int64 { return s.G }, lost); !slices.Equal(gs, want) {
		t.Errorf("lanes of goroutines %v, want %v", gs, want)
	}

	// Enter shows what the goroutine of the lane does in the middle; a full stop goes on in its lane.
	var at *timeline.PInterval
	for i := range w.Intervals {
		if s := &w.Intervals[i]; slices.Contains(gs, s.G) && s.To-s.From > 1_000_000 && at == nil {
			at = s
		}
	}
	browsertest.Eval[bool](p, fmt.Sprintf(`(() => { const c = document.getElementById("tl-canvas"), r = c.getBoundingClientRect(), share = (%d - gms.view.from) / (gms.view.to - gms.view.from);
		const x = r.left + 52 + share * (r.width - 62), y = r.bottom - (gms.timeline.lanes.length - gms.timeline.lanes.indexOf(%d)) * gms.timeline.laneHeight - 24 + 8;
		c.setPointerCapture = () => {};
		for (const type of ["pointerdown", "pointerup"]) c.dispatchEvent(new PointerEvent(type, { pointerId: 1, clientX: x, clientY: y, bubbles: true })); return true })()`, (at.From+at.To)/2, at.G))
	type run struct {
		G, P int64
		From float64
	}
	now := browsertest.Eval[run](p, `(({ g, p, from }) => ({ G: g, P: p, From: from }))(gms.timeline.stint(gms.timeline.picked))`)
	if now.G != at.G || int64(now.From) != at.From || now.P != int64(at.P) {
		t.Errorf("a click into the lane of G%d at %d shows %+v", at.G, at.From, now)
	}
	p.Focus("#tl-canvas")
	p.Type(".")
	if next := browsertest.Eval[run](p, `(({ g, p, from }) => ({ G: g, P: p, From: from }))(gms.timeline.stint(gms.timeline.picked))`); next.G != at.G {
		t.Errorf("the next run interval in the lane of G%d is G%d's", at.G, next.G)
	}
	p.Wait(`location.hash.includes("lanes=g")`)
	steps := browsertest.Eval[int](p, `(async () => {
		let n = 0;
		for (; location.hash.includes("lanes=") && n < 9; n++) await new Promise(r => { addEventListener("popstate", r, { once: true }); history.back(); });
		return n;
	})()`)
	if steps < 3 {
		t.Errorf("%d steps back from a run interval, by the goroutines and the threads, to the Ps", steps)
	}
	p.Wait(`gms.timeline.lanes.length === 4`)

	// A goroutine opens with its states, exact or not, and one that is not kept with the command that shows it.
	life := func(g int64) string {
		browsertest.Eval[bool](p, fmt.Sprintf(`(location.hash = "#life=%d", true)`, g))
		p.Wait(fmt.Sprintf(`document.querySelector("#tl-details h3") && document.querySelector("#tl-details h3").textContent.startsWith("G%d ")`, g))
		return text(p, "#tl-details")
	}
	if got := life(at.G); !strings.Contains(got, "states") || !strings.Contains(got, "program on P") {
		t.Errorf("the life of G%d: %q", at.G, got)
	}
	if got := life(999_999); !strings.Contains(got, "outside the detailed windows") || !strings.Contains(got, "--goroutine 999999") {
		t.Errorf("of a goroutine that is not kept: %q", got)
	}
	if got := life(7); !strings.Contains(got, "waiting for a lock") {
		t.Errorf("of a goroutine whose unit was slow: %q", got)
	}
	p.Check()
}

//go:build browser

package html

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gmpscope/gmpscope/internal/browsertest"
)

// panning drags the timeline to and fro for some seconds, a step a frame, and
// counts the frames. Before, it makes all charts and zooms to the middle half.
const panning = `(async () => {
	const frame = () => new Promise(requestAnimationFrame), c = document.getElementById("tl-canvas");
	for (const f of document.querySelectorAll("figure[data-chart]")) {
		f.scrollIntoView();
		for (let i = 0; i < 50 && !gms.charts?.some(l => f.contains(l.div)); i++) await new Promise(r => setTimeout(r, 20));
	}
	document.getElementById("timeline").scrollIntoView();
	gms.view.set(gms.view.end / 4, gms.view.end * 3 / 4);
	await new Promise(r => setTimeout(r, 500));
	c.setPointerCapture = () => {};
	const r = c.getBoundingClientRect(), middle = r.left + r.width / 2;
	const send = (type, x) => c.dispatchEvent(new PointerEvent(type, { pointerId: 1, clientX: x, clientY: r.top + 100, bubbles: true }));
	send("pointerdown", middle);
	await frame();
	const began = performance.now(), gaps = [];
	for (let i = 0, last = began; last - began < %d; i++) {
		send("pointermove", middle + 150 * Math.sin(i / 20));
		await frame();
		const now = performance.now();
		gaps.push(now - last);
		last = now;
	}
	send("pointerup", middle);
	return { Frames: gaps.length / (performance.now() - began) * 1000, Longest: Math.max(...gaps) };
})()`

// opening is the longest task until the timeline was ready, ms; 0 if none took 50 ms.
const opening = `new Promise(done => {
	new PerformanceObserver(l => done(Math.max(...l.getEntries().map(e => e.duration)))).observe({ type: "longtask", buffered: true });
	setTimeout(done, 1000, 0);
})`

// TestBrowserFrames measures how smoothly the timeline of a report moves, and how long
// the browser is busy at a time while it opens: of the reports that REPORTS names, or of a
// made one. The times are figures, no bounds: see scripts/frames.
func TestBrowserFrames(t *testing.T) {
	files := filepath.SplitList(os.Getenv("REPORTS"))
	ms := 3000
	if len(files) == 0 {
		files, ms = []string{writePage(t, withCPUs(fakeDoc(64, 2000), 16), Options{ECharts: browserScript(t)})}, 300
	}
	b := browsertest.Start(t)
	for _, file := range files {
		p := b.Open(t, file, "", browsertest.View{Width: 1400, Height: 900})
		p.Wait(`document.documentElement.dataset.timeline === "ready"`)
		longest, ready := browsertest.Eval[float64](p, opening), browsertest.Eval[float64](p, `gms.timeline.ready`)
		paint := browsertest.Eval[float64](p, `performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0`)
		type pan struct{ Frames, Longest float64 }
		got := browsertest.Eval[pan](p, fmt.Sprintf(panning, ms))
		t.Logf("%s: opening: first paint after %.0f ms, longest task %.0f ms, timeline ready after %.0f ms; panning: %.1f frames a second, longest %.0f ms",
			filepath.Base(file), paint, longest, ready, got.Frames, got.Longest)
		if got.Frames <= 0 {
			t.Error("no frames while panning")
		}
		p.Check()
	}
}

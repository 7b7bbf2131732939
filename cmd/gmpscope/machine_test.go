//go:build guard && browser

package main

import (
	"path/filepath"
	"testing"

	"github.com/gmpscope/gmpscope/internal/browsertest"
)

// TestGuardReport bounds how soon Chromium shows the reports of the large traces,
// and they can be used. Run it with -v.
func TestGuardReport(t *testing.T) {
	const (
		manyBytes   = 150_000 // of a compressed trace that is large
		firstPaint  = 1000    // ms
		interactive = 3000
	)
	b := browsertest.Start(t)
	n := 0
	for _, file := range reportable(t) {
		if fileSize(t, file) < manyBytes {
			continue
		}
		n++
		report := reportOf(t, file)
		type times struct {
			Paint float64 `json:"paint"`
			DOM   float64 `json:"dom"`
			Load  float64 `json:"load"`
			Ready float64 `json:"ready"`
		}
		var ms times
		for try := range 5 { // the machine may be busy: the best counts
			p := b.Open(t, report, "", browsertest.View{Width: 1280, Height: 900})
			p.Wait(`gms.timeline.ready > 0 && performance.getEntriesByName("first-contentful-paint").length > 0`)
			now := browsertest.Eval[times](p, `(() => {
				const nav = performance.getEntriesByType("navigation")[0];
				return {
					paint: performance.getEntriesByName("first-contentful-paint")[0].startTime,
					dom: nav.domInteractive, load: nav.loadEventEnd, ready: gms.timeline.ready,
				};
			})()`)
			p.Check()
			if try == 0 || now.Ready < ms.Ready {
				ms = now
			}
			if ms.Paint < firstPaint && ms.Ready < interactive {
				break
			}
		}
		name := filepath.Base(file)
		t.Logf("%s: %d bytes of trace (compressed), report %d bytes; first paint %.0f ms, DOM interactive %.0f ms, loaded %.0f ms, timeline ready %.0f ms",
			name, fileSize(t, file), fileSize(t, report), ms.Paint, ms.DOM, ms.Load, ms.Ready)
		if ms.Paint > firstPaint || ms.Ready > interactive {
			t.Errorf("%s: first paint after %.0f ms, interactive after %.0f ms", name, ms.Paint, ms.Ready)
		}
	}
	if n == 0 {
		t.Error("no large traces")
	}
}

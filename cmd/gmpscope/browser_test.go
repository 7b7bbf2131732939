//go:build browser

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/internal/browsertest"
)

// reportOf writes the report of a trace of the repository.
func reportOf(t *testing.T, trace string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	var out, errs bytes.Buffer
	if code := run(context.Background(), []string{"report", trace, "-o", file, "--no-fetch"}, nil, &out, &errs); code != exitOK {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	return file
}

// TestBrowser opens the reports of real traces, without a network: no request,
// nothing on the console, no scrolling sideways.
func TestBrowser(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(traces, "*.trace.gz"))
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob(filepath.Join(traces, "real", "*.trace.gz"))
	if err != nil {
		t.Fatal(err)
	}
	views := []browsertest.View{
		{Width: 1280, Height: 900},
		{Width: 360, Height: 740, Scale: 2, Dark: true},
		{Width: 1280, Height: 900, Dark: true},
		{Width: 2560, Height: 1400},
	}
	b := browsertest.Start(t)
	last := ""
	n := 0
	for _, file := range append(files, more...) {
		base := strings.TrimSuffix(filepath.Base(file), ".trace.gz")
		if base == "empty" || strings.HasPrefix(base, "header-only") {
			continue // nothing to report
		}
		scenario, _, _ := strings.Cut(base, "-go1.")
		if scenario == last {
			continue // one of each
		}
		last = scenario
		view := views[n%len(views)]
		n++
		t.Run(base, func(t *testing.T) {
			p := b.Open(t, reportOf(t, file), "", view)
			p.Wait(`document.documentElement.dataset.timeline === "ready"`)
			if w := browsertest.Eval[int](p, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); w > 0 {
				t.Errorf("%d pixels too wide", w)
			}
			if h := browsertest.Eval[string](p, `document.querySelector("h1").textContent`); strings.TrimSpace(h) == "" {
				t.Error("no verdict")
			}
			p.Screenshot(base, true)
			p.Check()
		})
	}
	if n < 10 {
		t.Errorf("%d traces, want more", n)
	}
}

// TestScreenshot makes the picture in the README; see scripts/screenshot.
func TestScreenshot(t *testing.T) {
	if os.Getenv("BROWSER_SHOTS") == "" {
		t.Skip("BROWSER_SHOTS names no folder")
	}
	b := browsertest.Start(t)
	t.Chdir(traces)
	p := b.Open(t, reportOf(t, "uneven-go1.26-p4.trace.gz"), "", browsertest.View{Width: 1200, Height: 1500})
	p.Wait(`document.documentElement.dataset.timeline === "ready"`)
	p.Screenshot("report", false)
	p.Check()
}

// TestReportFigures measures the report of each trace of the repository, and of
// those in the folder that TRACES names: its size, and for the
// large ones how soon Chromium shows it and it can be used. Run it with -v.
func TestReportFigures(t *testing.T) {
	const (
		maxBytes    = 5_000_000
		manyBytes   = 300_000 // compressed traces beyond are opened
		firstPaint  = 1000    // ms
		interactive = 3000
	)
	patterns := []string{filepath.Join(traces, "*.trace.gz"), filepath.Join(traces, "*", "*.trace.gz")}
	dir := os.Getenv("TRACES")
	if dir != "" {
		patterns = []string{filepath.Join(dir, "*.trace.gz")}
	}
	b := browsertest.Start(t)
	largest, n := int64(0), 0
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			base := strings.TrimSuffix(filepath.Base(file), ".trace.gz")
			if base == "empty" || strings.HasPrefix(base, "header-only") {
				continue // nothing to report
			}
			report := reportOf(t, file)
			size := fileSize(t, report)
			n++
			largest = max(largest, size)
			if size > maxBytes {
				t.Errorf("%s: %d bytes", base, size)
			}
			if fileSize(t, file) < manyBytes {
				continue
			}
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
			t.Logf("%s: %d bytes of trace (compressed), report %d bytes; first paint %.0f ms, DOM interactive %.0f ms, loaded %.0f ms, timeline ready %.0f ms",
				base, fileSize(t, file), size, ms.Paint, ms.DOM, ms.Load, ms.Ready)
			if ms.Paint > firstPaint || ms.Ready > interactive {
				t.Errorf("%s: first paint after %.0f ms, interactive after %.0f ms", base, ms.Paint, ms.Ready)
			}
		}
	}
	t.Logf("%d reports, the largest of %d bytes", n, largest)
	if n == 0 {
		t.Error("no traces")
	}
}

func fileSize(t *testing.T, file string) int64 {
	t.Helper()
	st, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return st.Size()
}

//go:build browser

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/internal/browsertest"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// TestBrowser opens the reports of real traces, without a network: no request,
// nothing on the console, no scrolling sideways. In a short test it opens those of real
// programs, which are of many kinds, and some of the others.
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
	n, scenarios := 0, 0
	for i, file := range append(files, more...) {
		base := strings.TrimSuffix(filepath.Base(file), ".trace.gz")
		if base == "empty" || strings.HasPrefix(base, "header-only") {
			continue // nothing to report
		}
		scenario, _, _ := strings.Cut(base, "-go1.")
		if scenario == last {
			continue // one of each
		}
		last = scenario
		scenarios++
		if !tracetest.Long() && i < len(files) && scenarios%4 != 0 {
			continue
		}
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

// TestBrowserScreenshot makes the picture in the README; see scripts/screenshot.
func TestBrowserScreenshot(t *testing.T) {
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

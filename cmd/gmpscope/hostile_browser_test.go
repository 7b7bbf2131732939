//go:build browser

package main

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"github.com/gmpscope/gmpscope/internal/browsertest"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// TestBrowserHostileTrace opens the reports of real traces in which every text
// is hostile: functions, files, reasons, tasks, regions, logs, and the name of
// the file. Nothing of it runs, and no request leaves the page. In a short test they are an
// old one, and one that has all of these.
func TestBrowserHostileTrace(t *testing.T) {
	b := browsertest.Start(t)
	names := hostileTraces
	if !tracetest.Long() {
		names = names[2:]
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			trace, dir := hostile(t, name), t.TempDir()
			page, diff := filepath.Join(dir, "page.html"), filepath.Join(dir, "diff.html")
			for _, args := range [][]string{{"report", trace, "-o", page, "--no-fetch"}, {"diff", trace, trace, "-o", diff}} {
				var out, errs bytes.Buffer
				if code := run(context.Background(), args, nil, &out, &errs); code != exitOK {
					t.Fatalf("%q: exit code %d: %s", args, code, errs.String())
				}
			}
			for _, file := range []string{page, diff} {
				p := b.Open(t, file, "", browsertest.View{Width: 1280, Height: 900})
				p.Wait(`document.readyState === "complete"`)
				if file == page {
					p.Wait(`document.documentElement.dataset.timeline === "ready"`)
					// Over the whole timeline, for what it shows under the pointer.
					browsertest.Eval[bool](p, `(async () => { const c = document.getElementById("tl-canvas"), r = c.getBoundingClientRect(); for (let x = 60; x < 1100; x += 23) for (const y of [5, 30, 90, 140]) c.dispatchEvent(new PointerEvent("pointermove", { clientX: r.left + x, clientY: r.top + y, pointerId: 1 })); return true })()`)
				}
				if got := browsertest.Eval[string](p, `String(window.pwned)`); got != "undefined" {
					t.Errorf("%s: a name was executed: pwned = %s", filepath.Base(file), got)
				}
				if n := browsertest.Eval[int](p, `document.querySelectorAll("main script, main img, main iframe, [onerror], a[href^=javascript]").length`); n != 0 {
					t.Errorf("%s: %d elements came out of names", filepath.Base(file), n)
				}
				if browsertest.Eval[bool](p, `/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u202e]/.test(document.body.textContent)`) {
					t.Errorf("%s: a control character is on the page", filepath.Base(file))
				}
				p.Check()
			}
		})
	}
}

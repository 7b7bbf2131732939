//go:build browser

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/internal/browsertest"
	"github.com/gmpscope/gmpscope/internal/damage"
)

// TestBrowserHostileTrace opens the reports of real traces in which every text
// is hostile: functions, files, reasons, tasks, regions, logs, and the name of
// the file. Nothing of it runs, and no request leaves the page.
func TestBrowserHostileTrace(t *testing.T) {
	b := browsertest.Start(t)
	for _, name := range []string{"uneven-go1.26-p4", "network-go1.24-p4", "real/v1-context-go1.21", "real/annot-go1.26-p4to8"} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			tr := damage.Parse(unpacked(t, name))
			for i := 0; i < len(tr.Blocks); i++ { // longer texts need more batches
				const evStrings = 4
				b := &tr.Blocks[i]
				if tr.V1() || len(b.Events) < 100 || b.Events[0].Kind != evStrings {
					continue
				}
				rest, half := *b, len(b.Events)/2
				rest.Events = append([]damage.Event{b.Events[0]}, b.Events[half:]...)
				b.Events = b.Events[:half]
				tr.Blocks = slices.Insert(tr.Blocks, i+1, rest)
				i--
			}
			n := 0
			tr.Strings(func(old string) string {
				n++
				if strings.HasPrefix(old, "runtime.") || strings.HasPrefix(old, "main.") && n%3 == 0 {
					return old // so that goroutines still have classes
				}
				return fmt.Sprintf("%s%d", damage.Hostile[n%len(damage.Hostile)], n)
			})
			dir := t.TempDir()
			trace := filepath.Join(dir, "<img src=x onerror=window.pwned=7>")
			if err := os.WriteFile(trace, tr.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
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

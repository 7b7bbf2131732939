//go:build browser

package html

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gmpscope/gmpscope/internal/browsertest"
)

// brokenWords are the words, parts of identifiers among them, that stand on two lines. The longest
// have no room on a phone.
const brokenWords = `(() => {
	const bad = new Set(), r = document.createRange(), walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let t; t = walk.nextNode();) {
		if (!t.parentElement.checkVisibility() || t.parentElement.closest("script, style, svg, option, textarea")) continue;
		for (const m of t.data.matchAll(/[\p{L}\p{N}_]{2,32}/gu)) {
			r.setStart(t, m.index);
			r.setEnd(t, m.index + m[0].length);
			if (new Set([...r.getClientRects()].map(x => x.top)).size > 1) bad.add(m[0] + " in " + t.parentElement.outerHTML.slice(0, 120));
		}
	}
	return [...bad];
})()`

// loose is what a line can be broken in, or ends in, though it must not: a number and its unit,
// and a dot that separates nothing.
const loose = `(() => {
	const bad = new Set(), walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let t; t = walk.nextNode();) {
		if (t.parentElement.closest("script, style, svg, textarea, code")) continue;
		for (const m of t.data.matchAll(/.{0,20}\d (%|ns|µs|ms|s|min|h|kB|MB|KiB|MiB)(?!\w)/g)) bad.add(m[0]);
	}
	for (const e of document.querySelectorAll("p, dd, li, small, span, header")) if (/·\s*$/.test(e.innerText)) bad.add(e.innerText);
	return [...bad];
})()`

// TestBrowserTypography wants names whole and numbers with their units: on the reports that
// REPORTS names, or on that of a recorded trace.
func TestBrowserTypography(t *testing.T) {
	files := filepath.SplitList(os.Getenv("REPORTS"))
	if len(files) == 0 {
		files = []string{realPage(t)}
	}
	b := browsertest.Start(t)
	for _, file := range files {
		for _, v := range []browsertest.View{desktop, phone, {Width: desktop.Width, Height: desktop.Height, Print: true}} {
			p := b.Open(t, file, "", v)
			p.Wait(`document.documentElement.dataset.timeline === "ready"`)
			for _, s := range append(browsertest.Eval[[]string](p, brokenWords), browsertest.Eval[[]string](p, loose)...) {
				t.Errorf("%s, %d px, print %v: %q", filepath.Base(file), v.Width, v.Print, s)
			}
		}
	}
}

//go:build browser

package html

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gmpscope/gmpscope/internal/browsertest"
)

// The most that a report shows before anything is unfolded, and that its first screen has, in
// words, in windows of 1440 × 900 px, and in those of a phone.
const (
	mostWords        = 3500
	mostScreens      = 12
	mostPhoneScreens = 15
	mostFirstWords   = 250
)

// firstWords counts the words that stand in the first window.
const firstWords = `(() => {
	let n = 0;
	const walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
	for (let t; t = walk.nextNode();) {
		if (t.parentElement.closest("svg title") || !t.parentElement.checkVisibility()) continue;
		const r = document.createRange();
		r.selectNodeContents(t);
		const b = r.getBoundingClientRect();
		if (b.height && b.top < innerHeight) n += t.textContent.split(/\s+/).filter(Boolean).length;
	}
	return n;
})()`

// TestBrowserWords counts the words that a reader of a report sees before anything is
// unfolded, by section, and the sheets of paper that it takes: of the reports that REPORTS
// names, or of a made one. See scripts/words.
func TestBrowserWords(t *testing.T) {
	files := filepath.SplitList(os.Getenv("REPORTS"))
	if len(files) == 0 {
		files = []string{writePage(t, fakeDoc(4, 200), Options{ECharts: browserScript(t)})}
	}
	b := browsertest.Start(t)
	for _, file := range files {
		p := b.Open(t, file, "", browsertest.View{Width: 1440, Height: 900})
		p.Wait(`document.documentElement.dataset.timeline === "ready"`)
		seen := browsertest.Eval[int](p, `document.body.innerText.split(/\s+/).length`)
		first, screens := browsertest.Eval[int](p, firstWords), browsertest.Eval[float64](p, `document.documentElement.scrollHeight / innerHeight`)
		if seen > mostWords || first > mostFirstWords || screens > mostScreens {
			t.Errorf("%s: %d words, of which %d on the first screen, on %.1f screens; want at most %d, %d and %d", file, seen, first, screens, mostWords, mostFirstWords, mostScreens)
		}
		by := browsertest.Eval[string](p, `[...document.querySelectorAll("body > header, main > section, main > div, body > section, body > footer")].map(e => (e.id || e.className || e.tagName) + " " + e.innerText.split(/\s+/).length).join(", ")`)
		sheets := bytes.Count(p.Print(), []byte("/Type /Page\n"))
		all := browsertest.Eval[int](p, `(document.querySelectorAll("details").forEach(d => d.open = true), document.body.innerText.split(/\s+/).length)`)
		if seen < 100 || all < seen {
			t.Errorf("%s: %d words, %d unfolded", file, seen, all)
		}
		q := b.Open(t, file, "", phone)
		q.Wait(`document.documentElement.dataset.timeline === "ready"`)
		onPhone := browsertest.Eval[float64](q, `document.documentElement.scrollHeight / innerHeight`)
		if onPhone > mostPhoneScreens {
			t.Errorf("%s: %.1f screens of a phone, want at most %d", file, onPhone, mostPhoneScreens)
		}
		if sheets == 0 {
			t.Errorf("%s: nothing is printed", file)
		}
		fmt.Printf("%s: %d words (%s), %d on the first screen; %.1f screens, %.1f on a phone; %d unfolded; %d pages in print\n", filepath.Base(file), seen, by, first, screens, onPhone, all, sheets)
	}
}

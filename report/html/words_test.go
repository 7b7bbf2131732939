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
		p := b.Open(t, file, "", browsertest.View{Width: 1400, Height: 900})
		p.Wait(`document.documentElement.dataset.timeline === "ready"`)
		seen := browsertest.Eval[int](p, `document.body.innerText.split(/\s+/).length`)
		by := browsertest.Eval[string](p, `[...document.querySelectorAll("body > header, main > section, main > div, body > section, body > footer")].map(e => (e.id || e.className || e.tagName) + " " + e.innerText.split(/\s+/).length).join(", ")`)
		sheets := bytes.Count(p.Print(), []byte("/Type /Page\n"))
		all := browsertest.Eval[int](p, `(document.querySelectorAll("details").forEach(d => d.open = true), document.body.innerText.split(/\s+/).length)`)
		if seen < 100 || all < seen {
			t.Errorf("%s: %d words, %d unfolded", file, seen, all)
		}
		if sheets == 0 {
			t.Errorf("%s: nothing is printed", file)
		}
		fmt.Printf("%s: %d words (%s), %d unfolded; %d pages in print\n", filepath.Base(file), seen, by, all, sheets)
	}
}

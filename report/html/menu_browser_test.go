//go:build browser

package html

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/kernel"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/internal/browsertest"
	"github.com/gmpscope/gmpscope/replay"
)

// TestBrowserMenu opens a page with all sections in windows that are not wide: all of the menu
// shows.
func TestBrowserMenu(t *testing.T) {
	doc := withCPUs(fakeDoc(4, 300), 3)
	doc.Result.Work.Kinds = []work.UnitKind{{Name: "main.serve", How: "cycle", Count: 100}}
	doc.Split = &replay.Decomposition{}
	doc.Result.Kernel = &kernel.Machine{}
	page := writePage(t, doc, Options{})
	for _, width := range []int64{1100, 1401} {
		p := browsertest.Start(t).Open(t, page, "", browsertest.View{Width: width, Height: 900})
		p.Wait(`document.documentElement.dataset.timeline === "ready"`)
		if over := browsertest.Eval[int](p, `(n => n.scrollWidth - n.clientWidth)(document.querySelector(".top nav"))`); over > 0 {
			t.Errorf("in a window of %d px, the menu has %d px too many", width, over)
		}
		p.Check()
	}
}

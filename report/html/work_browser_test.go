//go:build browser

package html

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/internal/browsertest"
)

// TestBrowserWork opens a kind of units by its link in the table, and goes from a part of its
// slowest unit to the moment in the timeline.
func TestBrowserWork(t *testing.T) {
	p := browsertest.Start(t).Open(t, writePage(t, fakeDoc(4, 300), Options{}), "", desktop)
	p.Wait(`document.documentElement.dataset.timeline === "ready"`)
	p.Click(`#work tbody a[href="#kind-1"]`)
	p.Wait(`document.getElementById("kind-1").open`)
	for _, want := range []string{"http.(*conn).serve", "A typical unit beside a slow one", "Units by latency", "G7 took 12 ms"} {
		if got := text(p, "#kind-1"); !strings.Contains(strings.ReplaceAll(got, "\u00a0", " "), want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	if n := browsertest.Eval[int](p, `document.querySelectorAll("#kind-1 .lane").length`); n != 2 {
		t.Errorf("%d lanes, want those of the unit and of who holds the lock", n)
	}
	p.Click(`#kind-1 .lane:nth-of-type(2) rect`)
	p.Wait(`gms.timeline.frame && gms.timeline.frame.g === 7`)
	if got := text(p, "#tl-caption"); !strings.Contains(got, "serve on G7") {
		t.Errorf("the caption is %q", got)
	}
	if got := browsertest.Eval[string](p, `Math.round(gms.view.from / 1e6) + " " + Math.round(gms.view.to / 1e6)`); got != "701 710" {
		t.Errorf("the timeline shows %s ms", got)
	}
	p.Check()
}

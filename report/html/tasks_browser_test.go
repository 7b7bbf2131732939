//go:build browser

package html

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/internal/browsertest"
)

// TestBrowserTasks does what a reader wants to do with a page, one thing after the other, and by
// nothing but what the page offers.
func TestBrowserTasks(t *testing.T) {
	doc := fakeDoc(4, 300)
	p := browsertest.Start(t).Open(t, writePage(t, doc, Options{}), "", desktop)
	p.Wait(`document.documentElement.dataset.timeline === "ready"`)
	plain := func(selector string) string {
		return strings.ReplaceAll(text(p, selector), "\u00a0", " ")
	}
	eval := func(s string) bool { return browsertest.Eval[bool](p, s) }
	want := func(got, want string) {
		t.Helper()
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	for i, task := range []struct {
		what string
		do   func()
	}{
		{"read who is affected", func() { want(plain("#verdict .parts"), "Affected\nhttp.(*conn).serve") }},
		{"find the kind that loses most", func() { want(plain("#work tbody tr"), "http.(*conn).serve") }},
		{"open its slowest unit", func() {
			p.Click(`#work tbody a[href="#kind-1"]`)
			p.Wait(`document.getElementById("kind-1").open`)
			want(plain("#kind-1 figcaption a.jump"), "G7 took 12 ms")
		}},
		{"say who held the lock", func() {
			want(browsertest.Eval[string](p, `document.querySelectorAll("#kind-1 .lane")[1].textContent`), "running")
		}},
		{"go there in the timeline", func() {
			p.Click(`#kind-1 .lane:nth-of-type(2) rect`)
			p.Wait(`gms.timeline.frame && gms.timeline.frame.g === 7`)
			want(plain("#tl-caption"), "http.(*conn).serve on G7")
		}},
		{"select 20 ms", func() {
			w := &doc.Result.Timeline.Windows[0]
			eval(fmt.Sprintf(`(gms.timeline.go(%d, %d), true)`, w.FromNs-5*ms, w.ToNs+5*ms))
			eval(fmt.Sprintf(`(() => { const c = document.getElementById("tl-canvas"), r = c.getBoundingClientRect(), per = (r.width - 62) / (gms.view.to - gms.view.from);
				const x = t => r.left + 52 + (t - gms.view.from) * per;
				c.setPointerCapture = () => {};
				for (const [type, at] of [["pointerdown", %[1]d], ["pointermove", %[1]d + 10e6], ["pointermove", %[1]d + 20e6], ["pointerup", %[1]d + 20e6]])
					c.dispatchEvent(new PointerEvent(type, { pointerId: 1, clientX: x(at), clientY: r.top + 160, shiftKey: true, bubbles: true }));
				return true })()`, w.FromNs))
			p.Wait(`Math.abs(gms.view.to - gms.view.from - 20e6) < 2e6 && !document.getElementById("selection").hidden`)
		}},
		{"read the flame graph of that range", func() {
			p.Wait(`document.getElementById("selection").textContent.includes("kept exactly")`)
			if ns := browsertest.Eval[float64](p, `gms.flame.root.ns`); ns <= 0 || ns > 4*1000*20e6 {
				t.Errorf("it is of %g ns", ns)
			}
		}},
		{"see one group only, in the address too", func() {
			p.Click(`#class-table tr[data-sel="g2"] button.pick`)
			p.Wait(`location.hash.includes("sel=g2") && location.hash.includes("t=")`)
		}},
		{"find a goroutine that is not kept", func() {
			p.Focus("#tl-canvas")
			p.Type("/")
			p.Wait(`document.activeElement.id === "tl-find"`)
			eval(`(document.getElementById("tl-find").value = "", true)`) // the driver sends the letter apart from its key
			p.Type("g999999\r")
			p.Wait(`document.getElementById("tl-details").textContent.includes("--goroutine 999999")`)
		}},
		{"take the selection back by one click", func() {
			p.Click("#selection button")
			p.Wait(`document.getElementById("selection").hidden && !location.hash.includes("sel=")`)
		}},
	} {
		task.do()
		if t.Failed() {
			t.Fatalf("task %d, %s", i+1, task.what)
		}
	}
	p.Check()
}

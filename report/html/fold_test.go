//go:build browser

package html

import (
	"fmt"
	"testing"

	"github.com/gmpscope/gmpscope/internal/browsertest"
)

// TestBrowserFolded is for what a report holds back at first: the glossary, and the ends of
// long tables.
func TestBrowserFolded(t *testing.T) {
	b := browsertest.Start(t)
	doc := fakeDoc(4, 200)
	for i := range 30 {
		c := doc.Result.Waits.Classes[i%2]
		c.ID, c.Name = int32(1000+i), fmt.Sprintf("main.worker%d", i)
		doc.Result.Waits.Classes = append(doc.Result.Waits.Classes, c)
	}
	file := writePage(t, doc, Options{ECharts: browserScript(t)})
	p := b.Open(t, file, "", browsertest.View{Width: 1280, Height: 900})
	p.Wait(`document.documentElement.dataset.timeline === "ready"`)

	rows := `[...document.querySelectorAll("#class-table > tbody > tr")].filter(r => r.offsetParent).length`
	all := browsertest.Eval[int](p, `document.querySelectorAll("#class-table > tbody > tr").length`)
	if n := browsertest.Eval[int](p, rows); n != 8 || all < 30 {
		t.Errorf("%d of %d rows are shown, want 8 of 30 and more", n, all)
	}
	browsertest.Eval[bool](p, `(() => { const f = document.getElementById("class-filter"); f.value = "main.worker2"; f.dispatchEvent(new Event("input")); return true })()`)
	if n := browsertest.Eval[int](p, rows); n != 11 {
		t.Errorf("%d rows go by the filter, want 11", n)
	}
	browsertest.Eval[bool](p, `(() => { const f = document.getElementById("class-filter"); f.value = ""; f.dispatchEvent(new Event("input")); document.querySelector("#classes button.rest").click(); return true })()`)
	if n := browsertest.Eval[int](p, rows); n != all {
		t.Errorf("%d rows of %d are shown", n, all)
	}

	const open = `(() => { const m = document.querySelector(".meaning:popover-open"); return m ? m.textContent : "" })()`
	p.Click(`#waiting a.term`)
	p.Wait(open + `.includes("In the glossary")`)
	if browsertest.Eval[string](p, `location.hash`) != "" {
		t.Error("the click left the place")
	}
	p.Screenshot("meaning", false)
	p.Click(`.meaning a`)
	p.Wait(`location.hash.startsWith("#") && document.getElementById(location.hash.slice(1)).offsetParent !== null`)
	if s := browsertest.Eval[string](p, open); s != "" {
		t.Errorf("still open: %s", s)
	}
	p.Check()
}

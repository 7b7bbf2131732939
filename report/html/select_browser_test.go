//go:build browser

package html

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/internal/browsertest"
)

// TestBrowserSelection selects a group, a P and a stretch of time: what is not of them is hidden, the
// address keeps them, and one click takes them back.
func TestBrowserSelection(t *testing.T) {
	doc := fakeDoc(4, 300)
	file := writePage(t, doc, Options{})
	b := browsertest.Start(t)
	p := b.Open(t, file, "", desktop)
	p.Wait(`document.documentElement.dataset.timeline === "ready"`)
	shown := func(selector string) int {
		return browsertest.Eval[int](p, fmt.Sprintf(`[...document.querySelectorAll(%q)].filter(e => !e.classList.contains("out")).length`, selector))
	}
	const findings, waits, groups, ps = "#findings article", "#longest details[data-g]", "#class-table tr[data-g]", "#ps tr[data-sel]"
	all := [4]int{shown(findings), shown(waits), shown(groups), shown(ps)}
	whole := browsertest.Eval[float64](p, `gms.flame.root.ns`)

	p.Click(`#class-table tr[data-sel="g2"] button.pick`) // net/http.(*conn).serve
	p.Wait(`!document.getElementById("selection").hidden`)
	if n := shown(groups); n != 1 {
		t.Errorf("%d groups of %d are shown", n, all[2])
	}
	if n := shown(findings); n != 2 || !strings.Contains(text(p, "#selection"), "2 of 4 findings") {
		t.Errorf("%d findings of %d are shown: %s", n, all[0], text(p, "#selection"))
	}
	if n := shown(waits); n == 0 || n >= all[1] {
		t.Errorf("%d waits of %d are shown", n, all[1])
	}
	if ns := browsertest.Eval[float64](p, `gms.flame.root.ns`); ns <= 0 || ns >= whole {
		t.Errorf("the flame graph is of %g ns, of all of %g ns", ns, whole)
	}

	w := &doc.Result.Timeline.Windows[0]
	browsertest.Eval[bool](p, fmt.Sprintf(`(gms.timeline.visit(() => gms.timeline.go(%d, %d)), true)`, w.FromNs, w.ToNs))
	p.Wait(`document.getElementById("selection").textContent.includes("100\u00a0% of the stretch")`)
	hash := browsertest.Eval[string](p, `location.hash`)
	if !strings.Contains(hash, "sel=g2") || !strings.Contains(hash, "t=") {
		t.Errorf("the address is %s", hash)
	}
	stretch := browsertest.Eval[float64](p, `gms.flame.root.ns`)
	other := b.Open(t, file, strings.TrimPrefix(hash, "#"), desktop)
	other.Wait(`document.documentElement.dataset.timeline === "ready" && !document.getElementById("selection").hidden`)
	other.Wait(fmt.Sprintf(`gms.flame.root.ns === %g`, stretch))

	p.Click("#selection button")
	p.Wait(`document.getElementById("selection").hidden`)
	if now := [4]int{shown(findings), shown(waits), shown(groups), shown(ps)}; now != all {
		t.Errorf("%v are shown again, of %v", now, all)
	}
	if hash := browsertest.Eval[string](p, `location.hash`); strings.Contains(hash, "sel=") || strings.Contains(hash, "t=") {
		t.Errorf("the address is %s", hash)
	}

	p.Click("#ps details summary")
	p.Click(`#ps tr[data-sel="p1"] button.pick`)
	p.Wait(`gms.timeline.lanes.length === 1 && gms.timeline.lanes[0] === 1`)
	if n := shown(ps); n != 1 {
		t.Errorf("%d Ps are shown", n)
	}
	p.Click(`#work tr[data-sel="k1"] button.pick`)
	p.Wait(`gms.timeline.lanes.length === 4`)
	if n := shown("#work tr[data-g]"); n != 1 {
		t.Errorf("%d kinds are shown", n)
	}
	p.Check()
	other.Check()
}

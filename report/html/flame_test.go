//go:build browser

package html

import (
	"fmt"
	"testing"

	"github.com/gmpscope/gmpscope/internal/browsertest"
)

// TestBrowserFlame reads the flame graph without a mouse, and by class, cause and time.
func TestBrowserFlame(t *testing.T) {
	b := browsertest.Start(t)
	doc := fakeDoc(4, 300)
	file := writePage(t, doc, Options{ECharts: browserScript(t)})
	p := b.Open(t, file, "", browsertest.View{Width: 1280, Height: 900})
	ready(t, p, 0)
	sum := func(class int32, cause string) (ns int64) {
		for _, row := range doc.Result.Stacks.Rows {
			system := false
			for _, c := range doc.Result.Waits.Classes {
				system = system || c.ID == row.Class && c.System
			}
			for _, w := range row.Causes {
				if (row.Class == class || class == 0 && !system) && (cause == "all" || string(w.Cause) == cause) {
					ns += w.Ns
				}
			}
		}
		return ns
	}
	total := func(what string, want int64) {
		t.Helper()
		if got := browsertest.Eval[int64](p, `gms.flame.root.ns`); got != want {
			t.Errorf("%s: %d ns, want %d", what, got, want)
		}
	}
	set := func(id, value string) {
		t.Helper()
		browsertest.Eval[bool](p, fmt.Sprintf(`(() => { const s = document.getElementById(%q); s.value = %q; s.dispatchEvent(new Event("change")); return true })()`, id, value))
	}
	total("all of the program", sum(0, "all"))
	if n := browsertest.Eval[int](p, `document.querySelectorAll("#flame-graph .frame").length`); n < 20 {
		t.Errorf("%d functions are drawn", n)
	}
	if wide := browsertest.Eval[string](p, `[...document.querySelectorAll("#flame-graph .frame")].filter(e => { const k = e.node.list.filter(k => k.e); return k.reduce((w, k) => w + k.e.getBoundingClientRect().width, 0) > e.getBoundingClientRect().width + 1 }).map(e => e.textContent).join()`); wide != "" {
		t.Errorf("wider below than %s", wide)
	}
	p.Screenshot("flame", false)

	// By keyboard: down into what was called, in, and out again.
	p.Focus("#flame-graph")
	press := func(key string) {
		t.Helper()
		browsertest.Eval[bool](p, fmt.Sprintf(`(() => { document.getElementById("flame-graph").dispatchEvent(new KeyboardEvent("keydown", { key: %q, cancelable: true })); return true })()`, key))
	}
	for _, c := range []struct{ key, want string }{
		{"ArrowDown", `gms.flame.chosen.depth === 1`},
		{"ArrowRight", `gms.flame.chosen === gms.flame.root.list[1]`},
		{"ArrowLeft", `gms.flame.chosen === gms.flame.root.list[0]`},
		{"ArrowDown", `gms.flame.chosen.depth === 2`},
		{"Enter", `gms.flame.zoomed === gms.flame.chosen && gms.flame.zoomed.depth === 2`},
		{"ArrowUp", `gms.flame.chosen.depth === 1 && document.getElementById("flame-info").textContent.startsWith(gms.flame.chosen.frame.f || gms.flame.chosen.frame.s)`},
		{"Escape", `gms.flame.zoomed.depth === 1`},
		{"Escape", `gms.flame.zoomed === gms.flame.root`},
		{"Home", `gms.flame.chosen === gms.flame.root`},
	} {
		press(c.key)
		if !browsertest.Eval[bool](p, c.want) {
			t.Errorf("after %s: not %s", c.key, c.want)
		}
	}
	if browsertest.Eval[bool](p, `(gms.flame.root.list[0].e.click(), gms.flame.zoomed !== gms.flame.root.list[0])`) {
		t.Error("a click does not zoom in")
	}

	// By class, cause and time; a link does the same.
	set("flame-cause", "queueing")
	total("queueing", sum(0, "queueing"))
	set("flame-class", "2")
	total("queueing, of class 2", sum(2, "queueing"))
	p.Wait(`location.hash.includes("f=2,queueing,waiting")`)
	set("flame-measure", "blocked")
	blocked := int64(0)
	for _, row := range doc.Result.Stacks.Rows {
		if row.Class == 2 {
			blocked += row.BlockedNs
		}
	}
	total("blocked, of class 2", blocked)
	p.Click("#finding-2 summary")
	p.Click("#finding-2 a.where")
	p.Wait(`document.getElementById("flame-class").value === "2" && document.getElementById("flame-measure").value === "waiting"`)
	total("class 2, by a link", sum(2, "all"))
	p.Wait(`Math.abs(document.getElementById("stacks").getBoundingClientRect().top) < innerHeight / 2`)

	// A tooltip has the whole name, and its line.
	type point struct{ X, Y float64 }
	at := browsertest.Eval[point](p, `(() => { const e = gms.flame.root.list[0].list[0].e; e.scrollIntoView({ block: "center", behavior: "instant" }); const r = e.getBoundingClientRect(); return { X: r.left + r.width / 2, Y: r.top + 8 } })()`)
	p.Hover(at.X, at.Y)
	p.Wait(`!document.getElementById("flame-tip").hidden && document.getElementById("flame-tip").textContent.includes(gms.flame.root.list[0].list[0].frame.l)`)
	// Lines of one function are one frame, whose time is theirs.
	if bad := browsertest.Eval[string](p, `(() => { const bad = []; (function look(n) { const sum = [...n.lines.values()].reduce((a, b) => a + b, 0); if (n.lines.size && sum !== n.ns) bad.push(n.frame.s); n.list.forEach(look); })(gms.flame.root); return bad.join() })()`); bad != "" {
		t.Errorf("lines do not sum to %s", bad)
	}
	p.Check()

	phone := b.Open(t, file, "f=1,all,waiting", browsertest.View{Width: 390, Height: 740, Scale: 2, Dark: true})
	phone.Wait(`document.getElementById("flame-class").value === "1"`)
	if w := browsertest.Eval[int](phone, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); w > 0 {
		t.Errorf("the page is %d px wider than a phone", w)
	}
	browsertest.Eval[bool](phone, `(document.getElementById("stacks").scrollIntoView({ behavior: "instant" }), true)`)
	phone.Screenshot("flame-phone", false)
	phone.Check()
}

//go:build browser

package html

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/internal/browsertest"
	"github.com/gmpscope/gmpscope/report"
)

// realTrace is a recorded trace whose units wait for locks and are kept in detail.
const realTrace = "../../testdata/traces/real/annot-go1.26-p4to8.trace.gz"

// realPage writes the report of a recorded trace.
func realPage(t *testing.T) string {
	t.Helper()
	res, err := analyze.File(t.Context(), realTrace, analyze.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return writePage(t, report.Build(res, "test"), Options{ECharts: browserScript(t)})
}

// TestBrowserTasks does ten things that a reader wants from a page, one after the other and by
// nothing but what the page offers: on the reports that REPORTS names, or on that of a recorded
// trace. See scripts/tasks.
func TestBrowserTasks(t *testing.T) {
	files := filepath.SplitList(os.Getenv("REPORTS"))
	if len(files) == 0 {
		files = []string{realPage(t)}
	}
	b := browsertest.Start(t)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { tasks(t, b, file) })
	}
}

// slowest finds the slowest unit that is shown of the first kind whose slowest waits for a lock,
// or else for a goroutine that has a lane below its own, or else of the first kind.
const slowest = `(() => {
	const of = f => [...document.querySelectorAll("#work > details figure.unit[data-sel^=u]")].find((e, i, all) => f(e) && e === e.closest("details.folded").querySelector("figure.unit[data-sel]"));
	return of(e => e.querySelector(".f-lock") && e.querySelectorAll(".lane").length > 1) || of(e => e.querySelectorAll(".lane").length > 1) || of(() => true);
})()`

func tasks(t *testing.T, b *browsertest.Browser, file string) {
	p := b.Open(t, file, "", desktop)
	p.Wait(`document.documentElement.dataset.timeline === "ready"`)
	eval := func(s string) bool { return browsertest.Eval[bool](p, s) }
	plain := func(expr string) string {
		return strings.ReplaceAll(browsertest.Eval[string](p, expr), "\u00a0", " ")
	}
	do := func(s string) { eval("(" + s + ", true)") }
	want := func(got string, wants ...string) {
		t.Helper()
		for _, w := range wants {
			if !strings.Contains(got, w) {
				t.Errorf("no %q in %q", w, got)
			}
		}
	}
	click := func(expr string) {
		do(expr + `.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }))`)
	}
	if !eval(`!!` + slowest) {
		t.Skip("no unit of work is shown")
	}
	do(`window.unit = ` + slowest)
	kind := browsertest.Eval[string](p, `unit.closest("details.folded").id`)
	g := browsertest.Eval[int](p, `parseInt(unit.dataset.sel.slice(1), 10)`)
	address := ""
	for i, task := range []struct {
		what string
		do   func()
	}{
		{"open the slowest unit", func() {
			click(fmt.Sprintf(`document.querySelector('#work tbody a[href="#%s"]')`, kind))
			p.Wait(`unit.closest("details").open && unit.checkVisibility()`)
			want(plain(`unit.querySelector("figcaption").textContent`), fmt.Sprintf("G%d took ", g))
		}},
		{"say who held the lock", func() {
			if !eval(`unit.querySelectorAll(".lane").length > 1`) {
				t.Log("it waited for nobody")
				return
			}
			holder := plain(`unit.querySelectorAll(".lane")[1].querySelector(".name").textContent`)
			t.Logf("it waited for %s: %s", holder, plain(`(unit.querySelector(".f-lock title") || unit.querySelector(".lane title")).textContent`))
			want(plain(`unit.querySelectorAll(".lane")[1].textContent`), "waited for")
			if holder == "" || !eval(`unit.querySelectorAll(".lane")[1].querySelectorAll("title").length > 0`) {
				t.Error("nothing says who it waited for, and what that did")
			}
		}},
		{"go there in the timeline", func() {
			click(`[...unit.querySelectorAll(".lane")].at(-1).querySelector("[data-go]")`)
			p.Wait(fmt.Sprintf(`gms.timeline.frame && gms.timeline.frame.g === %d`, g))
			p.Wait(`(r => r.top < innerHeight && r.bottom > 0)(document.getElementById("tl-caption").getBoundingClientRect())`)
			want(plain(`document.getElementById("tl-caption").textContent`), fmt.Sprintf("G%d", g))
		}},
		{"select 20 ms", func() {
			// Enough is shown for 20 ms to be dragged over, around the unit.
			do(`gms.timeline.go(gms.timeline.frame.f - 30e6, gms.timeline.frame.f + 50e6)`)
			do(`(() => { const c = document.getElementById("tl-canvas"), r = c.getBoundingClientRect(), left = 52, w = r.width - 62;
				c.setPointerCapture = () => {};
				const at = ns => r.left + left + (ns - gms.view.from) / (gms.view.to - gms.view.from) * w, from = Math.max(gms.view.from, gms.timeline.frame.f - 1e6), to = Math.min(from + 20e6, gms.view.end);
				for (const [type, x] of [["pointerdown", at(from)], ["pointermove", at((from + to) / 2)], ["pointermove", at(to)], ["pointerup", at(to)]])
					c.dispatchEvent(new PointerEvent(type, { pointerId: 1, clientX: x, clientY: r.top + 160, shiftKey: true, bubbles: true })); })()`)
			p.Wait(`Math.abs(gms.view.to - gms.view.from - Math.min(20e6, gms.view.end)) < 1.5e6 && (gms.view.end < 22e6 || !document.getElementById("selection").hidden && document.getElementById("selection").textContent.includes("Selected"))`)
		}},
		{"read the flame graph of that range", func() {
			if eval(`gms.view.end < 22e6`) {
				return // the whole trace is shorter
			}
			p.Wait(`document.getElementById("selection").textContent.includes("the flame graph is of that")`)
			do(`document.getElementById("flame").scrollIntoView()`)
			if !eval(`gms.flame.root.ns >= 0 && !!document.querySelector("#flame-graph .frame, #flame-graph .none")`) {
				t.Error("no flame graph")
			}
		}},
		{"find a goroutine by number, and see its life", func() {
			p.Focus("#tl-canvas")
			p.Type("/")
			p.Wait(`document.activeElement.id === "tl-find"`)
			do(`document.getElementById("tl-find").value = ""`) // the driver sends the letter apart from its key
			p.Type(fmt.Sprintf("g%d\r", g))
			p.Wait(`!document.getElementById("tl-details").hidden`)
			if eval(`[...document.querySelectorAll("#tl-details button")].some(b => b.textContent === "Its life")`) {
				click(`[...document.querySelectorAll("#tl-details button")].find(b => b.textContent === "Its life")`)
			}
			p.Wait(fmt.Sprintf(`/^G%d .*: [\d,]+ states?$/.test(document.querySelector("#tl-details h3").textContent)`, g))
			if !eval(`document.querySelectorAll("#tl-details ol.steps li").length > 0`) {
				t.Error("its life has no states")
			}
			// One that nothing is kept of is no dead end.
			p.Focus("#tl-find")
			do(`document.getElementById("tl-find").value = ""`)
			p.Type("g999999999\r")
			p.Wait(`document.getElementById("tl-details").textContent.includes("--goroutine 999999999")`)
		}},
		{"follow a finding to its place", func() {
			do(`gms.timeline.visit(() => gms.timeline.go(0, gms.view.end))`)
			p.Wait(`document.getElementById("selection").hidden`)
			if !eval(`!!document.querySelector("#findings article a.jump[href^='#frame=']")`) {
				t.Log("no finding has a place")
				return
			}
			do(`window.place = [...document.querySelectorAll("#findings article a.jump[href^='#frame=']")][0]`)
			click(`place`)
			do(`place.click()`)
			p.Wait(`gms.timeline.frame && location.hash.includes("frame=" + place.hash.slice(7).split("-")[0]) && !document.getElementById("tl-caption").hidden`)
		}},
		{"choose a kind, and see everything filter", func() {
			do(`gms.timeline.visit(() => { gms.timeline.setFrame(null); gms.timeline.go(0, gms.view.end) })`)
			click(fmt.Sprintf(`document.querySelector('#work tbody a[href="#%s"]').closest("tr").querySelector("button.pick")`, kind))
			p.Wait(`location.hash.includes("sel=k") && !document.getElementById("selection").hidden`)
			want(plain(`document.getElementById("selection").textContent`), "Selected: ")
			if !eval(`document.querySelectorAll("#work tbody tr[data-sel]:not(.out)").length === 1 && (document.querySelectorAll("#class-table tr[data-sel]").length < 2 || document.querySelectorAll("#class-table tr.out").length > 0)`) {
				t.Error("not all is of the kind")
			}
		}},
		{"share the address, and get the same selection", func() {
			do(`gms.timeline.visit(() => gms.timeline.go(gms.view.end / 4, gms.view.end / 2))`)
			p.Wait(`/sel=k/.test(location.hash) && /t=/.test(location.hash)`)
			const state = `JSON.stringify([document.getElementById("selection").textContent, Math.round(gms.view.from / 1e3), Math.round(gms.view.to / 1e3), [...document.querySelectorAll("#work tr[data-sel]:not(.out), #findings article:not(.out), #class-table tr[data-sel]:not(.out)")].map(e => e.dataset.sel || e.id)])`
			p.Wait(`document.getElementById("selection").textContent.includes(" of ")`)
			mine := browsertest.Eval[string](p, `new Promise(done => setTimeout(() => done(`+state+`), 500))`)
			address = strings.TrimPrefix(browsertest.Eval[string](p, `location.hash`), "#")
			q := b.Open(t, file, address, desktop)
			q.Wait(`document.documentElement.dataset.timeline === "ready" && !document.getElementById("selection").hidden`)
			if theirs := browsertest.Eval[string](q, `new Promise(done => setTimeout(() => done(`+state+`), 500))`); theirs != mine {
				t.Errorf("at %s:\nmine   %s\ntheirs %s", address, mine, theirs)
			}
			q.Check()
		}},
		{"clear it by one click", func() {
			p.Click("#selection button")
			p.Wait(`document.getElementById("selection").hidden && !/sel=|t=/.test(location.hash) && !document.querySelector("td.ranged") && !document.querySelector("#findings .out, #class-table .out, #work .out")`)
		}},
	} {
		task.do()
		if t.Failed() {
			t.Fatalf("task %d, %s", i+1, task.what)
		}
		t.Logf("%d of 10: %s", i+1, task.what)
	}
	p.Check()
}

//go:build browser

package html

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/internal/browsertest"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/html/echarts"
)

// browserScript is the ECharts that the browser tests use: the file that
// ECHARTS names, else what this program was built with, if anything.
func browserScript(t *testing.T) Script {
	if path := os.Getenv("ECHARTS"); path != "" {
		js, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return js
	}
	js, ok := echarts.Embedded()
	if !ok {
		t.Log("no ECharts bundle embedded: testing the page without it")
	}
	return js
}

func writePage(t *testing.T, doc *report.Document, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, doc, o); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", b.Len())
	return file
}

// ready waits for the timeline, and makes all charts by visiting them.
func ready(t *testing.T, p *browsertest.Page, charts int) {
	t.Helper()
	p.Wait(`document.documentElement.dataset.timeline === "ready"`)
	if charts > 0 {
		browsertest.Eval[bool](p, `(async () => { for (const f of document.querySelectorAll("figure[data-chart]")) if (f.checkVisibility()) { f.scrollIntoView(); while (!gms.charts.some(l => f.contains(l.div))) await new Promise(r => setTimeout(r, 10)); } scrollTo(0, 0); return true })()`)
		if n := browsertest.Eval[int](p, `gms.charts.length`); n != charts {
			t.Errorf("%d charts, want %d", n, charts)
		}
	}
}

// drawn waits until the charts are drawn, in place of their tables.
func drawn(t *testing.T, p *browsertest.Page, figures string) {
	t.Helper()
	if len(browserScript(t)) == 0 {
		return
	}
	n := browsertest.Eval[int](p, fmt.Sprintf(`(async () => { let n = 0; for (const f of document.querySelectorAll(%q)) { f.scrollIntoView(); while (!f.querySelector("canvas")) await new Promise(r => setTimeout(r, 10)); n++; } scrollTo(0, 0); return n })()`, figures))
	if n == 0 {
		t.Errorf("no chart is %s", figures)
	}
}

// look changes how a page is looked at, and waits until its timeline is as wide.
func look(p *browsertest.Page, v browsertest.View) {
	p.Look(v)
	p.Wait(fmt.Sprintf(`innerWidth === %d && matchMedia("(prefers-color-scheme: dark)").matches === %v`, v.Width, v.Dark))
	browsertest.Eval[bool](p, `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
}

// tooWide names what reaches beyond the right edge of the window.
func tooWide(p *browsertest.Page) string {
	return browsertest.Eval[string](p, `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll")).slice(0, 8).map(e => e.tagName + "." + e.className + "#" + e.id).join(" ")`)
}

func TestBrowser(t *testing.T) {
	b := browsertest.Start(t)
	js := browserScript(t)
	charts := 0
	if len(js) > 0 {
		charts = 2
	}
	file := writePage(t, fakeDoc(8, 1200), Options{ECharts: js})
	plain := writePage(t, fakeDoc(8, 1200), Options{})

	for _, v := range []struct {
		name string
		view browsertest.View
		long bool
	}{
		{"light-1280", browsertest.View{Width: 1280, Height: 900}, false},
		{"dark-1280", browsertest.View{Width: 1280, Height: 900, Dark: true}, true},
		{"phone-360", browsertest.View{Width: 360, Height: 740, Scale: 2}, true},
		{"phone-dark-360", browsertest.View{Width: 360, Height: 740, Scale: 2, Dark: true}, false},
		{"wide-3840", browsertest.View{Width: 3840, Height: 2000}, true}, // for TestBrowser in cmd/gmpscope 2560 is wide
	} {
		if v.long && !tracetest.Long() {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			p := b.Open(t, file, "", v.view)
			ready(t, p, charts)
			if w := browsertest.Eval[int](p, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); w > 0 {
				t.Errorf("the page is %d px wider than the window", w)
				t.Log(tooWide(p))
			}
			p.Screenshot(v.name, true)
			p.Check()
		})
	}
	t.Run("without ECharts", func(t *testing.T) {
		if !tracetest.Long() {
			t.Skip("most other tests open a page without it")
		}
		p := b.Open(t, plain, "", browsertest.View{Width: 1280, Height: 900})
		ready(t, p, 0)
		p.Screenshot("plain", true)
		p.Check()
	})
	t.Run("without a timeline", func(t *testing.T) {
		for _, doc := range []*report.Document{{}, {Result: &analyze.Result{}}} {
			p := b.Open(t, writePage(t, doc, Options{ECharts: js}), "s=f1&find=g7", browsertest.View{Width: 1280, Height: 900})
			p.Wait(`document.readyState === "complete"`)
			p.Check()
		}
	})
	t.Run("print", func(t *testing.T) {
		p := b.Open(t, file, "", browsertest.View{Width: 900, Height: 1200, Print: true, Dark: true})
		p.Wait(`document.documentElement.dataset.timeline === "ready"`)
		p.Screenshot("print", true)
		p.Check()

		// What a phone folds is printed.
		p = b.Open(t, file, "", browsertest.View{Width: 390, Height: 844})
		p.Wait(`document.documentElement.dataset.timeline === "ready"`)
		folded := func(event string) int {
			return browsertest.Eval[int](p, fmt.Sprintf(`(dispatchEvent(new Event(%q)), document.querySelectorAll("details.roomy:not([open])").length)`, event))
		}
		if before, printed, after := folded(""), folded("beforeprint"), folded("afterprint"); before == 0 || printed != 0 || after != before {
			t.Errorf("folded on a phone: %d, in print %d, afterwards %d", before, printed, after)
		}
	})
	t.Run("without scripts", func(t *testing.T) {
		p := b.Open(t, file, "", browsertest.View{Width: 1280, Height: 900, NoScript: true})
		p.Screenshot("noscript", true)
		for _, want := range []string{"Requests wait up to 48 ms", "queueing", "Runs of search.", "What the Ps did", "Jain"} {
			if !browsertest.Eval[bool](p, fmt.Sprintf(`document.body.innerText.replaceAll("\u00a0", " ").includes(%q)`, want)) {
				t.Errorf("%q is not on the page", want)
			}
		}
		if n := browsertest.Eval[int](p, `[...document.querySelectorAll("svg")].filter(s => s.getBoundingClientRect().height > 5).length`); n < 30 {
			t.Errorf("%d drawings, want at least 30", n)
		}
		if browsertest.Eval[bool](p, `!!document.querySelector("#tl").offsetParent`) {
			t.Error("the timeline's controls are shown, but cannot work")
		}
	})
}

// TestBrowserHostileNames is permanent: names from a trace never execute, and
// are shown as they are.
func TestBrowserHostileNames(t *testing.T) {
	b := browsertest.Start(t)
	doc := withCPUs(fakeDoc(4, 300), 3)
	doc.Verdict.Headline = hostileNames[0] + hostileNames[4]
	doc.Verdict.Lines = hostileNames
	doc.Tool = hostileNames[0]
	r := doc.Result
	r.Trace.Name, r.Trace.Program, r.Trace.GoVersion = hostileNames[0], hostileNames[4], hostileNames[2]
	r.Trace.Warnings = hostileNames
	for i := range r.Waits.Worst {
		r.Waits.Worst[i].Name = hostileNames[i%len(hostileNames)]
		r.Waits.Worst[i].Source = hostileNames[i%len(hostileNames)]
		r.Waits.Worst[i].Path[0].Why = hostileNames[(i+4)%len(hostileNames)]
	}
	r.Procs.Preemptions.ByCause = map[string]int64{}
	r.Reconstruction.BySource = map[string]int64{}
	for i, n := range hostileNames {
		r.Procs.Preemptions.ByCause[n] = int64(i + 1)
		r.Reconstruction.BySource[n] = int64(i + 1)
		r.Findings[0].Actors = append(r.Findings[0].Actors, r.Findings[0].Actors[0])
		r.Findings[0].Actors[len(r.Findings[0].Actors)-1].Stack = []string{n}
		r.Findings[0].Advise("%s", n)
		r.Timeline.STW[i%len(r.Timeline.STW)].Name = n
		r.Timeline.Windows[0].Arrows[i].Kind = n
	}
	for _, js := range []Script{nil, browserScript(t)} {
		p := b.Open(t, writePage(t, doc, Options{ECharts: js}), "", browsertest.View{Width: 1280, Height: 900})
		charts := 0
		if len(js) > 0 {
			charts = 2
		}
		ready(t, p, charts)
		// Hover over everything that shows a name in a tooltip.
		browsertest.Eval[bool](p, `(async () => { for (const l of gms.charts || []) { for (let i = 0; i < 14; i++) { l.chart.dispatchAction({ type: "showTip", seriesIndex: 0, dataIndex: i }); await new Promise(r => setTimeout(r, 5)); } } return true })()`)
		p.Focus("#tl-canvas")
		for range 3 {
			p.Type("n")
		}
		browsertest.Eval[bool](p, `(async () => { const c = document.getElementById("tl-canvas"), r = c.getBoundingClientRect(); for (let x = 60; x < 1100; x += 9) for (const y of [5, 30, 60, 90, 160, gms.timeline.under + 20, gms.timeline.under + 40]) c.dispatchEvent(new PointerEvent("pointermove", { clientX: r.left + x, clientY: r.top + y, pointerId: 1 })); return true })()`)
		noted := browsertest.Eval[string](p, `(() => {
			const tl = gms.timeline;
			let all = "";
			for (const w of tl.D.windows) for (const g of new Set(tl.arrays()["w" + w.k + ".note.g"])) all += tl.notes.rows(w, g, w.f, w.t, 100);
			const s = document.getElementById("tl-lanes");
			s.value = "g"; s.dispatchEvent(new Event("change")); tl.draw(); s.value = "p"; s.dispatchEvent(new Event("change"));
			return all;
		})()`)
		if !strings.Contains(noted, hostileNames[0]) || !strings.Contains(noted, hostileNames[4]) {
			t.Error("the tasks and regions do not show the names")
		}
		browsertest.Eval[bool](p, `document.querySelector(".worst-wait details").open = true`)
		if got := text(p, ".worst-wait"); !strings.Contains(got, hostileNames[0]) || !strings.Contains(got, "G1010") {
			t.Errorf("the worst wait does not show the names: %q", got)
		}
		// The lanes of the CPUs: their names are in tooltips, and drawn.
		cpus := browsertest.Eval[string](p, `(() => {
			const tl = gms.timeline;
			let all = "";
			for (const w of tl.D.windows) {
				gms.view.set(w.f, w.t);
				tl.draw();
				for (let cpu = 0; cpu < 3; cpu++) for (let t = w.f; t < w.t; t += (w.t - w.f) / 500) { const x = tl.cpus.lines(cpu, t); all += x.title + x.rows; }
			}
			return all;
		})()`)
		if !strings.Contains(cpus, hostileNames[0]) || !strings.Contains(cpus, hostileNames[4]) {
			t.Error("the lanes of the CPUs do not show the names")
		}
		// The inspector, the caption and the search show names of all kinds.
		beside := browsertest.Eval[string](p, `(() => {
			const tl = gms.timeline, A = tl.arrays(), find = document.getElementById("tl-find");
			let all = "";
			for (let i = 0; i < 60; i++) if (A["w0.g"][i] > 0) {
				tl.visit(() => tl.show({ win: 0, i }));
				for (const d of document.querySelectorAll("#tl-details details")) d.open = true;
				all += document.querySelector(".tl-side").textContent;
			}
			for (const x of [...tl.D.findings, ...tl.D.waits]) { tl.visit(() => tl.setFrame(x.f, x.t, x.g ?? -1)); all += document.getElementById("tl-caption").textContent; }
			find.value = "<img src=x onerror=\"window.pwned=6\">";
			document.querySelector("[data-find='1']").click();
			return all;
		})()`)
		for _, want := range []string{hostileNames[0], hostileNames[2], hostileNames[3], hostileNames[4]} {
			if !strings.Contains(beside, want) {
				t.Errorf("%q is not shown beside the timeline", want)
			}
		}
		shown := browsertest.Eval[string](p, `(() => { let all = ""; for (const e of document.querySelectorAll("#flame-graph .frame")) { e.dispatchEvent(new PointerEvent("pointermove", { bubbles: true })); all += document.getElementById("flame-tip").textContent; } return all })()`)
		if !strings.Contains(shown, hostileNames[0]) || !strings.Contains(shown, hostileNames[4]) {
			t.Error("the flame graph does not show the names")
		}
		if got := browsertest.Eval[string](p, `String(window.pwned)`); got != "undefined" {
			t.Errorf("a name was executed: pwned = %s", got)
		}
		if n := browsertest.Eval[int](p, `document.querySelectorAll("main script, main img, main iframe, [onerror]").length`); n != 0 {
			t.Errorf("%d elements came out of names", n)
		}
		for _, want := range []string{`</script><script>window.pwned=1</script>`, `__f__window.pwned=2__f__`, `<!--<script>`, `main.(*T).__f__run`, `<U+202E>gnp.exe`} {
			if !browsertest.Eval[bool](p, fmt.Sprintf(`document.getElementById("class-table").textContent.includes(%q)`, want)) {
				t.Errorf("%q is not shown", want)
			}
		}
		if w := browsertest.Eval[int](p, `document.documentElement.scrollWidth - innerWidth`); w > 0 {
			t.Errorf("names make the page %d px too wide", w)
			t.Log(tooWide(p))
		}
		p.Check()
	}
}

func TestBrowserUse(t *testing.T) {
	b := browsertest.Start(t)
	js := browserScript(t)
	file := writePage(t, fakeDoc(8, 1200), Options{ECharts: js})
	p := b.Open(t, file, "", browsertest.View{Width: 1280, Height: 900})
	charts := 0
	if len(js) > 0 {
		charts = 2
	}
	ready(t, p, charts)

	// Sorting.
	first := `document.querySelector("#class-table tbody tr").cells[4].dataset.v`
	before := browsertest.Eval[string](p, first)
	p.Click("#class-table thead th:nth-child(5) button")
	if after := browsertest.Eval[string](p, first); after == before {
		t.Errorf("sorting by waiting did not change the first row (%s)", after)
	}
	if s := browsertest.Eval[string](p, `document.querySelector("#class-table th:nth-child(5)").getAttribute("aria-sort")`); s != "ascending" {
		t.Errorf("aria-sort is %q", s)
	}
	// Filtering.
	p.Focus("#class-filter")
	p.Type("net/http")
	if n := browsertest.Eval[int](p, `[...document.querySelectorAll("#class-table tbody tr")].filter(r => !r.hidden).length`); n < 1 || n > 4 {
		t.Errorf("filter leaves %d rows", n)
	}
	if h := browsertest.Eval[string](p, `location.hash`); !strings.Contains(h, "q=net%2Fhttp") || !strings.Contains(h, "o=4.a") {
		t.Errorf("fragment is %s", h)
	}
	// Zoom by keys.
	p.Focus("#tl-canvas")
	p.Type("+++")
	w := browsertest.Eval[float64](p, `gms.view.to - gms.view.from`)
	if w > 0.3*4.2e9 {
		t.Errorf("after three + the window is %g ns wide", w)
	}
	p.Wait(`location.hash.includes("t=")`)
	// What is shown can be analysed alone: the command has its bounds, as in the address.
	if cmd := browsertest.Eval[string](p, `[...document.querySelectorAll("p:not([hidden]) #tl-command")].map(c => c.textContent).join()`); !regexp.MustCompile(`^gmpscope report .+ --from [0-9.]+s --to [0-9.]+s$`).MatchString(cmd) {
		t.Errorf("the command for what is shown is %q", cmd)
	}
	p.Type("0")
	p.Wait(`!location.hash.includes("t=")`)
	p.Wait(`document.getElementById("tl-command").closest("p").hidden`)
	// Zoom by wheel, and by drag; the charts over time follow.
	p.Focus("#tl-canvas")
	browsertest.Eval[bool](p, `(() => { const c = document.getElementById("tl-canvas"), r = c.getBoundingClientRect(); for (let i = 0; i < 6; i++) c.dispatchEvent(new WheelEvent("wheel", { deltaY: -120, clientX: r.left + 600, clientY: r.top + 60, cancelable: true })); return true })()`)
	zoomed := browsertest.Eval[float64](p, `gms.view.to - gms.view.from`)
	if zoomed > 0.5*4.2e9 {
		t.Errorf("after six turns of the wheel the window is %g ns wide", zoomed)
	}
	if charts > 0 {
		browsertest.Eval[bool](p, `(() => { document.querySelector("figure[data-chart=chart_causetime]").scrollIntoView(); return true })()`)
		p.Wait(`gms.charts.some(l => l.seen && !l.stale)`)
	}
	from := browsertest.Eval[float64](p, `gms.view.from`)
	browsertest.Eval[bool](p, `(() => { const c = document.getElementById("tl-canvas"), r = c.getBoundingClientRect(); c.setPointerCapture = () => {}; for (const [type, x] of [["pointerdown", 600], ["pointermove", 500], ["pointermove", 400], ["pointerup", 400]]) c.dispatchEvent(new PointerEvent(type, { pointerId: 1, clientX: r.left + x, clientY: r.top + 60, bubbles: true })); return true })()`)
	if now := browsertest.Eval[float64](p, `gms.view.from`); now <= from {
		t.Errorf("a drag to the left does not move on: from %g to %g", from, now)
	}
	if charts > 0 {
		follows := `Math.abs(l.chart.getOption().dataZoom[0].start - gms.view.from / gms.view.end * 100) < 0.5`
		p.Wait(`gms.charts.filter(l => l.seen).every(l => ` + follows + `)`)
		if n := browsertest.Eval[int](p, `gms.charts.filter(l => l.c.end && !l.seen && `+follows+`).length`); n != 0 {
			t.Errorf("%d charts out of sight followed", n)
		}
		browsertest.Eval[bool](p, `(async () => { for (const l of gms.charts.filter(l => l.c.end)) { l.div.scrollIntoView(); while (!(`+follows+`)) await new Promise(r => setTimeout(r, 10)); } document.getElementById("timeline").scrollIntoView(); return true })()`)
		browsertest.Eval[bool](p, `(() => { gms.charts.find(l => l.c.kind === "causetime").chart.dispatchAction({ type: "dataZoom", dataZoomIndex: 0, start: 50, end: 60 }); return true })()`)
		p.Wait(`Math.abs(gms.view.from / gms.view.end - 0.5) < 0.01`)
	}
	// What lies outside of the range that is shown is filtered.
	if charts > 0 {
		p.Wait(`document.querySelector("#finding-1 a.jump").offsetParent === null`)
	}
	p.Focus("#tl-canvas")
	p.Type("0")
	p.Wait(`document.querySelector("#finding-1 a.jump").offsetParent !== null`)
	// From a finding to its window.
	p.Click("#finding-1 a.jump")
	const framed = `gms.timeline.frame && gms.timeline.frame.f === 1800000000 && gms.timeline.frame.t === 1842000000 && gms.view.from < 1800000000 && gms.view.to > 1842000000 && gms.view.to < 1850000000`
	p.Wait(framed)
	if c := browsertest.Eval[string](p, `document.querySelector("#tl-caption:not([hidden]) b").textContent`); !strings.HasPrefix(c, "Finding 1: Runs of search.") {
		t.Errorf("the frame is called %q", c)
	}
	// A place that was to be noted just then does not undo it.
	browsertest.Eval[bool](p, `(() => { location.hash = "#t=100000000-200000000"; gms.put("t", "5-6"); return true })()`)
	p.Wait(`Math.round(gms.view.from) === 100000000 && location.hash.includes("t=100000000-200000000")`)
	browsertest.Eval[bool](p, `(() => { document.querySelector("#finding-1 a.jump").click(); return true })()`)
	p.Wait(framed)
	p.Screenshot("finding", false)
	// A click into an exact window shows the interval.
	type point struct{ X, Y float64 }
	pt := browsertest.Eval[point](p, `(() => { document.getElementById("tl-canvas").scrollIntoView({block: "center"}); const r = document.getElementById("tl-canvas").getBoundingClientRect(); return { X: r.left + 500, Y: r.top + 150 } })()`)
	p.Hover(pt.X, pt.Y)
	p.Wait(`!document.getElementById("tl-tip").hidden`)
	p.ClickAt(pt.X, pt.Y)
	p.Wait(`!document.getElementById("tl-details").hidden`)
	p.Screenshot("details", false)
	p.Type("n")
	p.Wait(`document.getElementById("tl-details").textContent.includes("of 2")`)
	// A wait is shown step by step, and the address bar keeps it.
	p.Focus("#tl-canvas")
	p.Type("w")
	p.Wait(`/^G\d+ .* waited /.test(document.querySelector("#tl-details h3").textContent) && location.hash.includes("s=w")`)
	wait := strings.TrimPrefix(browsertest.Eval[string](p, `location.hash`), "#")
	// Themes.
	for _, want := range []string{"light", "dark", "auto"} {
		p.Click("#theme")
		if got := browsertest.Eval[string](p, `document.getElementById("theme").textContent`); got != "Theme: "+want {
			t.Errorf("theme button says %q, want %s", got, want)
		}
	}
	p.Check()

	r := b.Open(t, file, wait, browsertest.View{Width: 1280, Height: 900})
	r.Wait(`!document.getElementById("tl-details").hidden && /waited/.test(document.querySelector("#tl-details h3").textContent)`)
	r.Check()
	// A link opens at its place.
	q := b.Open(t, file, "t=300000000-348000000&q=main", browsertest.View{Width: 1280, Height: 900, Scale: 2, Dark: true})
	q.Wait(`document.documentElement.dataset.timeline === "ready" && Math.round(gms.view.from) === 300000000`)
	if v := browsertest.Eval[string](q, `document.getElementById("class-filter").value`); v != "main" {
		t.Errorf("filter is %q", v)
	}
	q.Screenshot("link-dark", false)
	q.Check()
}

// TestBrowserDiff opens a comparison: no request, no script out of names, and
// its words and drawings stand without scripts.
func TestBrowserDiff(t *testing.T) {
	b := browsertest.Start(t)
	file := diffFile(t)
	p := b.Open(t, file, "", browsertest.View{Width: 1280, Height: 900})
	p.Wait(`document.documentElement.classList.contains("js") && !!document.querySelector("table.sortable thead button")`)
	for _, v := range []struct {
		browsertest.View
		sorted string // by a click
	}{{browsertest.View{Width: 1280, Height: 900}, "descending"}, {browsertest.View{Width: 360, Height: 800, Dark: true}, "ascending"}} {
		look(p, v.View)
		if got := browsertest.Eval[string](p, `String(window.pwned)`); got != "undefined" {
			t.Errorf("a name was executed: pwned = %s", got)
		}
		if n := browsertest.Eval[int](p, `document.querySelectorAll("main script, main img, main iframe, [onerror]").length`); n != 0 {
			t.Errorf("%d elements came out of names", n)
		}
		if w := browsertest.Eval[int](p, `document.documentElement.scrollWidth - innerWidth`); w > 0 {
			t.Errorf("the page is %d px too wide at %d px", w, v.Width)
		}
		p.Click("#classes thead th:nth-child(6) button")
		if s := browsertest.Eval[string](p, `document.querySelector("#classes th:nth-child(6)").getAttribute("aria-sort")`); s != v.sorted {
			t.Errorf("aria-sort is %q, want %q", s, v.sorted)
		}
		drawn(t, p, "#causes figure[data-chart]")
		p.Screenshot("diff", true)
	}
	p.Check()
	p = b.Open(t, file, "", browsertest.View{Width: 1280, Height: 900, NoScript: true})
	if n := browsertest.Eval[int](p, `document.querySelectorAll("#causes svg rect, #metrics svg rect").length`); n < 20 {
		t.Errorf("%d bars, want at least 20", n)
	}
}

// TestBrowserLoad measures large reports; in a short test the largest, since TestBrowser and
// TestBrowserFrames open the others.
func TestBrowserLoad(t *testing.T) {
	b := browsertest.Start(t)
	sizes := []struct{ ps, bins int }{{256, 2000}, {64, 2000}, {8, 1200}}
	if !tracetest.Long() {
		sizes = sizes[:1]
	}
	for _, size := range sizes {
		file := writePage(t, fakeDoc(size.ps, size.bins), Options{ECharts: browserScript(t)})
		p := b.Open(t, file, "", browsertest.View{Width: 1280, Height: 900})
		p.Wait(`document.documentElement.dataset.timeline === "ready"`)
		t.Logf("%d Ps, %d bins: %s", size.ps, size.bins, browsertest.Eval[string](p, `(async () => {
			const paint = performance.getEntriesByType("paint").map(e => e.name + " " + Math.round(e.startTime) + " ms").join(", ");
			const nav = performance.getEntriesByType("navigation")[0];
			const t0 = performance.now();
			for (let i = 0; i < 5; i++) { gms.view.set(i * 1e8, 3e9 + i * 1e8); gms.timeline.draw(); }
			return paint + ", interactive " + Math.round(nav.domInteractive) + " ms, loaded " + Math.round(nav.loadEventEnd) + " ms, redraw of the timeline " + Math.round((performance.now() - t0) / 5) + " ms";
		})()`))
		p.Screenshot(fmt.Sprintf("load-%d", size.ps), false)
		p.Check()
	}
}

// TestBrowserAccessible lets axe-core judge the page by WCAG 2.2 AA and its best
// practices: light and dark, wide and narrow (in a short test not both of both), with all that
// is folded open and with the timeline's details shown.
func TestBrowserAccessible(t *testing.T) {
	axe := browsertest.Axe(t)
	b := browsertest.Start(t)
	report := writePage(t, withCPUs(fakeDoc(4, 200), 2), Options{ECharts: browserScript(t)})
	views := []browsertest.View{
		{Width: 1280, Height: 900}, {Width: 360, Height: 740, Dark: true}, {Width: 1280, Height: 900, Dark: true}, {Width: 360, Height: 740},
	}
	if !tracetest.Long() {
		views = views[:2]
	}
	for name, file := range map[string]string{"report": report, "diff": diffFile(t), "fleet": fleetFile(t, 12)} {
		for _, v := range views {
			p := b.Open(t, file, "", v)
			if name == "report" {
				ready(t, p, 0)
				p.Focus("#tl-canvas")
				p.Type("n")
				browsertest.Eval[bool](p, `(gms.timeline.visit(() => gms.timeline.show({ win: 0, i: gms.timeline.arrays()["w0.stack"].findIndex(x => x > 0) })), true)`)
				p.Wait(`!document.getElementById("tl-caption").hidden && !!document.querySelector("#tl-details ol.stack")`)
			}
			browsertest.Eval[bool](p, `(() => { for (const d of document.querySelectorAll("details")) d.open = true; return true })()`)
			browsertest.Eval[bool](p, axe+`; true`)
			passed := browsertest.Eval[int](p, `(async () => {
				window.judged = await axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], resultTypes: ["violations"] });
				return judged.passes.length;
			})()`)
			bad := browsertest.Eval[string](p, `judged.violations.map(v => v.id + " (" + v.impact + ", " + v.nodes.length + "): " + v.help + "\n    " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + " " + (n.any[0] ? n.any[0].message : "")).join("\n    ")).join("\n")`)
			t.Logf("%s, %d px, dark %v: %d rules of axe-core passed", name, v.Width, v.Dark, passed)
			if bad != "" {
				t.Errorf("%s, %d px, dark %v:\n%s", name, v.Width, v.Dark, bad)
			}
			if passed < 20 {
				t.Errorf("%s: only %d rules of axe-core found anything to judge", name, passed)
			}
		}
	}
}

// TestBrowserKeyboard walks the page by keyboard alone: what can be reached is
// visible, has a name and shows that it has the focus; no place holds it; and
// the timeline can be read without a mouse.
func TestBrowserKeyboard(t *testing.T) {
	b := browsertest.Start(t)
	p := b.Open(t, writePage(t, fakeDoc(4, 300), Options{ECharts: browserScript(t)}), "", browsertest.View{Width: 1280, Height: 900})
	ready(t, p, 0)
	stops := map[string]bool{}
	for range 600 {
		p.Type("\t")
		// A busy machine scrolls a moment later.
		p.Wait(`(r => r.bottom >= 0 && r.top <= innerHeight)((document.activeElement || document.body).getBoundingClientRect())`)
		s := browsertest.Eval[string](p, `(() => {
			const e = document.activeElement;
			if (!e || e === document.body) return "";
			const r = e.getBoundingClientRect(), o = getComputedStyle(e);
			const name = e.getAttribute("aria-label") || e.textContent.trim() || (e.labels && e.labels.length ? e.labels[0].textContent : "");
			const bad = [];
			if (!name) bad.push("no name");
			if (r.width < 1 || r.height < 1) bad.push("no size");
			if (o.outlineStyle === "none") bad.push("no outline");
			if (r.bottom < 0 || r.top > innerHeight) bad.push("out of sight");
			return e.tagName + "#" + e.id + " " + name.slice(0, 40) + (bad.length ? " BAD: " + bad.join(", ") : "") + " at " + Math.round(r.top + scrollY) + "," + Math.round(r.left);
		})()`)
		if s == "" || stops[s] {
			break // round once
		}
		stops[s] = true
		if strings.Contains(s, " BAD: ") {
			t.Error(s)
		}
	}
	t.Logf("%d stops", len(stops))
	if len(stops) < 60 || len(stops) == 600 {
		t.Errorf("%d stops", len(stops))
	}
	p.Focus("#tl-canvas")
	for _, c := range []struct{ keys, want string }{
		{"n", "1 of 2"}, {"n", "2 of 2"}, {"p", "1 of 2"}, {"w", "waited"}, {"0", "waited"},
	} {
		p.Type(c.keys)
		p.Wait(fmt.Sprintf(`document.getElementById("tl-details").textContent.includes(%q)`, c.want))
	}
	p.Type("n")
	p.Type("\r")
	p.Wait(`/^(G\d+ on )?P\d+/.test(document.querySelector("#tl-details h3").textContent)`)
	first := browsertest.Eval[string](p, `location.hash`)
	p.Type(".")
	p.Wait(fmt.Sprintf(`location.hash !== %q && location.hash.includes("s=")`, first))
	p.Check()
}

func diffFile(t *testing.T) string {
	t.Helper()
	c, b, a := diffOf(t)
	file := filepath.Join(t.TempDir(), "diff.html")
	if err := os.WriteFile(file, []byte(writeDiff(t, c, b, a, Options{ECharts: browserScript(t)})), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func fleetFile(t *testing.T, groups int) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "fleet.html")
	if err := os.WriteFile(file, []byte(writeFleet(t, fakeFleet(groups), Options{ECharts: browserScript(t)})), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestBrowserFleet looks at few groups and at many.
func TestBrowserFleet(t *testing.T) {
	b := browsertest.Start(t)
	many := 500
	if !tracetest.Long() {
		many = 100
	}
	for _, groups := range []int{5, many} {
		p := b.Open(t, fleetFile(t, groups), "", browsertest.View{Width: 1280, Height: 900})
		p.Wait(`document.documentElement.classList.contains("js") && !!document.querySelector("table.sortable thead button")`)
		for _, v := range []struct {
			browsertest.View
			first int // traces of the group that a click puts first
		}{{browsertest.View{Width: 1280, Height: 900}, 19 + groups}, {browsertest.View{Width: 360, Height: 800, Dark: true}, 20}} {
			look(p, v.View)
			if got := browsertest.Eval[string](p, `String(window.pwned)`); got != "undefined" {
				t.Errorf("a name was executed: pwned = %s", got)
			}
			if n := browsertest.Eval[int](p, `document.querySelectorAll("main script, main img, main iframe, [onerror]").length`); n != 0 {
				t.Errorf("%d elements came out of names", n)
			}
			if w := browsertest.Eval[int](p, `document.documentElement.scrollWidth - innerWidth`); w > 0 {
				t.Errorf("the page is %d px too wide at %d px", w, v.Width)
			}
			drawn(t, p, "#groups figure[data-chart], #trend figure[data-chart]")
			p.Screenshot(fmt.Sprintf("fleet-%d-%d", groups, v.Width), groups == 5)
			p.Click("#class-table thead th:nth-child(2) button")
			if n := browsertest.Eval[int](p, `Number(document.querySelector("#class-table tbody td").dataset.v)`); n != v.first {
				t.Errorf("the first group has %d traces, want %d", n, v.first)
			}
			p.Focus("#class-filter")
			p.Type("service-3,")
			if n := browsertest.Eval[int](p, `[...document.querySelectorAll("#class-table tbody tr")].filter(r => !r.hidden).length`); n != 1 {
				t.Errorf("the filter leaves %d groups", n)
			}
			p.Type(strings.Repeat("\b", len("service-3,")))
		}
		p.Check()
	}
}

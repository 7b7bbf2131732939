//go:build browser

package html

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/internal/browsertest"
)

// TestBrowserTasks does what a reader wants to do with a page, one thing after the other, and by
// nothing but what the page offers: on the reports that REPORTS names, or on a made one.
func TestBrowserTasks(t *testing.T) {
	files := filepath.SplitList(os.Getenv("REPORTS"))
	if len(files) == 0 {
		files = []string{writePage(t, fakeDoc(4, 300), Options{ECharts: browserScript(t)})}
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { tasks(t, file) })
	}
}

func tasks(t *testing.T, file string) {
	p := browsertest.Start(t).Open(t, file, "", desktop)
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
	const unit = `[...document.querySelectorAll("#kind-1 figure.unit")].find(f => f.dataset.sel)`
	for i, task := range []struct {
		what string
		do   func()
	}{
		{"read what the matter is", func() {
			if h := plain("#verdict h1"); len(h) < 20 {
				t.Errorf("the headline is %q", h)
			}
		}},
		{"open the kind that loses most", func() {
			p.Click(`#work tbody a[href="#kind-1"]`)
			p.Wait(`document.getElementById("kind-1").open`)
		}},
		{"see how its latencies lie, and choose a part of them", func() {
			if !eval(`!!document.getElementById("data_echarts") && !!document.querySelector("#kind-1 figure[data-chart]")`) {
				return
			}
			eval(`(document.querySelector("#kind-1 figure[data-chart]").scrollIntoView(), true)`)
			p.Wait(`!!document.querySelector("#kind-1 figure canvas")`)
			before := plain("#kind-1 figure .live + p")
			want(before, "(100 %)")
			eval(`(gms.charts.find(l => document.getElementById("kind-1").contains(l.div)).chart.dispatchAction({ type: "dataZoom", dataZoomIndex: 0, start: 70, end: 100 }), true)`)
			p.Wait(`!document.querySelector("#kind-1 figure .live + p").textContent.includes("(100\u00a0%)")`)
		}},
		{"find its slowest unit, and say who did what meanwhile", func() {
			want(browsertest.Eval[string](p, unit+`.querySelector("figcaption a").textContent`), " took ")
			if !eval(unit + `.querySelectorAll(".lane rect title").length > 0`) {
				t.Error("nothing says what it did")
			}
		}},
		{"go there in the timeline", func() {
			eval(`(` + unit + `.querySelector("[data-go]").dispatchEvent(new MouseEvent("click", { bubbles: true })), true)`)
			p.Wait(`gms.timeline.frame && gms.timeline.frame.g > 0`)
			want(plain("#tl-caption"), " on G")
		}},
		{"select a fifth of what is shown", func() {
			eval(`(gms.timeline.go(0, gms.view.end), true)`)
			eval(`(() => { const c = document.getElementById("tl-canvas"), r = c.getBoundingClientRect(), w = r.width - 62;
				c.setPointerCapture = () => {};
				for (const [type, at] of [["pointerdown", 0.4], ["pointermove", 0.5], ["pointermove", 0.6], ["pointerup", 0.6]])
					c.dispatchEvent(new PointerEvent(type, { pointerId: 1, clientX: r.left + 52 + at * w, clientY: r.top + 160, shiftKey: true, bubbles: true }));
				return true })()`)
			p.Wait(`gms.view.to - gms.view.from < gms.view.end / 4 && !document.getElementById("selection").hidden`)
		}},
		{"read numbers, the flame graph and what is coarse of that stretch", func() {
			p.Wait(`document.getElementById("selection").textContent.includes("kept exactly")`)
			want(plain("#selection"), "≈ are sums of cells")
			if !eval(`document.querySelectorAll("#work td.ranged").length > 5 && document.querySelectorAll("#class-table td.ranged").length > 0 && gms.flame.root.ns >= 0`) {
				t.Error("the numbers are of the whole trace")
			}
		}},
		{"select one unit, in the address too", func() {
			eval(`(` + unit + `.querySelector("button.pick").click(), true)`)
			p.Wait(`location.hash.includes("sel=u") && location.hash.includes("t=") && document.getElementById("selection").textContent.includes(" took ")`)
		}},
		{"see where a finding is, go there, and find a goroutine that is not kept", func() {
			if eval(`!!document.querySelector("#tl-findings button")`) {
				eval(`(document.getElementById("selection").querySelector("button").click(), true)`)
				eval(`(document.querySelector("#tl-findings button").focus(), true)`)
				p.Click("#tl-findings button")
				p.Wait(`gms.timeline.frame && location.hash.includes("frame=")`)
			}
			p.Focus("#tl-canvas")
			p.Type("/")
			p.Wait(`document.activeElement.id === "tl-find"`)
			eval(`(document.getElementById("tl-find").value = "", true)`) // the driver sends the letter apart from its key
			p.Type("g999999\r")
			p.Wait(`document.getElementById("tl-details").textContent.includes("--goroutine 999999")`)
		}},
		{"select a group, and take the selection back by one click", func() {
			p.Click("#class-table tr[data-sel] button.pick")
			p.Wait(`location.hash.includes("sel=g")`)
			p.Click("#selection button")
			p.Wait(`document.getElementById("selection").hidden && !/sel=|t=/.test(location.hash) && !document.querySelector("td.ranged")`)
		}},
	} {
		task.do()
		if t.Failed() {
			t.Fatalf("task %d, %s", i+1, task.what)
		}
	}
	p.Check()
}

//go:build browser

package html

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/browsertest"
)

// The screens on which the first screen is looked at.
var (
	desktop = browsertest.View{Width: 1440, Height: 900}
	phone   = browsertest.View{Width: 390, Height: 844}
	narrow  = browsertest.View{Width: 320, Height: 600}
)

// TestBrowserFirstScreen looks at one report in several ways.
func TestBrowserFirstScreen(t *testing.T) {
	doc := fakeDoc(4, 300) // whose worst wait is known in part
	f, w := &doc.Result.Findings[0], &doc.Result.Timeline.Windows[0]
	f.Evidence = []findings.Evidence{{What: findings.Say("%s", strings.Repeat("waits of goroutines ", 4)), Value: findings.Say("%s", strings.Repeat("1,234 of 5,678 ", 4)), Limit: findings.Say("3")}}
	w.Title, f.FromNs, f.ToNs = f.ID, w.FromNs, w.ToNs
	w.Intervals[0].From += 1_234
	p := browsertest.Start(t).Open(t, writePage(t, doc, Options{}), "", desktop)
	p.Wait(`document.documentElement.dataset.timeline === "ready"`)
	pictureOfTheMoment(t, p)
	windowList(t, p)
	timeOfARun(t, p)
	for _, v := range []browsertest.View{desktop, phone, narrow} {
		look(p, v)
		anchors(t, p, v)
		threshold(t, p, v)
	}
	look(p, phone)
	copies(t, p)
	p.Check()
}

// pictureOfTheMoment wants no colour of an idle P in the picture on the first screen, and
// what is not kept hatched, as its legend says.
func pictureOfTheMoment(t *testing.T, p *browsertest.Page) {
	fills := browsertest.Eval[string](p, `[...document.querySelectorAll(".moment rect")].map(r => getComputedStyle(r).fill).join(" ")`)
	for _, c := range []string{"idle", "unused"} {
		if colour := browsertest.Eval[string](p, fmt.Sprintf(`gms.colour(%q)`, c)); strings.Contains(fills, colour) {
			t.Errorf("the picture has the colour of what is %s: %s", c, fills)
		}
	}
	if !strings.Contains(fills, "hatch") || !browsertest.Eval[bool](p, `!!document.getElementById("hatch")`) {
		t.Errorf("nothing is hatched: %s", fills)
	}
	if got := text(p, ".worst-wait .legend"); !strings.Contains(got, "not kept") {
		t.Errorf("the legend is %q", got)
	}
}

// windowList wants headlines in the list of exact windows, not the names of detectors.
func windowList(t *testing.T, p *browsertest.Page) {
	const want = ": Runs of search.(*Index).rebuild.func2 lasting up to 41\u00a0ms"
	list := browsertest.Eval[[]string](p, `[...document.querySelectorAll("#tl-windows option")].map(o => o.textContent)`)
	if !slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, want) }) {
		t.Errorf("no %q in %q", want, list)
	}
}

// timeOfARun wants the time of a run rounded.
func timeOfARun(t *testing.T, p *browsertest.Page) {
	got := browsertest.Eval[string](p, `(() => {
		gms.timeline.visit(() => gms.timeline.show({ win: 0, i: 0 }));
		return [...document.querySelectorAll("#tl-details dt")].find(d => d.textContent === "From").nextElementSibling.textContent;
	})()`)
	if _, digits, _ := strings.Cut(got, "."); got == "" || strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }) > 5 {
		t.Errorf("a run is from %q", got)
	}
}

// anchors follows links to sections and findings: each ends right below the header.
func anchors(t *testing.T, p *browsertest.Page, v browsertest.View) {
	for _, id := range []string{"findings", "finding-1", "ps", "classes"} {
		if room := browsertest.Eval[float64](p, fmt.Sprintf(`(async () => {
			location.hash = %q;
			await new Promise(requestAnimationFrame);
			return document.getElementById(%[1]q).getBoundingClientRect().top - document.querySelector(".top").getBoundingClientRect().bottom;
		})()`, id)); room < 0 || room > 40 {
			t.Errorf("at %d px: #%s is %g px below the header", v.Width, id, room)
		}
	}
}

// threshold wants the heading of the column whole, however narrow its values.
func threshold(t *testing.T, p *browsertest.Page, v browsertest.View) {
	if n := browsertest.Eval[int](p, `(() => { for (const d of document.querySelectorAll("details.roomy")) d.open = true; const r = document.createRange(); r.selectNodeContents(document.querySelector("#finding-1 .evidence thead th:last-child")); return new Set([...r.getClientRects()].map(x => x.top)).size })()`); n != 1 {
		t.Errorf("at %d px the heading has %d lines", v.Width, n)
	}
	if w := browsertest.Eval[int](p, `document.documentElement.scrollWidth - innerWidth`); w > 0 {
		t.Errorf("at %d px the page is %d px too wide", v.Width, w)
	}
}

// copies copies the verdict by one click; where the clipboard refuses, it is selected.
func copies(t *testing.T, p *browsertest.Page) {
	for _, c := range []struct{ write, status string }{
		{`s => { window.copied = s; return Promise.resolve() }`, "Copied"},
		{`() => Promise.reject(new Error("refused"))`, "Selected, ready to be copied"},
	} {
		browsertest.Eval[bool](p, fmt.Sprintf(`(window.copied = "", Object.defineProperty(navigator, "clipboard", { value: { writeText: %s }, configurable: true }), true)`, c.write))
		p.Click("#copy")
		p.Wait(fmt.Sprintf(`document.querySelector(".copy [role=status]").textContent === %q`, c.status))
		got := browsertest.Eval[string](p, `window.copied || String(getSelection())`)
		if !strings.HasPrefix(got, "**") || !strings.Contains(got, "#finding-1") {
			t.Errorf("%s: %q", c.status, got)
		}
	}
}

// TestBrowserWhereItIsWorst follows the link on the first screen: in the next frame its caption
// is below the header, and the picture at least begins above the lower edge.
func TestBrowserWhereItIsWorst(t *testing.T) {
	b := browsertest.Start(t)
	file := writePage(t, fakeDoc(8, 1200), Options{})
	for name, v := range map[string]browsertest.View{"desktop": desktop, "phone": phone} {
		p := b.Open(t, file, "", v)
		p.Wait(`document.documentElement.dataset.timeline === "ready"`)
		type place struct{ Header, Caption, Lanes, Window float64 }
		at := browsertest.Eval[place](p, `(async () => {
			document.querySelector("#verdict .parts a.jump:last-of-type").click();
			while (!gms.timeline.frame) await new Promise(requestAnimationFrame);
			const box = s => document.querySelector(s).getBoundingClientRect();
			return { Header: box(".top").bottom, Caption: box("#tl-caption").top, Lanes: box("#tl-canvas").top + 150, Window: innerHeight };
		})()`)
		if at.Caption < at.Header || at.Caption > at.Header+40 || at.Lanes > at.Window {
			t.Errorf("%s: %+v", name, at)
		}
		p.Check()
	}
}

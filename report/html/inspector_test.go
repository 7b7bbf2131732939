//go:build browser

package html

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/internal/browsertest"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report"
)

// text is what an element shows, with plain spaces.
func text(p *browsertest.Page, selector string) string {
	s := browsertest.Eval[string](p, fmt.Sprintf(`(document.querySelector(%q) || {}).innerText || ""`, selector))
	return strings.NewReplacer("\u00a0", " ", "\u202f", " ").Replace(s)
}

// twoRuns returns a run interval of a goroutine, and the next one, which is on another P
// and not its last in the window.
func twoRuns(t *testing.T, doc *report.Document) (now, next timeline.PInterval) {
	t.Helper()
	intervals := doc.Result.Timeline.Windows[1].Intervals // the earlier one
	for _, s := range intervals {
		if s.G < 0 {
			continue
		}
		later := 0
		next.From = 1 << 62
		for _, o := range intervals {
			if o.G != s.G || o.From <= s.From {
				continue
			}
			if later++; o.From < next.From {
				next = o
			}
		}
		if later > 1 && next.P != s.P {
			return s, next
		}
	}
	t.Fatal("no goroutine runs three times")
	return
}

// TestBrowserInspector follows a goroutine from run to run by keyboard, searches for it,
// and goes back.
func TestBrowserInspector(t *testing.T) {
	doc := fakeDoc(16, 300)
	now, next := twoRuns(t, doc)
	file := writePage(t, doc, Options{})
	b := browsertest.Start(t)
	p := b.Open(t, file, fmt.Sprintf("t=300000000-348000000&s=%d-%d", now.P, now.From), browsertest.View{Width: 1280, Height: 900})
	p.Wait(`document.documentElement.dataset.timeline === "ready" && !document.getElementById("tl-details").hidden`)
	got := text(p, "#tl-details")
	for _, want := range []string{
		fmt.Sprintf("G%d on P%d", now.G, now.P), quantity.Duration(now.To - now.From), "mostly: ",
		fmt.Sprintf("G%d in ", now.By), "when another goroutine woke it", "It blocked receiving from a channel", "Stopped in",
	} {
		if !strings.Contains(got, strings.ReplaceAll(want, "\u00a0", " ")) {
			t.Errorf("%q is not among the details:\n%s", want, got)
		}
	}

	const nextButton = `[...document.querySelectorAll("#tl-details button")].find(b => b.textContent.startsWith("Next run"))`
	browsertest.Eval[bool](p, nextButton+`.focus(), true`)
	p.Type("\r")
	p.Wait(fmt.Sprintf(`location.hash.includes("s=%d-%d")`, next.P, next.From))
	if h := text(p, "#tl-details h3"); h != fmt.Sprintf("G%d on P%d", next.G, next.P) {
		t.Errorf("the next run of G%d is %q", now.G, h)
	}
	if !browsertest.Eval[bool](p, `document.getElementById("tl-details").contains(document.activeElement)`) {
		t.Error("the details have lost the keyboard")
	}
	browsertest.Eval[bool](p, `(history.back(), true)`)
	p.Wait(fmt.Sprintf(`location.hash.includes("s=%d-%d") && gms.timeline.stint(gms.timeline.picked).p === %d`, now.P, now.From, now.P))

	p.Focus("#tl-find")
	p.Type(fmt.Sprintf("g%d\r", next.G))
	p.Wait(`/^\d+ of \d+ runs$/.test(document.getElementById("tl-found").textContent)`)
	if g := browsertest.Eval[int64](p, `gms.timeline.stint(gms.timeline.picked).g`); g != next.G {
		t.Errorf("the search for G%d finds G%d", next.G, g)
	}
	fragment := strings.TrimPrefix(browsertest.Eval[string](p, `location.hash`), "#")
	at := browsertest.Eval[float64](p, `gms.timeline.stint(gms.timeline.picked).from`)
	p.Check()

	q := b.Open(t, file, fragment, browsertest.View{Width: 390, Height: 800})
	q.Wait(`document.documentElement.dataset.timeline === "ready"`)
	if v := browsertest.Eval[string](q, `document.getElementById("tl-find").value`); v != fmt.Sprintf("g%d", next.G) {
		t.Errorf("the search is %q after the page was opened again", v)
	}
	if x := browsertest.Eval[float64](q, `gms.timeline.stint(gms.timeline.picked).from`); x != at {
		t.Errorf("the run interval begins at %g after the page was opened again, want %g", x, at)
	}
	q.Focus("#tl-find")
	browsertest.Eval[bool](q, `(document.getElementById("tl-find").value = "", true)`)
	q.Type("__f__run\r") // a function in which some stopped
	q.Wait(`gms.timeline.stint(gms.timeline.picked).stack.some(f => gms.timeline.D.frames[f][0].includes("__f__run"))`)
	if w := browsertest.Eval[int](q, `document.documentElement.scrollWidth - innerWidth`); w > 0 {
		t.Errorf("the page is %d px too wide", w)
		t.Log(tooWide(q))
	}
	browsertest.Eval[bool](q, `(() => { document.querySelector(".tl-side").scrollIntoView(); return true })()`)
	q.Screenshot("inspector-390", false)
	q.Check()

	// Back to the page as it was opened.
	r := b.Open(t, file, "", browsertest.View{Width: 1280, Height: 900})
	r.Wait(`document.documentElement.dataset.timeline === "ready"`)
	r.Focus("#tl-canvas")
	r.Type("n")
	r.Wait(`gms.timeline.frame && location.hash.includes("s=f1")`)
	browsertest.Eval[bool](r, `(history.back(), true)`)
	r.Wait(`!location.hash && !gms.timeline.frame && document.getElementById("tl-details").hidden && gms.view.to - gms.view.from === gms.view.end`)
	r.Check()
}

// TestBrowserStatistics holds the sums over an exact window against its run intervals.
func TestBrowserStatistics(t *testing.T) {
	doc := fakeDoc(4, 300)
	w := &doc.Result.Timeline.Windows[0]
	var program, all, longest int64
	starts, steals := int64(0), int64(0)
	for _, s := range w.Intervals {
		all += s.To - s.From
		if s.State == timeline.User {
			program += s.To - s.From
			longest = max(longest, s.Wait)
			starts++
		}
	}
	for _, a := range w.Arrows {
		if a.Kind == "steal" {
			steals++
		}
	}
	p := browsertest.Start(t).Open(t, writePage(t, doc, Options{}), fmt.Sprintf("t=%d-%d", w.FromNs, w.ToNs), browsertest.View{Width: 1280, Height: 900})
	p.Wait(`document.documentElement.dataset.timeline === "ready"`)
	rows := browsertest.Eval[map[string]string](p, `Object.fromEntries([...document.querySelectorAll("#tl-stats dt")].map(dt => [dt.textContent, dt.nextElementSibling.textContent.replace(/\u00a0/g, " ")]))`)
	for name, want := range map[string]string{
		"program": quantity.Part(program, all), "Starts": quantity.Count(starts), "Steals": quantity.Count(steals), "Longest wait": quantity.Duration(longest) + ", ",
	} {
		if want = strings.ReplaceAll(want, "\u00a0", " "); !strings.HasPrefix(rows[name], want) {
			t.Errorf("%s: %q, want %q", name, rows[name], want)
		}
	}
	if n := browsertest.Eval[int](p, `document.querySelectorAll("#tl-stats tbody tr").length`); n != 4 {
		t.Errorf("%d Ps have a row", n)
	}
	// Of the whole trace only the exact parts tell starts, and the panel says so.
	p.Focus("#tl-canvas")
	p.Type("0")
	p.Wait(`/that are kept exactly/.test(document.getElementById("tl-stats").textContent)`)
	p.Check()
}

//go:build browser

package html

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/internal/browsertest"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// TestBrowserCaption opens and follows links into the timeline: what they frame has a name.
func TestBrowserCaption(t *testing.T) {
	doc := fakeDoc(4, 300)
	slow := work.Slow{BeginNs: 700_000_000, EndNs: 760_000_000}
	doc.Result.Work.Kinds = []work.UnitKind{{Name: "checkout " + hostileNames[4], How: "task", Entry: true, Count: 1, Slowest: []work.Slow{slow}}}
	file := writePage(t, doc, Options{})
	b := browsertest.Start(t)
	var p *browsertest.Page
	for i, c := range []struct{ fragment, want string }{
		{"frame=1800000000-1842000000", "Finding 1: Runs of search."},
		{"frame=300000000-348000000-1000", "G1000 search.(*Index).rebuild.func2 waited 48 ms"},
		{"frame=300000000-348000000-7", "G7 waited 48 ms"},
		{"frame=700000000-760000000", "checkout " + hostileNames[4] + ": 700.0 ms to 760.0 ms (60 ms)"},
		{"frame=900000000-960000000", "900.0 ms to 960.0 ms (60 ms)"},
		{"frame=x", ""},
		{"t=900000000-960000000", ""},
	} {
		if i < 2 || tracetest.Long() {
			p = b.Open(t, file, c.fragment, browsertest.View{Width: 1280, Height: 900})
			p.Wait(`document.documentElement.dataset.timeline === "ready"`)
		} else {
			browsertest.Eval[bool](p, fmt.Sprintf(`new Promise(done => { addEventListener("hashchange", () => setTimeout(done, 0, true), { once: true }); location.hash = %q; })`, c.fragment))
		}
		if got := text(p, "#tl-caption:not([hidden]) b"); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: the caption is %q, want %q", c.fragment, got, c.want)
		}
		if c.want != "" {
			if in := browsertest.Eval[bool](p, `gms.view.from < gms.timeline.frame.f && gms.timeline.frame.t < gms.view.to && gms.view.to - gms.view.from < 2 * (gms.timeline.frame.t - gms.timeline.frame.f)`); !in {
				t.Errorf("%s: what is framed does not fill the picture", c.fragment)
			}
			p.Click("#tl-caption button")
			p.Wait(`document.getElementById("tl-caption").hidden && !location.hash.includes("frame=")`)
		}
		if got := browsertest.Eval[string](p, `String(window.pwned)`); got != "undefined" {
			t.Errorf("a name was executed: pwned = %s", got)
		}
		p.Check()
	}
}

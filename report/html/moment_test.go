package html

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/waits"
)

const ms = int64(1_000_000)

// momentWaits are waits of three goroutines, the longest of which began last.
func momentWaits() *waits.Result {
	detail := func(g, from, to int64, name string) waits.WaitDetail {
		return waits.WaitDetail{G: g, FromNs: from, ToNs: to, WaitNs: to - from, P: 3, Name: name, Source: "local", AheadFromNs: from, Path: []waits.Step{{AtNs: from, Queue: "local", P: 3, Why: "unblock"}}}
	}
	return &waits.Result{Worst: []waits.WaitDetail{
		detail(7, 10*ms, 20*ms, "main.a"), detail(8, 10*ms, 30*ms, "main.b"), detail(9, 100*ms, 150*ms, "main.a"),
	}}
}

// TestMomentIsOfAVictim uses the longest wait of a victim in the window of the finding.
func TestMomentIsOfAVictim(t *testing.T) {
	victim := func(a findings.Actor) []findings.Actor {
		a.Role = findings.Victim
		return []findings.Actor{{Role: findings.Cause, G: 8, Class: "main.b"}, a}
	}
	for _, c := range []struct {
		what     string
		from, to int64
		actors   []findings.Actor
		want     int64 // goroutine; 0: none
	}{
		{"of the class", 0, 200 * ms, victim(findings.Actor{Class: "main.a"}), 9},
		{"of the class, in the window", 0, 50 * ms, victim(findings.Actor{Class: "main.a"}), 7},
		{"of the goroutine", 0, 200 * ms, victim(findings.Actor{G: 7}), 7},
		{"of a class by another creator", 0, 200 * ms, victim(findings.Actor{Class: "main.a", Creator: "main.c"}), 0},
		{"outside of the window", 160 * ms, 200 * ms, victim(findings.Actor{Class: "main.a"}), 0},
		{"of the cause alone", 0, 200 * ms, victim(findings.Actor{})[:1], 0},
	} {
		got := int64(0)
		if s := worstWait(momentWaits(), &findings.Finding{FromNs: c.from, ToNs: c.to, Actors: c.actors}); s != nil {
			got = s.G
		}
		if got != c.want {
			t.Errorf("%s: G%d, want G%d", c.what, got, c.want)
		}
	}
}

// TestMomentIsDrawn draws when who ran, and who woke it.
func TestMomentIsDrawn(t *testing.T) {
	w := momentWaits()
	s := &w.Worst[2]
	s.By = &waits.By{G: 5, Name: "main.<b>"}
	s.Runs = []waits.Run{{G: 6, Name: "main.c", FromNs: s.FromNs + 20*ms, ToNs: s.FromNs + 45*ms, Later: true}}
	s.MoreRuns = 2
	m := newMoment(w, &findings.Finding{FromNs: 0, ToNs: 200 * ms, Actors: []findings.Actor{{Role: findings.Victim, Class: "main.a"}}}, nil)
	if m.G != "G9" || plainSpaces(m.Waited) != "50 ms" || m.Href != "#frame=100000000-150000000-9" {
		t.Errorf("%+v", m)
	}
	svg := plainSpaces(string(m.SVG))
	for _, want := range []string{
		`G5 main.&lt;b&gt; made it runnable`,
		`class="f-overtaken" x="47%" width="42.5%"`, // from two fifths to nine tenths
		`+20 ms: G6 main.c ran for 25 ms; it became runnable later`,
		`>waits 50 ms<`, `>+50 ms<`, `P3 took it from its own queue`,
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("the drawing lacks %q:\n%s", want, svg)
		}
	}
	if last := plainSpaces(m.Text[len(m.Text)-1]); last != "Not drawn: 2 shorter runs." {
		t.Errorf("%q", last)
	}
}

// TestMomentHatchesWhatIsNotKept has a lane of no colour where no run is known, least of all
// that of an idle P; what was dropped is hatched, by its own entry in the legend.
func TestMomentHatchesWhatIsNotKept(t *testing.T) {
	for _, c := range []struct {
		what     string
		lost     int64 // of the beginning
		moreRuns int
		want     string // width of what is hatched
	}{
		{"all is kept", 0, 0, ""},
		{"the beginning is lost", 10 * ms, 0, "17%"}, // a fifth of 85 %
		{"shorter runs are dropped", 0, 2, "85%"},
		{"both", 10 * ms, 2, "85%"},
	} {
		w := momentWaits()
		s := &w.Worst[2]
		s.AheadFromNs, s.MoreRuns = s.FromNs+c.lost, c.moreRuns
		s.Runs = []waits.Run{{G: 6, Name: "main.c", FromNs: s.FromNs + 20*ms, ToNs: s.FromNs + 45*ms}}
		m := newMoment(w, &findings.Finding{FromNs: 0, ToNs: 200 * ms, Actors: []findings.Actor{{Role: findings.Victim, Class: "main.a"}}}, nil)
		svg := string(m.SVG)
		if strings.Contains(svg, `"f-idle"`) || strings.Contains(svg, `"f-unused"`) {
			t.Errorf("%s: the lane has the colour of an idle or an unused P: %s", c.what, svg)
		}
		hatched := strings.Contains(svg, `class="f-gap" x="13%" width="`+c.want)
		if hatched != (c.want != "") || slices.Contains(m.Legend, notKept) != hatched {
			t.Errorf("%s: want %q hatched, and in the legend: %v\n%s", c.what, c.want, m.Legend, svg)
		}
	}
	// Of runs none of which is known there is nothing to draw.
	w := momentWaits()
	if m := newMoment(w, &findings.Finding{FromNs: 0, ToNs: 200 * ms, Actors: []findings.Actor{{Role: findings.Victim, Class: "main.a"}}}, nil); m == nil || m.SVG != "" {
		t.Errorf("a picture of no run: %+v", m)
	}
}

// TestMomentIsOnTheFirstScreen has it on the page of a finding with a victim, and not without.
func TestMomentIsOnTheFirstScreen(t *testing.T) {
	doc := fakeDoc(4, 100)
	page := write(t, doc, Options{})
	at, bars := strings.Index(page, `<figure class="worst-wait">`), strings.Index(page, `<div class="firstbars">`)
	if at < 0 || at > bars || !strings.Contains(page[at:bars], `href="#frame=1800000000-`) {
		t.Error("no picture of the worst wait on the first screen")
	}
	f := &doc.Result.Findings[doc.Verdict.Finding]
	f.CostOf, f.Kind = findings.OfBlocked, findings.KindCause
	if strings.Contains(write(t, doc, Options{}), `<figure class="worst-wait">`) {
		t.Error("a picture of a wait for a P, of one that is about blocking")
	}
	doc.Verdict.Finding = -1
	if bytes.Contains([]byte(write(t, doc, Options{})), []byte(`<figure class="worst-wait">`)) {
		t.Error("a picture without a finding")
	}
}

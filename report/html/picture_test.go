package html

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/internal/doc"
)

func TestPictureShowsTheWindow(t *testing.T) {
	doc := fakeDoc(8, 1200)
	r := doc.Result
	w := r.Timeline.Windows[0]
	f := &r.Findings[0]
	f.FromNs, f.ToNs = w.FromNs, w.ToNs
	victim, cause := int64(0), int32(0)
	for _, s := range w.Intervals {
		if s.Wait > 1_000_000 && s.From-s.Wait > w.FromNs && victim == 0 {
			victim = s.G
		}
		if s.Class > 1 {
			cause = s.Class
		}
	}
	for i := range r.Waits.Classes {
		if r.Waits.Classes[i].ID == cause {
			f.Actors = []findings.Actor{{Role: findings.Victim, G: victim}, {Role: findings.Cause, Class: r.Waits.Classes[i].Name}}
		}
	}
	p := newPicture(r, f)
	if p == nil {
		t.Fatal("no picture of a window that is kept exactly")
	}
	for _, want := range []string{fmt.Sprintf("6 of %d Ps", 8), "Dashed boxes", "A black line above a lane", "Below a lane hangs its queue"} {
		if !strings.Contains(p.Caption, want) {
			t.Errorf("the caption does not say %q: %s", want, p.Caption)
		}
	}
	if strings.Contains(p.Caption, "in averages") {
		t.Errorf("an exact picture claims averages: %s", p.Caption)
	}
	if svg := string(p.SVG); !strings.Contains(svg, fmt.Sprintf("G%d", victim)) || !strings.Contains(svg, `class="wait"`) || !strings.Contains(svg, `class="f-user"`) {
		t.Error("no wait of the victim, or no run, is drawn")
	}

	// Waits for a P do not show what goroutines were blocked on.
	f.CostOf, f.Kind = findings.OfBlocked, findings.KindCause
	if p := newPicture(r, f); strings.Contains(p.Caption, "Dashed boxes") || strings.Contains(string(p.SVG), `class="wait"`) {
		t.Errorf("a finding about blocking shows waits for a P: %s", p.Caption)
	}

	// Outside of the windows there are bins only; and few bins show nothing.
	f.FromNs, f.ToNs = 3_000_000_000, 3_000_001_000
	p = newPicture(r, f)
	for _, want := range []string{"in averages over", "too short for the detail that was kept"} {
		if !strings.Contains(p.Caption, want) {
			t.Errorf("the caption does not say %q: %s", want, p.Caption)
		}
	}
	r.Timeline.Lanes = nil
	if newPicture(r, f) != nil {
		t.Error("a picture of nothing")
	}
}

// TestPictureOfBins draws a part of a trace, whose bins begin with that part; a P that does not
// exist has a colour of its own.
func TestPictureOfBins(t *testing.T) {
	r := gapDoc().Result
	tl := &r.Timeline
	tl.Windows, tl.NotRecorded, tl.Lanes[0].NotRecorded = nil, nil, nil
	tl.BinNs, tl.FromNs, tl.EndNs = ms/8, 100*ms, 104*ms
	busy, absent := make([]uint8, 32), make([]uint8, 32)
	for i := range busy {
		if i < 16 {
			busy[i] = 255
		} else {
			absent[i] = 255
		}
	}
	tl.Bins, tl.Lanes[0].User, tl.Lanes[0].Unused = 32, busy, absent
	p := newPicture(r, &findings.Finding{FromNs: 100 * ms, ToNs: 104 * ms})
	for _, want := range []string{`<path class="f-user" d="M0 `, `<path class="f-unused" d="M`} {
		if !strings.Contains(string(p.SVG), want) {
			t.Errorf("no %s in %s", want, p.SVG)
		}
	}
	if !slices.Contains(p.Legend, legendItem{"unused", "unused"}) {
		t.Errorf("legend %v", p.Legend)
	}

	// A P that does not exist during all of it has no lane, unless nothing else is there.
	gone := timeline.Lane{P: 7, Unused: slices.Repeat([]uint8{255}, 32)}
	tl.Lanes = append(tl.Lanes, gone)
	p = newPicture(r, &findings.Finding{FromNs: 100 * ms, ToNs: 104 * ms})
	if strings.Contains(string(p.SVG), ">P7<") || !strings.Contains(p.Caption, fmt.Sprintf("What %d of %d Ps", len(tl.Lanes)-1, len(tl.Lanes))) {
		t.Errorf("a P that does not exist is drawn: %s", p.Caption)
	}
	tl.Lanes = []timeline.Lane{gone}
	if p = newPicture(r, &findings.Finding{FromNs: 100 * ms, ToNs: 104 * ms}); !strings.Contains(string(p.SVG), ">P7<") {
		t.Error("no lane is drawn")
	}
}

// TestActorsAreNamedOnce names an actor with two stacks once, with both.
func TestActorsAreNamedOnce(t *testing.T) {
	d := fakeDoc(2, 50)
	cause := findings.Actor{Role: findings.Cause, Class: "main.flush", G: 3, Stack: []string{"main.lock"}}
	unlock := cause
	unlock.Stack = []string{"main.unlock"}
	other := cause
	other.G = 4
	d.Result.Findings[0].Actors = []findings.Actor{cause, unlock, other}
	s := write(t, d, Options{})
	_, s, _ = strings.Cut(s, `<ul class="actors">`)
	s, _, _ = strings.Cut(s, "</ul>")
	if n := strings.Count(s, `<span class="role">cause</span>`); n != 2 || strings.Count(s, "<summary>Stack<") != 2 || strings.Count(s, "<summary>Another stack<") != 1 || !strings.Contains(s, "<wbr>unlock<") {
		t.Errorf("%d actors in %s", n, s)
	}
}

func TestLinked(t *testing.T) {
	detector := func(id string) doc.Phrase { return doc.Phrase{Text: id, Term: doc.Term{doc.Detector, id}} }
	pieces := linked(doc.Sentence{{Text: "See "}, detector("work-conservation"), detector("convoy"), detector("unknown"), {Text: ". A convoy is no link."}}, map[string]int{"convoy": 3})
	want := []piece{{Text: "See "}, {"work-conservation", "#d-work-conservation"}, {"convoy", "#finding-3"}, {Text: "unknown"}, {Text: ". A convoy is no link."}}
	if !slices.Equal(pieces, want) {
		t.Errorf("links %q, want %q", pieces, want)
	}
}

// TestLinksLeadSomewhere follows each link within the page.
func TestLinksLeadSomewhere(t *testing.T) {
	s := write(t, fakeDoc(4, 100), Options{})
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(s, -1) {
		if ids[m[1]] {
			t.Errorf("two elements are called %s", m[1])
		}
		ids[m[1]] = true
	}
	n := 0
	for _, m := range regexp.MustCompile(` href="#([^"]+)"`).FindAllStringSubmatch(s, -1) {
		if strings.HasPrefix(m[1], "frame=") || strings.HasPrefix(m[1], "f=") || strings.HasPrefix(m[1], "life=") {
			continue // a stretch of the timeline, a class in the flame graph, or what a goroutine did
		}
		n++
		if !ids[m[1]] {
			t.Errorf("#%s leads nowhere", m[1])
		}
	}
	if n < 30 {
		t.Errorf("only %d links", n)
	}
}

func TestTasksAndRegionsAreFound(t *testing.T) {
	doc := fakeDoc(2, 50)
	doc.Result.Waits.Classes[0].Tasks = []string{"Checkout", "</script>"}
	doc.Result.Waits.Classes[0].Regions = []string{"disk"}
	s := write(t, doc, Options{})
	for _, want := range []string{"tasks: Checkout, &lt;/script&gt;; ", "regions: disk</bdi>"} {
		if !strings.Contains(s, want) {
			t.Errorf("the page does not hold %q", want)
		}
	}
	if !regexp.MustCompile(`data-text="[^"]*checkout[^"]*disk`).MatchString(s) {
		t.Error("the filter does not look at tasks and regions")
	}
}

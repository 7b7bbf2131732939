package html

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/compare"
	"github.com/gmpscope/gmpscope/report"
)

func write(t *testing.T, doc *report.Document, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, doc, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestEqualInputGivesEqualBytes(t *testing.T) {
	o := Options{ECharts: Script("var echarts={}")}
	first := write(t, fakeDoc(8, 800), o)
	if second := write(t, fakeDoc(8, 800), o); first != second {
		t.Error("two pages of one document differ")
	}
}

func TestPagesOfPoorDocuments(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	odd := &analyze.Result{}
	odd.Fairness.Jain, odd.Fairness.Slowdown.Max, odd.Pressure.Some = nan, inf, nan
	odd.Trace.DurationNs, odd.Trace.GOMAXPROCS = -5, -1
	odd.Waits.User = waits.Summary{Count: 1, TotalNs: math.MaxInt64, Causes: []waits.CauseTime{{Cause: "new cause", Ns: math.MaxInt64}}, Histogram: []waits.Bucket{{Count: 1}}}
	odd.Waits.Classes = []waits.Class{{}, {Waits: waits.Summary{TotalNs: 1}}}
	odd.Waits.Worst = []waits.WaitDetail{{}}
	odd.Procs.Ps = []procs.Proc{{QueueMean: nan}}
	odd.Procs.Steals = procs.Steals{Count: 1, Matrix: [][]int64{{1}, {}}}
	odd.Findings = []findings.Finding{{}, {Severity: "odd", FromNs: 9, ToNs: 3, Actors: []findings.Actor{{}}}}
	odd.Timeline = timeline.Result{BinNs: 1, Bins: 3, EndNs: 3, Lanes: []timeline.Lane{{}, {User: []uint8{255, 255, 255}, System: []uint8{255, 9, 9}, Queue: timeline.Series{Mean: []float32{float32(nan), 1, 2}}}},
		Runnable: timeline.Series{Mean: []float32{float32(inf), 1, 1}}, Windows: []timeline.Window{{}}}
	one := fakeDoc(1, 1)
	for name, doc := range map[string]*report.Document{
		"nothing":         {},
		"no measurements": {Result: &analyze.Result{}},
		"odd numbers":     {Result: odd},
		"one P, one bin":  one,
	} {
		t.Run(name, func(t *testing.T) {
			for _, js := range []Script{nil, Script("var echarts={}")} {
				s := write(t, doc, Options{ECharts: js})
				if strings.Contains(s, "NaN") || strings.Contains(s, "ZgotmplZ") || strings.Contains(s, "%!") {
					t.Error("the page holds a number or a value that did not format")
				}
			}
		})
	}
	if err := Write(&bytes.Buffer{}, nil, Options{}); err == nil {
		t.Error("no document, no error")
	}
	if err := Write(&bytes.Buffer{}, &report.Document{}, Options{ECharts: Script("a='</SCRIPT>'")}); err == nil {
		t.Error("a script that breaks the page was taken")
	}
}

func TestNamesStayData(t *testing.T) {
	s := write(t, fakeDoc(4, 100), Options{ECharts: Script("var echarts={}")})
	for _, bad := range []string{"<script>window", "<img", "<!--", "\u202e", "\u2028", "\x00"} {
		if i := strings.Index(s, bad); i >= 0 {
			t.Errorf("the page holds %q: …%s…", bad, s[max(0, i-60):i+60])
		}
	}
	if !utf8.ValidString(s) {
		t.Error("the page is not UTF-8")
	}
	// Every script that is executed is in the policy, by its hash.
	csp := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(s)[1]
	csp = strings.NewReplacer("&#39;", "'", "&#43;", "+").Replace(csp)
	for _, m := range regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(s, -1) {
		if !strings.Contains(csp, hash(m[1])) {
			t.Errorf("a script is not in the policy: %.60s", m[1])
		}
	}
	if m := regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindStringSubmatch(s); !strings.Contains(csp, hash(m[1])) {
		t.Error("the style is not in the policy")
	}
	if strings.Contains(csp, "unsafe") {
		t.Errorf("policy: %s", csp)
	}
	for _, m := range regexp.MustCompile(`(?s)<script type="application/json" id="([^"]*)">(.*?)</script>`).FindAllStringSubmatch(s, -1) {
		if !json.Valid([]byte(m[2])) {
			t.Errorf("island %s is not JSON", m[1])
		}
	}
}

// TestScriptsParseNoMarkup guards the rule that text reaches the page through
// textContent.
func TestScriptsParseNoMarkup(t *testing.T) {
	bad := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|fetch\(|XMLHttpRequest|import\(|https?:`)
	files, err := assets.ReadDir("assets")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".js") {
			continue
		}
		src, err := assets.ReadFile("assets/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		if m := bad.Find(src); m != nil {
			t.Errorf("%s uses %s", f.Name(), m)
		}
	}
}

func TestSizeIsBounded(t *testing.T) {
	doc := fakeDoc(32, 1000)
	w := doc.Result.Timeline.Windows[0]
	for range 10 {
		doc.Result.Timeline.Windows = append(doc.Result.Timeline.Windows, w)
	}
	s := write(t, doc, Options{MaxBytes: 1_320_000})
	if len(s) > 1_320_000 {
		t.Errorf("%d bytes", len(s))
	}
	if !regexp.MustCompile(`"left":[1-9]`).MatchString(s) {
		t.Error("the page does not say that windows were left out")
	}
}

func TestTypesetAndNames(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{typeset("-"), "–"}, {typeset("-1.5 µs"), "−1.5\u00a0µs"}, {typeset("a share of 42 % (-3 %)"), "a share of 42\u00a0% (-3\u00a0%)"}, {typeset("-x"), "-x"}, {typeset(""), ""},
		{name("example.com/a/b.(*T).f", nil).Short, "b.(*T).f"}, {name("</script>x", nil).Short, "</script>x"},
		{name("a\u202eb\xff", nil).Short, "a<U+202E>b\ufffd"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	long := name(strings.Repeat("x", 10_000), nil)
	if len(long.Short) > 200 || !long.Cut {
		t.Errorf("a long name is shown with %d bytes", len(long.Short))
	}
}

// TestNamesHaveTitles shows names for short with the full ones as titles, or these.
func TestNamesHaveTitles(t *testing.T) {
	result := fakeDoc(2, 100).Result
	result.Waits.Classes[0].Name = "a.com/x/server.Run"
	result.Waits.Classes[1].Name = "b.com/y/server.Run"
	doc := report.Build(result, "")
	const title = `<span class="name" title="a.com/x/server.Run"><bdi>x/<wbr>server.<wbr>Run</bdi></span>`
	if s := write(t, doc, Options{}); !strings.Contains(s, title) {
		t.Errorf("the page lacks %s", title)
	}
	doc.ShowFullNames()
	if s := write(t, doc, Options{}); !strings.Contains(s, `<span class="name"><bdi>a.<wbr>com/<wbr>x/<wbr>server.<wbr>Run</bdi></span>`) || strings.Contains(s, "<bdi>x/<wbr>server") {
		t.Error("the page does not show names in full")
	}
}

func TestReducedTraceClaimsNoQueues(t *testing.T) {
	doc := fakeDoc(4, 100)
	doc.Result.Trace.Reduced = true
	s := write(t, doc, Options{})
	if strings.Contains(s, "Local queues over time") || strings.Contains(s, "Who stole from whom") && !strings.Contains(s, "cannot be rebuilt") {
		t.Error("a reduced report shows queues")
	}
	if strings.Contains(s, `class="honesty"`) {
		t.Error("says how well queues were rebuilt that were not")
	}
}

func TestSuppressedIsNamed(t *testing.T) {
	doc := fakeDoc(2, 100)
	r := doc.Result
	for _, id := range []string{"serialization", "convoy"} {
		r.Suppressed = nil
		r.Findings = []findings.Finding{{ID: id, Severity: findings.Critical, Title: findings.Say("it waited"), Actors: []findings.Actor{{Role: findings.Victim, Class: "main.<worker>"}}}}
		r.Suppress([]findings.Suppression{{Finding: id, Class: "*", Reason: "<i>by design", Owner: "team-x", Until: "2027-03-01"}}, nil)
		want := id + " of main.&lt;worker&gt; (&lt;i&gt;by design; team-x, until 2027-03-01)"
		s := write(t, report.Build(r, "gmpscope devel"), Options{})
		if !strings.Contains(s, want) || !strings.Contains(s, "No detector found anything else.") {
			t.Errorf("the page does not say %q", want)
		}
		if strings.Contains(s, `<article class="finding critical"`) {
			t.Error("a suppressed finding is shown like any other")
		}
		c, err := compare.Compare([]*analyze.Result{r}, []*analyze.Result{r})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := WriteDiff(&b, c, nil, nil, "gmpscope devel", Options{}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) {
			t.Errorf("the comparison does not say %q", want)
		}
	}
}

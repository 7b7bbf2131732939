package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-update rewrites it):\n%s", file, diff)
	}
}

func textOf(t *testing.T, r *analyze.Result, o TextOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteText(&b, Build(r, "gmpscope devel"), o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func reduced() *analyze.Result {
	r := calm()
	r.Trace.Reduced, r.Trace.Format, r.Trace.GoVersion, r.Trace.Threads = true, "go 1.21", "1.21", 0
	return r
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		name string
		r    *analyze.Result
	}{
		{"busy.txt", busy()},
		{"calm.txt", calm()},
		{"reduced.txt", reduced()},
		{"nothing.txt", &analyze.Result{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := textOf(t, c.r, TextOptions{})
			golden(t, c.name, b)
			for l := range strings.Lines(string(b)) {
				l = strings.TrimSuffix(l, "\n")
				if n := utf8.RuneCountInString(l); n > Width {
					t.Errorf("a line has %d columns: %q", n, l)
				}
				if strings.HasSuffix(l, " ") {
					t.Errorf("a line ends in a space: %q", l)
				}
				if i := strings.IndexFunc(l, unicode.IsControl); i >= 0 {
					t.Errorf("a control character in %q", l)
				}
			}
		})
	}
}

func TestTextColor(t *testing.T) {
	plain := textOf(t, busy(), TextOptions{})
	color := string(textOf(t, busy(), TextOptions{Color: true}))
	if !strings.Contains(color, "\x1b[1;31mScheduling delays: critical\x1b[0m") {
		t.Error("no colour in the verdict")
	}
	for _, code := range []string{"0", "1", "2", "1;31", "1;32", "1;33", "1;34"} {
		color = strings.ReplaceAll(color, "\x1b["+code+"m", "")
	}
	if diff := cmp.Diff(string(plain), color); diff != "" {
		t.Errorf("colour changes the text:\n%s", diff)
	}
}

func TestVerdict(t *testing.T) {
	warning := func(f ...findings.Finding) *analyze.Result {
		r := calm()
		r.Findings = f
		return r
	}
	for _, c := range []struct {
		name     string
		r        *analyze.Result
		status   string
		headline string // its beginning
		line     string // found in one of the lines
	}{
		{"critical", busy(), "critical", "Runs of search.", "Try first: split the work of rebuild"},
		{"who suffers and who causes it", busy(), "critical", "", "while http.(*conn).serve was queued, search.(*Index).rebuild.func2 ran for 83 % of the time"},
		{"nothing wrong says what was checked", calm(), "ok", "Nothing is wrong with scheduling: ", "Nothing to do about scheduling: 4 detectors found no serious fault."},
		{"little waiting points elsewhere", calm(), "ok", "", "0.4 % of the time that they ran"},
		{"only the trace is bad", warning(findings.Finding{ID: "trace-quality", Kind: findings.KindTrace, Severity: findings.Warning, Title: findings.Say("x")}), "note", "Nothing is wrong with scheduling: ", "Nothing to do"},
		{"only a note", warning(findings.Finding{ID: "convoy", Severity: findings.Note, Title: findings.Say("x")}), "note", "Scheduling is not the problem: ", ""},
		{"a warning", warning(findings.Finding{ID: "convoy", Severity: findings.Warning, Title: findings.Say("P3 was slow")}), "warning", "P3 was slow", "Try first: less work at once"},
		{"a warning about Ps", warning(findings.Finding{ID: "p-thrash", Severity: findings.Warning, Title: findings.Say("Ps were woken in vain")}), "warning", "Ps were woken in vain", ""},
		{"no detector", func() *analyze.Result { r := calm(); r.Detectors = nil; return r }(), "note", "No detector judged this trace; ", ""},
		{"more work than processors", func() *analyze.Result {
			r := calm()
			r.Waits.User.TotalNs, r.Waits.User.Causes = 50_000*ms, causes(0, 0, 0, 0, 0, 40_000*ms, 10_000*ms)
			return r
		}(), "ok", "There was more work than Ps: ", ""},
		{"nobody waited", func() *analyze.Result {
			r := calm()
			r.Waits = waits.Result{}
			return r
		}(), "ok", "No goroutine of the program had to wait", "Nothing to do"},
		{"an old trace", reduced(), "ok", "Nothing is wrong", "queues were not rebuilt"},
		{"a short trace", func() *analyze.Result { r := calm(); r.Trace.DurationNs = 100; return r }(), "ok", "", "The trace is short"},
		{"a bad reconstruction", func() *analyze.Result { r := calm(); r.Reconstruction.Unexplained = 100_000; return r }(), "ok", "", "do not explain 25 % of"},
		{"no result", nil, "note", "There is no result", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := wordingOf(c.r).verdict()
			if v.Status != c.status {
				t.Errorf("status is %q, want %q", v.Status, c.status)
			}
			if !strings.HasPrefix(v.Headline, c.headline) {
				t.Errorf("headline is %q, want it to begin with %q", v.Headline, c.headline)
			}
			if all := strings.Join(v.Lines, "\n"); !strings.Contains(all, c.line) {
				t.Errorf("lines are\n%s\nwant them to contain %q", all, c.line)
			}
			if len(v.Lines) > 7 {
				t.Errorf("%d lines, want at most 7", len(v.Lines))
			}
		})
	}
}

func TestFormat(t *testing.T) {
	var names *words.Names
	w := &wording{}
	for _, c := range []struct{ got, want string }{
		{words.List([]string{"a", "b", "c"}), "a, b and c"},
		{names.Class("example.com/a/b.(*T).run"), "b.(*T).run"},
		{names.Class(""), "goroutines of unknown start function"},
		{words.Cut("abcdefghij", 5), "abc…j"},
		{w.lowered(findings.Say("Runs of x")), "runs of x"},
		{w.lowered(findings.Say("GOMAXPROCS is low")), "GOMAXPROCS is low"},
		{w.lowered(findings.Say("P3 was idle")), "P3 was idle"},
		{w.lowered(findings.Say("%s waits", findings.Name("Serve"))), "Serve waits"},
		{words.Ended("x"), "x."},
		{words.Ended("x?"), "x?"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		s    string
		want []string
	}{
		{"it took 8.36 ms, or 12 % of all, in the queue of P3", []string{"it took", "8.36 ms, or", "12 % of all,", "in the queue", "of P3"}},
		{"rose by +51 % or ±3 %", []string{"rose by", "+51 % or", "±3 %"}},
		{"  two\n lines ", []string{"two lines"}},
		{"", nil},
	} {
		if diff := cmp.Diff(c.want, wrap(c.s, 12)); diff != "" {
			t.Errorf("%q:\n%s", c.s, diff)
		}
	}
}

// The part of the trace that is not recorded has a column of the Ps if there is any, and
// no share is of it.
func TestTextOfGap(t *testing.T) {
	r := &analyze.Result{}
	r.Trace.DurationNs, r.Trace.GOMAXPROCS = 4_000_000, 1
	r.Procs.Ps = []procs.Proc{{LifetimeNs: 4_000_000, IdleNs: 3_000_000, RunningNs: 1_000_000}}
	if got := string(textOf(t, r, TextOptions{})); strings.Contains(got, "not rec.") {
		t.Errorf("a sound trace:\n%s", got)
	}
	r.Trace.LostNs = 2_000_000
	r.Procs.Ps = []procs.Proc{{LifetimeNs: 4_000_000, IdleNs: 1_500_000, RunningNs: 500_000, NotRecordedNs: 2_000_000}}
	got := strings.Join(strings.Fields(string(textOf(t, r, TextOptions{}))), " ")
	for _, want := range []string{
		"duration 4 ms; 2 ms of it was not recorded and is excluded from all shares",
		"stopped idle not rec. starts",
		"P0 25 % 0 % 0 % 0 % 0 % 0 % 0 % 75 % 2 ms",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in:\n%s", want, got)
		}
	}
}

// Columns hold with names of wide letters.
func TestTableWidth(t *testing.T) {
	x := newTable("class", "n")
	x.add("main.工人", "1")
	x.add("main.worker", "2")
	want := []string{"class        n", "main.工人    1", "main.worker  2"}
	if got := x.lines(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

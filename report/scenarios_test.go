package report_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/report"
)

// arrival is what a reader who knows neither the program nor the runtime should
// be able to say after a minute with the report of a scenario's trace.
type arrival struct {
	scenario string
	say      string
	do       string
	words    []string // regular expressions; the report must hold each of them
	headline string   // a regular expression that the headline alone must match
}

var arrivals = []arrival{
	{"single", "Nothing is wrong; and the trace is so short that it could hardly show anything.", "Nothing, or record for longer.",
		[]string{`Nothing is wrong with scheduling`, `The trace is short`}, ""},
	{"thousand", "main starts a thousand workers at once, far more than there are processors, so they wait for one another.", "Start fewer at a time.",
		[]string{`main\.worker \(1,000 goroutines, created by main\.main, (9\d|100|>99)`, `others of the same class ran|runnable at once`, `bound how many goroutines|less work at once`}, ""},
	{"thousand-by-thousand", "Twenty parents create twenty thousand leaves faster than they can run; the leaves wait for milliseconds.", "See why Ps stood idle beside them, and create fewer.",
		[]string{`main\.leaf \(20,000 goroutines, created by main\.parent`, `main\.parent ran`, `Try first: `}, ""},
	{"uneven", "A spawner puts 200 workers at a time into one queue; the others have to come and take them.", "Create fewer at once.",
		[]string{`main\.worker \(800 goroutines, created by main\.spawner`, `If that (?:waiting|cost) matters to you, try: (most of them were just created|less work at once)`}, ""},
	{"put-take", "Hundreds of goroutines become runnable at once and stand in line behind one another.", "Fewer at once.",
		[]string{`main\.take \(300 goroutines`, `queued behind goroutines that became runnable earlier`, `Try first: |If that (?:waiting|cost) matters to you, try: `}, ""},
	{"blocking-syscalls", "The callers' system calls tie up the processors, and those in their queues wait.", "Move blocking calls away from urgent work.",
		[]string{`main\.caller waited .* of it in the queue of a P that was in a system call, or on its way to a locked thread`, `main\.caller \(200 goroutines`, `Try first: .*move blocking calls`}, ""},
	{"forever", "Five goroutines that only compute take turns on fewer processors.", "No more of them at once than GOMAXPROCS, and no more Ps than CPUs.",
		[]string{`main\.forever \(5 goroutines, created by main\.main`, `main\.forever was queued, others of the same class ran`, `(Try first: compare GOMAXPROCS|try: less work at once)`}, ""},
	{"network", "Clients and servers wait a little; nothing serious.", "Nothing, unless these milliseconds matter.",
		[]string{`main\.client \(8 goroutines, created by main\.main`, `in \d{3} waits`, `If that (?:waiting|cost) matters to you, try: `},
		`main\.(client|serve) |There was more work than Ps`},
	{"timers", "Fifty timers fire at once, and what they start waits for processors that have to wake up or are busy.", "Nothing, unless two milliseconds matter.",
		[]string{`main\.fired|There was more work than Ps|no fault was found`, `main\.fired \(50 goroutines`, `If that (?:waiting|cost) matters to you, try: `}, ""},
	{"gc", "The garbage collector takes processors and makes those help that allocate.", "Allocate less.",
		[]string{`main\.allocator`, `behind mark workers of the garbage collector`, `[Tt]ry( first)?: (allocate less|have fewer and shorter cycles: allocate less)`},
		`garbage collector`},
	{"mutex", "Eight goroutines stand in line for one lock.", "Hold it for a shorter time, or less often.",
		[]string{`main\.locker holds a lock`, `main\.locker \(8 goroutines`, `If that (?:waiting|cost) matters to you, try: .*(critical section|lock)`}, ""},
	{"locked-threads", "Two goroutines are wired to threads, and each exchange between them costs a switch of threads.", "Keep them off what runs often.",
		[]string{`on its way to a locked thread|locked to a thread`, `main\.p[io]ng \(1 goroutine`, `If that (?:waiting|cost) matters to you, try: (move blocking calls away|keep main\.ping off)`}, ""},
	{"gosched", "Nothing is wrong: the goroutines waited because they yielded.", "Nothing.",
		[]string{`Nothing is wrong|There was more work than Ps`, `after calls of runtime\.Gosched|main\.yielder`}, ""},
	{"pingpong-starve", "main.ping and main.pong wake each other without end, and keep everybody else from the processor.", "Let them exchange more at a time.",
		[]string{`main\.ping and main\.pong woke each other up to [\d,]+ times in a row and kept a P`, `main\.waiter`, `Try first: exchange more at a time`}, ""},
	{"overflow", "main starts 300 workers at once on one processor; they wait for one another.", "Less at once, or more processors.",
		[]string{`There was more work than Ps`, `main\.worker \(300 goroutines, created by main\.main`, `If that (?:waiting|cost) matters to you, try: less work at once`}, ""},
	{"steal-small", "Five goroutines stand behind main, which computes.", "Shorter runs of main.",
		[]string{`There was more work than Ps`, `while main\.\w+ was queued, main\.main ran for 100 % of the time`, `shorter runs`}, ""},
	{"retake-small", "main.reader's system call kept the processor from the goroutines that it had just created.", "Make the call first, or elsewhere.",
		[]string{`on its way to a locked thread`, `main\.(first|second|third) \(1 goroutine, created by main\.reader`, `If that (?:waiting|cost) matters to you, try: .*(block in the kernel right after it|move blocking calls away)`},
		`System calls of main\.reader keep a P|no fault was found`},
	{"preempt-small", "Three goroutines that compute share one processor, and take turns by time slices.", "More processors, or fewer such goroutines.",
		[]string{`There was more work than Ps`, `while main\.\w+ was queued, main\.\w+ ran`, `If that (?:waiting|cost) matters to you, try: less work at once, more Ps`}, ""},
}

// where reports in which part of the document a word stands; "" if in none.
func where(doc *report.Document, re *regexp.Regexp) string {
	if re.MatchString(doc.Verdict.Headline) {
		return "headline"
	}
	for i, l := range doc.Verdict.Lines {
		if re.MatchString(l) {
			return fmt.Sprintf("line %d of the verdict", i+1)
		}
	}
	for i, f := range doc.Result.Findings {
		if re.MatchString(f.Title.String()) || re.MatchString(f.ID) {
			return fmt.Sprintf("finding %d, %s", i+1, f.ID)
		}
	}
	return ""
}

func document(t *testing.T, file string) *report.Document {
	t.Helper()
	src, err := input.Open(context.Background(), file, input.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r, err := analyze.Run(context.Background(), src, analyze.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return report.Build(r, "gmpscope")
}

// TestScenariosArriveAtTheirSentence holds the report of each recording of each
// scenario against what its reader should be able to say, and lab/docs/scenarios.md
// against the reports.
func TestScenariosArriveAtTheirSentence(t *testing.T) {
	var page bytes.Buffer
	page.WriteString(`# What the reports of the scenarios say

For those who change what a report says. For each scenario in [testdata/traces](../../testdata/traces/MANIFEST.md): the conclusion that a
reader of the report should reach within a minute, and the headline of one recording. Text, JSON and HTML begin with the same verdict.
A test checks the verdicts of all recordings of a scenario, of each Go version and number of Ps. Written by
` + "`go test ./report -update`" + `; do not edit.

| recording | conclusion | what to do | headline |
|---|---|---|---|
`)
	dir := filepath.Join("..", "testdata", "traces")
	for _, a := range arrivals {
		files, err := filepath.Glob(filepath.Join(dir, a.scenario+"-go1.*.trace.gz"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no traces (%v)", a.scenario, err)
		}
		shown := ""
		for _, f := range files {
			if strings.Contains(f, "-go1.26-") {
				shown = f // the one with most Ps: the last in order
			}
		}
		for _, file := range files {
			doc := document(t, file)
			if file == shown {
				fmt.Fprintf(&page, "| %s | %s | %s | %s |\n", strings.TrimSuffix(filepath.Base(file), ".trace.gz"), a.say, a.do, doc.Verdict.Headline)
			}
			if !regexp.MustCompile(a.headline).MatchString(doc.Verdict.Headline) {
				t.Errorf("%s: headline %q, want %q", filepath.Base(file), doc.Verdict.Headline, a.headline)
			}
			for _, w := range a.words {
				if where(doc, regexp.MustCompile(w)) == "" {
					t.Errorf("%s does not say %q: %s %q", filepath.Base(file), w, doc.Verdict.Headline, doc.Verdict.Lines)
				}
			}
		}
	}
	name := filepath.Join("..", "lab", "docs", "scenarios.md")
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(name, page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), page.String()); diff != "" {
		t.Errorf("%s (-update rewrites it):\n%s", name, diff)
	}
}

// TestEachScenarioHasASentence fails for a scenario that nobody thought of here.
func TestEachScenarioHasASentence(t *testing.T) {
	known := map[string]bool{}
	for _, a := range arrivals {
		known[a.scenario] = true
	}
	files, err := filepath.Glob(filepath.Join("..", "testdata", "traces", "*.trace.gz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if s, _, _ := strings.Cut(filepath.Base(f), "-go1."); !known[s] {
			t.Errorf("%s: no sentence", s)
			known[s] = true
		}
	}
}

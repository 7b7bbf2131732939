package gotest

import (
	"strings"
	"testing"
	"time"
)

// What go test -json prints becomes what go test prints, and the tests that are of interest.
func TestLog(t *testing.T) {
	lines := `not JSON at all
{"Action":"build-output","ImportPath":"m/b","Output":"b.go:1: undefined: x\n"}
{"Action":"start","Package":"m/a"}
{"Time":"2026-01-01T00:00:00Z","Action":"run","Package":"m/a","Test":"TestA"}
{"Action":"output","Package":"m/a","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Time":"2026-01-01T00:00:00Z","Action":"run","Package":"m/a","Test":"TestA/x"}
{"Action":"output","Package":"m/a","Test":"TestA/x","Output":"    a_test.go:1: wrong\n"}
{"Action":"output","Package":"m/a","Test":"TestA/x","Output":"    --- FAIL: TestA/x (0.00s)\n"}
{"Time":"2026-01-01T00:00:00.1Z","Action":"fail","Package":"m/a","Test":"TestA/x","Elapsed":0.1}
{"Action":"output","Package":"m/a","Test":"TestA","Output":"--- FAIL: TestA (0.10s)\n"}
{"Time":"2026-01-01T00:00:00.1Z","Action":"fail","Package":"m/a","Test":"TestA","Elapsed":0.1}
{"Time":"2026-01-01T00:00:00Z","Action":"run","Package":"m/a","Test":"TestSlow"}
{"Action":"output","Package":"m/a","Test":"TestSlow","Output":"chatter\n"}
{"Time":"2026-01-01T00:00:05Z","Action":"cont","Package":"m/a","Test":"TestSlow"}
{"Time":"2026-01-01T00:00:07Z","Action":"pass","Package":"m/a","Test":"TestSlow","Elapsed":2}
{"Time":"2026-01-01T00:00:07Z","Action":"run","Package":"m/a","Test":"TestQuick"}
{"Time":"2026-01-01T00:00:07Z","Action":"pass","Package":"m/a","Test":"TestQuick","Elapsed":0}
{"Time":"2026-01-01T00:00:08Z","Action":"run","Package":"m/a","Test":"TestA"}
{"Time":"2026-01-01T00:00:08Z","Action":"run","Package":"m/a","Test":"BenchmarkB"}
{"Action":"output","Package":"m/a","Test":"BenchmarkB","Output":"BenchmarkB\n"}
{"Action":"output","Package":"m/a","Test":"BenchmarkB","Output":"BenchmarkB   \t"}
{"Action":"output","Package":"m/a","Output":"  100\t 5.0 ns/op\n"}
{"Action":"output","Package":"m/a","Output":"FAIL\tm/a\t8s\n"}
{"Time":"2026-01-01T00:00:09Z","Action":"fail","Package":"m/a","Elapsed":8}
`
	var out strings.Builder
	l := newLog(&out, false, time.Second)
	if err := l.read(strings.NewReader(lines)); err != nil {
		t.Fatal(err)
	}
	want := "not JSON at all\nb.go:1: undefined: x\n    a_test.go:1: wrong\n    --- FAIL: TestA/x (0.00s)\n--- FAIL: TestA (0.10s)\nBenchmarkB   \t  100\t 5.0 ns/op\nFAIL\tm/a\t8s\n"
	if out.String() != want {
		t.Errorf("printed\n%q, want\n%q", out.String(), want)
	}
	p := l.packages["m/a"]
	var kept []string
	for _, x := range p.tests {
		kept = append(kept, x.Name+" "+x.Outcome+" "+x.ended.Sub(x.began).String())
	}
	if got := strings.Join(kept, ", "); got != "TestA/x fail 100ms, TestSlow pass 2s, TestA  1s" {
		t.Errorf("kept %s", got)
	}
	if last := p.tests[2]; last.Run != 1 || !p.failed || len(p.passed) != 1 {
		t.Errorf("the second run of TestA is number %d; %d passed", last.Run, len(p.passed))
	}
}

// Of a long output the beginning and the end are kept.
func TestOutput(t *testing.T) {
	var o output
	o.add("begin")
	for range 10_000 {
		o.add(strings.Repeat("x", 100))
	}
	o.add("end")
	s := o.String()
	if !strings.HasPrefix(s, "begin") || !strings.HasSuffix(s, "end") || len(s) > 3*maxOutput {
		t.Errorf("%d bytes, %.10q to %q", len(s), s, s[len(s)-5:])
	}
}

func TestCheck(t *testing.T) {
	for args, want := range map[string]string{
		"./...": "", "-run X -count=2 -race": "", "-args -trace x": "",
		"-trace=x": "-trace", "--test.trace x": "-trace", "-exec sh": "-exec", "-fuzz=X": "-fuzz", "-c": "-c", "-json ./...": "-json",
	} {
		err := Check(strings.Fields(args))
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want+":") {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// Names are anybody's: they break no table and no terminal.
func TestMarkdown(t *testing.T) {
	failed := &Judged{Test: &Test{Name: "TestX/a|b<script>\x1b[2J`@all", Outcome: "fail"}, Ns: 1e6, Verdict: NotKnown, Why: "lost"}
	r := Result{ExitCode: 1, Packages: []Package{{Path: "m/a", Tests: []*Judged{failed}, log: &packageLog{}}}}
	var b, text strings.Builder
	if err := r.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(rows) != 3 || strings.ContainsAny(rows[2], "<>\x1b`@") || strings.Count(rows[2], "|")-strings.Count(rows[2], `\|`) != 5 {
		t.Errorf("%q", b.String())
	}
	if strings.Contains(text.String(), "\x1b") {
		t.Errorf("%q", text.String())
	}
}

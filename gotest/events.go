package gotest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// maxOutput is how much of a test's output is kept, bytes: so much of its beginning, and of its end.
const maxOutput = 32 << 10

// The most runs of tests of a package that are judged, and that others are compared with.
const (
	maxTests  = 1000
	maxPassed = 10_000
)

// event is a line of go test -json; see go doc test2json.
type event struct {
	Time    time.Time
	Action  string
	Package string
	Test    string
	Output  string
	Elapsed float64 // seconds
}

// Test is one run of a test, by go test's output.
type Test struct {
	Package, Name string
	Outcome       string // "pass", "fail" or "skip"; "" if it did not end
	Run           int    // number of earlier runs of the test of this package and name
	began, ended  time.Time
	elapsed       int64 // ns, as the test measured it
	paused        bool  // it called t.Parallel: began is when it went on
	nested        bool  // a test within it failed
	out           output
}

// output keeps the beginning and the end of a text.
type output struct{ head, tail []byte }

func (o *output) add(s string) {
	n := min(len(s), maxOutput-len(o.head))
	o.head = append(o.head, s[:n]...)
	o.tail = append(o.tail, s[n:]...)
	if len(o.tail) > 2*maxOutput {
		o.tail = append(o.tail[:0], o.tail[len(o.tail)-maxOutput:]...)
	}
}

func (o *output) String() string { return string(o.head) + string(o.tail) }

// log follows go test -json: it prints what go test would print without that, and keeps the tests.
type log struct {
	to      io.Writer
	verbose bool
	slow    time.Duration

	packages map[string]*packageLog
	order    []string
}

// packageLog is what is known of a package.
type packageLog struct {
	failed  bool
	out     output           // of no test
	under   map[string]*Test // by name
	runs    map[string]int
	more    int      // tests that failed or were slow, beyond maxTests
	passed  []*Test  // other runs, the first maxPassed, without their output
	tests   []*Test  // that failed or were slow, or did not end
	results []string // what benchmarks printed
	goesOn  bool     // what they print next is in the same line
}

func newLog(to io.Writer, verbose bool, slow time.Duration) *log {
	return &log{to: to, verbose: verbose, slow: slow, packages: map[string]*packageLog{}}
}

func (l *log) of(name string) *packageLog {
	p := l.packages[name]
	if p == nil {
		p = &packageLog{under: map[string]*Test{}, runs: map[string]int{}}
		l.packages[name] = p
		l.order = append(l.order, name)
	}
	return p
}

// read follows the lines of r to their end.
func (l *log) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		var e event
		switch {
		case len(line) == 0:
		case line[0] == '{' && json.Unmarshal(line, &e) == nil && e.Action != "":
			l.add(&e)
		default: // of go test itself, or of who runs it
			l.print(string(line))
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading what go test prints: %w", err)
		}
	}
}

func (l *log) print(s string) { io.WriteString(l.to, s) } // a terminal that is gone ends nothing

func (l *log) add(e *event) {
	if e.Action == "build-output" {
		l.print(e.Output)
		return
	}
	if e.Package == "" {
		return
	}
	p := l.of(e.Package)
	t := p.under[e.Test]
	switch e.Action {
	case "run":
		if isBenchmark(e.Test) {
			return
		}
		t = &Test{Package: e.Package, Name: e.Test, Run: p.runs[e.Test], began: e.Time}
		p.runs[e.Test]++
		p.under[e.Test] = t
	case "cont":
		if t != nil {
			t.began, t.paused = e.Time, true
		}
	case "output":
		l.output(p, t, e)
	case "pass", "fail", "skip":
		if e.Test == "" {
			l.ended(p, e)
		} else if t != nil {
			l.testEnded(p, t, e)
		}
	}
}

func (l *log) output(p *packageLog, t *Test, e *event) {
	if p.goesOn || ofBenchmark(e) {
		p.goesOn = !strings.HasSuffix(e.Output, "\n")
		if l.verbose || !strings.HasPrefix(e.Output, "=== ") && strings.TrimRight(e.Output, "\n") != e.Test {
			l.print(e.Output)
		}
		p.results = append(p.results, e.Output)
		return
	}
	if t != nil {
		t.out.add(e.Output)
	} else {
		p.out.add(e.Output)
	}
	if l.verbose {
		l.print(e.Output)
	}
}

// ofBenchmark reports whether an output is a benchmark's, or what go test prints before the first.
func ofBenchmark(e *event) bool {
	if e.Test != "" {
		return isBenchmark(e.Test)
	}
	return slices.ContainsFunc([]string{"Benchmark", "goos: ", "goarch: ", "pkg: ", "cpu: "}, func(begin string) bool {
		return strings.HasPrefix(e.Output, begin)
	})
}

func isBenchmark(test string) bool { return strings.HasPrefix(test, "Benchmark") }

func (l *log) testEnded(p *packageLog, t *Test, e *event) {
	delete(p.under, t.Name)
	t.Outcome, t.ended, t.elapsed = e.Action, e.Time, int64(e.Elapsed*1e9)
	if t.Outcome == "fail" {
		if !l.verbose {
			l.print(framed(t.out.String()))
		}
		if i := strings.LastIndexByte(t.Name, '/'); i >= 0 && p.under[t.Name[:i]] != nil {
			p.under[t.Name[:i]].nested = true
		}
	}
	switch {
	case t.Outcome == "fail" && !t.nested || t.ended.Sub(t.began) >= l.slow:
		p.keep(t)
	case t.Outcome == "pass" && len(p.passed) < maxPassed:
		t.out = output{}
		p.passed = append(p.passed, t)
	}
}

func (p *packageLog) keep(t *Test) {
	if len(p.tests) == maxTests {
		p.more++
	} else {
		p.tests = append(p.tests, t)
	}
}

// ended processes the end of a package: a test that has not ended took the process with it.
func (l *log) ended(p *packageLog, e *event) {
	p.failed = e.Action == "fail"
	for _, t := range p.under {
		t.ended = e.Time
		p.keep(t)
		if p.failed && !l.verbose {
			l.print(framed(t.out.String()))
		}
	}
	clear(p.under)
	switch {
	case l.verbose:
	case p.failed:
		l.print(p.out.String())
	default:
		l.print(lastLine(p.out.String()))
	}
}

// framed returns a test's output as go test shows it of one that failed: without the lines that
// report where it began, paused and went on.
func framed(s string) string {
	return linesBut(s, func(line string) bool { return strings.HasPrefix(line, "=== ") })
}

func linesBut(s string, out func(line string) bool) string {
	lines := slices.Collect(strings.Lines(s))
	return strings.Join(slices.DeleteFunc(lines, out), "")
}

func lastLine(s string) string {
	s = strings.TrimRight(s, "\n")
	return s[strings.LastIndexByte(s, '\n')+1:] + "\n"
}

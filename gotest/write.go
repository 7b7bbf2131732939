package gotest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/internal/jsondoc"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/term"
)

const (
	shownParts = 3  // of a test's time
	shownSlow  = 10 // tests of a package that were slow
)

// InWords returns the verdict in words; for a test that did not fail, what it waited for.
func (t *Judged) InWords() string {
	switch t.Verdict {
	case "":
		return t.spent()
	case NotKnown:
		return "not known: " + t.Why
	case NotScheduling:
		return "not scheduling: " + t.Why + t.after()
	}
	by := "the machine"
	if t.Verdict == StarvedByProgram {
		by = "the program"
	}
	return fmt.Sprintf("starved by %s (%s): %s%s", by, t.Basis, t.Why, t.after())
}

// after is what is known of how long, behind why.
func (t *Judged) after() string {
	var out []string
	if m := &t.Machine; m.Counted && m.DelayNs > 0 {
		s := "its threads waited for a CPU for " + quantity.Duration(m.DelayNs) + ", up to " + quantity.Duration(m.LongestNs) + ", and had one for " + quantity.Duration(m.CPUNs)
		if m.ThrottledNs > 0 {
			s += ", throttled for " + quantity.Duration(m.ThrottledNs)
		}
		if m.StoppedNs > 0 {
			s += ", stopped for " + quantity.Duration(m.StoppedNs)
		}
		out = append(out, s)
	}
	if t.Wait.Ns > 0 {
		out = append(out, fmt.Sprintf("%s (goroutine %d) waited for a P for %s, up to %s", t.Wait.Who, t.Wait.G, quantity.Duration(t.Wait.Ns), quantity.Duration(t.Wait.LongestNs)))
	}
	if len(out) == 0 {
		return ""
	}
	return "; of " + quantity.Duration(t.Ns) + ", " + strings.Join(out, "; ")
}

// spent is what a test's time consists of.
func (t *Judged) spent() string { return partsInWords(t.Path, "its trace does not show what it did") }

func partsInWords(path []jsondoc.TestPart, none string) string {
	whole := int64(0)
	for _, x := range path {
		whole += x.Ns
	}
	var out []string
	for _, x := range path {
		if len(out) == shownParts || x.Ns*50 < whole {
			break
		}
		out = append(out, quantity.Part(x.Ns, whole)+" "+partInWords(&x))
	}
	if len(out) == 0 {
		return none
	}
	return strings.Join(out, ", ")
}

func partInWords(x *jsondoc.TestPart) string {
	what := x.What
	if x.Where != "" {
		what += " in " + x.Where
	}
	if x.Via == "" {
		return what
	}
	via := "blocked on a " + x.Via
	if slices.Contains([]string{"sleep", "network", "pipe", "select"}, x.Via) {
		via = "in " + x.Via
	}
	if x.ViaWhere != "" {
		via += " in " + x.ViaWhere
	}
	if x.Via == x.What || x.Who == "" {
		return via
	}
	return via + " (" + x.Who + ": " + what + ")"
}

// WriteText writes the report about the tests and benchmarks, for people.
func (r *Result) WriteText(w io.Writer) error {
	var b strings.Builder
	for i := range r.Packages {
		p := &r.Packages[i]
		lines := p.lines()
		if len(lines) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s\n", term.Line(p.Path))
		for _, l := range lines {
			fmt.Fprintf(&b, "  %s\n", term.Line(l))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// lines are what is said about a package.
func (p *Package) lines() (out []string) {
	if p.Problem != "" {
		out = append(out, p.Problem)
	}
	slow := 0
	for _, t := range p.Tests {
		name := t.Name
		if t.Run > 0 {
			name += fmt.Sprintf(" (run %d)", t.Run+1)
		}
		if t.Verdict == "" {
			if slow++; slow > shownSlow {
				continue
			}
			out = append(out, fmt.Sprintf("SLOW %s %s: %s", name, quantity.Duration(t.Ns), t.InWords()))
			continue
		}
		out = append(out, fmt.Sprintf("FAIL %s %s: %s", name, quantity.Duration(t.Ns), t.InWords()))
		if len(t.Path) > 0 {
			out = append(out, "     its time: "+t.spent())
		}
	}
	if p.log.more > 0 {
		out = append(out, fmt.Sprintf("and %d more that failed or were slow", p.log.more))
	}
	if slow > shownSlow {
		out = append(out, fmt.Sprintf("and %d more that were slow", slow-shownSlow))
	}
	for i := range p.Benches {
		b := &p.Benches[i]
		out = append(out, fmt.Sprintf("%s %s ns/op, %s", b.Name, quantity.Number(b.NsPerOp), b.inWords()))
	}
	return out
}

// inWords is what the run of a benchmark consists of.
func (b *Bench) inWords() string {
	if b.TimedNs == 0 {
		return "its run is not in the trace"
	}
	return fmt.Sprintf("%s timed, %s Ps busy, waiting for a P %s of that: %s", quantity.Duration(b.TimedNs), quantity.Number(float64(b.RunningNs)/float64(b.TimedNs)), quantity.Part(b.RunnableNs, b.RunningNs+b.RunnableNs), partsInWords(b.Path, "its path is not known"))
}

// WriteMarkdown writes a summary of the failed and slow tests for a pull request.
func (r *Result) WriteMarkdown(w io.Writer) error {
	tests := doc.Table{Columns: []doc.Column{{Title: "package", Left: true}, {Title: "failed test", Left: true}, {Title: "took"}, {Title: "why", Left: true}}}
	benches := doc.Table{Columns: []doc.Column{{Title: "benchmark", Left: true}, {Title: "ns/op"}, {Title: "in the trace", Left: true}}}
	for i := range r.Packages {
		p := &r.Packages[i]
		for _, t := range p.Tests {
			if t.Verdict != "" {
				tests.Rows = append(tests.Rows, doc.Row{Cells: []doc.Cell{{Text: p.Path}, {Text: t.Name}, doc.Duration(t.Ns), {Text: t.InWords()}}})
			}
		}
		for j := range p.Benches {
			b := &p.Benches[j]
			benches.Rows = append(benches.Rows, doc.Row{Cells: []doc.Cell{{Text: b.Name}, {Text: quantity.Number(b.NsPerOp)}, {Text: b.inWords()}}})
		}
	}
	var s doc.Section
	switch {
	case len(tests.Rows) > 0:
		s.Blocks = append(s.Blocks, tests)
	case r.ExitCode != 0:
		s.Blocks = append(s.Blocks, doc.Para{Text: fmt.Sprintf("No test failed, but go test did (exit code %d).", r.ExitCode)})
	default:
		s.Blocks = append(s.Blocks, doc.Para{Text: "No test failed."})
	}
	if len(benches.Rows) > 0 {
		s.Blocks = append(s.Blocks, benches)
	}
	_, err := io.WriteString(w, doc.Markdown(&s, nil))
	return err
}

// WriteJSON writes the result as a [jsondoc.Tests]. tool is gmpscope with its version; kept
// says that the files of the traces stay, so that the document names them.
func (r *Result) WriteJSON(w io.Writer, tool string, kept bool) error {
	out := jsondoc.Tests{Tool: tool, ExitCode: r.ExitCode, Packages: []jsondoc.TestPackage{}}
	for i := range r.Packages {
		p := &r.Packages[i]
		pkg := jsondoc.TestPackage{Package: p.Path, Failed: p.Failed, Problem: p.Problem, Tests: []jsondoc.Test{}}
		if kept {
			pkg.Traces = p.Traces
		}
		for _, t := range p.Tests {
			x := jsondoc.Test{Name: t.Name, Run: t.Run, Outcome: cmp.Or(t.Outcome, "ended the process"), Ns: t.Ns, Verdict: string(t.Verdict), Basis: t.Basis, Why: t.Why, Path: append([]jsondoc.TestPart{}, t.Path...)}
			if t.Wait.Ns > 0 {
				x.Wait = &t.Wait
			}
			if t.Machine.Counted {
				x.Machine = &t.Machine.TestMachine
			}
			pkg.Tests = append(pkg.Tests, x)
		}
		for _, b := range p.Benches {
			pkg.Benchmarks = append(pkg.Benchmarks, jsondoc.Benchmark(b))
		}
		out.Packages = append(out.Packages, pkg)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

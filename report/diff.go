package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/gmpscope/gmpscope/compare"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// Bounds on what the text of a comparison shows; what is left out is said.
const (
	textClassChanges   = 12
	textFindingChanges = 12
	textTraces         = 8
)

// WriteDiffJSON writes a comparison as one JSON object, a line for each key.
// docs/json.md describes every key. Equal input gives equal bytes.
func WriteDiffJSON(w io.Writer, c *compare.Result, tool string) error {
	if c == nil {
		return fmt.Errorf("json: no result")
	}
	return writeParts(w, []part{
		{"schema", Schema},
		{"tool", tool},
		{"verdict", c.Verdict},
		{"headline", c.Headline},
		{"method", c.Method},
		{"basis", c.Basis},
		{"before", c.Before},
		{"after", c.After},
		{"caveats", c.Caveats},
		{"metrics", c.Metrics},
		{"waiting", c.Waiting},
		{"distribution", c.Distribution},
		{"causes", c.Causes},
		{"classes", c.Classes},
		{"renames", c.Renames},
		{"findings", c.Findings},
	})
}

var verdictStyle = map[compare.Verdict]style{
	compare.Better: green, compare.Worse: red, compare.Mixed: yellow,
}

// WriteDiffText writes a comparison for people. Equal input gives equal bytes.
func WriteDiffText(w io.Writer, c *compare.Result, o TextOptions) error {
	if c == nil {
		return fmt.Errorf("text: no result")
	}
	t := &text{w: bufio.NewWriter(w), o: o}
	t.para(0, t.in(verdictStyle[c.Verdict], strings.ToUpper(string(c.Verdict)))+": "+visible(c.Headline))
	for _, s := range c.Caveats {
		t.hang("  ! ", 4, visible(s))
	}
	t.diffSides(c)
	t.diffMetrics(c)
	t.diffCauses(c)
	t.diffClasses(c)
	t.diffFindings(c)
	return t.w.Flush()
}

func (t *text) diffSides(c *compare.Result) {
	t.head("The two sides")
	tb := newTable("", "traces", "duration", "GOMAXPROCS", "Go", "running", "starts").alignLeft(4)
	for _, s := range []struct {
		name string
		side *compare.Side
	}{{"before", &c.Before}, {"after", &c.After}} {
		var procs []string
		for _, p := range s.side.GOMAXPROCS {
			procs = append(procs, fmt.Sprint(p))
		}
		tb.add(s.name, number(int64(s.side.N)), duration(s.side.DurationNs), strings.Join(procs, ", "),
			visible(strings.Join(s.side.GoVersions, "; ")), duration(s.side.RunningNs), number(s.side.Starts))
	}
	t.table(2, tb)
	for _, s := range []struct {
		name string
		side *compare.Side
	}{{"before", &c.Before}, {"after", &c.After}} {
		var names []string
		for i, n := range s.side.Traces {
			if i == textTraces {
				names = append(names, fmt.Sprintf("and %d more", len(s.side.Traces)-i))
				break
			}
			names = append(names, cut(visible(n), 200))
		}
		t.hang("  "+s.name+": ", 10, strings.Join(names, ", "))
	}
}

// interval writes how far a median may be off: ± the larger side of its
// confidence interval, in per cent; ∞ with too few traces.
func interval(e compare.Estimate) string {
	if e.Lo == nil || e.Hi == nil {
		return "± ∞"
	}
	if e.Median == 0 {
		return "± 0 %"
	}
	return fmt.Sprintf("± %.0f %%", 100*max(e.Median-*e.Lo, *e.Hi-e.Median)/e.Median)
}

func (t *text) diffMetrics(c *compare.Result) {
	title := "What was measured (median over traces, 95 % confidence)"
	if c.Method == compare.Windows {
		title = "What was measured (too few traces for confidence; ~ says nothing)"
	}
	t.head(title)
	tb := newTable("", "before", "", "after", "", "change", "95 %", "p").alignLeft(2, 4, 6)
	primary := true
	for _, m := range c.Metrics {
		if primary && !m.Primary {
			primary = false
			tb.add("", "", "", "", "", "", "", "")
		}
		change, p := "~", "-"
		if m.Significant || m.Better == compare.Neither {
			change = changeText(&m)
		}
		if m.PAdjusted != nil {
			p = fmt.Sprintf("%.3f", *m.PAdjusted)
		}
		tb.add(visible(m.Title), compare.Value(m.Before.Median, m.Unit), interval(m.Before),
			compare.Value(m.After.Median, m.Unit), interval(m.After), change, shiftText(&m), p)
	}
	t.table(2, tb)
}

// shiftText is the interval of the change, in per cent of before.
func shiftText(m *compare.Metric) string {
	if m.CI == nil || m.Before.Median == 0 {
		return ""
	}
	lo, hi := 100*m.CI[0]/m.Before.Median, 100*m.CI[1]/m.Before.Median
	if max(lo, -lo, hi, -hi) >= 1000 {
		return fmt.Sprintf("×%.3g to ×%.3g", 1+lo/100, 1+hi/100)
	}
	return fmt.Sprintf("%+.0f to %+.0f", lo, hi)
}

func changeText(m *compare.Metric) string {
	if m.Ratio == nil {
		if m.Delta == 0 {
			return "0"
		}
		return "from 0"
	}
	switch r := *m.Ratio; {
	case r >= 10:
		return fmt.Sprintf("×%.3g", r)
	case r > 0 && r <= 0.1:
		return fmt.Sprintf("÷%.3g", 1/r)
	default:
		return fmt.Sprintf("%+.1f %%", 100*(r-1))
	}
}

func (t *text) diffCauses(c *compare.Result) {
	t.head("Where the change of waiting comes from (" + string(c.Basis) + ")")
	tb := newTable("cause", "before", "after", "change", "of the change")
	for _, x := range c.Causes {
		if x.BeforeNs == 0 && x.AfterNs == 0 {
			continue
		}
		tb.add(x.Cause, duration(x.BeforeNs), duration(x.AfterNs), signedNs(x.DeltaNs), part100(x.DeltaNs, c.Waiting.DeltaNs))
	}
	tb.add("all waiting", duration(c.Waiting.BeforeNs), duration(c.Waiting.AfterNs), signedNs(c.Waiting.DeltaNs), "")
	t.table(2, tb)
}

func signedNs(ns int64) string {
	if ns < 0 {
		return "-" + duration(-ns)
	}
	return "+" + duration(ns)
}

func part100(part, whole int64) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(part)/float64(whole))
}

func (t *text) diffClasses(c *compare.Result) {
	t.head("Whose waiting changed")
	tb := newTable("start function", "n", "n", "before", "after", "change", "p99", "p99")
	for i, x := range c.Classes {
		if i == textClassChanges {
			break
		}
		name := shortened(cmp.Or(x.Name, words.Unknown), 28)
		if x.In != "both" {
			name += " (only " + x.In + ")"
		}
		tb.add(name, number(x.BeforeGoroutines), number(x.AfterGoroutines), duration(x.BeforeNs), duration(x.AfterNs), signedNs(x.DeltaNs),
			duration(x.BeforeP99Ns), duration(x.AfterP99Ns))
	}
	t.table(2, tb)
	if n := len(c.Classes) - textClassChanges; n > 0 {
		t.line(fmt.Sprintf("  … and %s.", plural(int64(n), "more class", "more classes")))
	}
	for _, r := range c.Renames {
		t.hang("  - ", 4, fmt.Sprintf("%s may be what %s was: %s.", cut(visible(r.After), 200), cut(visible(r.Before), 200), r.Why))
	}
}

func (t *text) diffFindings(c *compare.Result) {
	t.head("Findings")
	if len(c.Findings) == 0 {
		t.line("  None on either side.")
		return
	}
	for i, f := range c.Findings {
		if i == textFindingChanges {
			t.line(fmt.Sprintf("  … and %s.", plural(int64(len(c.Findings)-i), "more", "more")))
			break
		}
		chance := ""
		if f.P != nil {
			chance = fmt.Sprintf(", p=%.3f", *f.P)
		}
		t.line(fmt.Sprintf("  %s  %s %s  in %d of %d before, %d of %d after; cost %s, then %s%s", t.in(bold, fmt.Sprintf("%-6s", f.Change)),
			visible(f.Severity), visible(f.ID), f.BeforeN, c.Before.N, f.AfterN, c.After.N, duration(f.BeforeCostNs), duration(f.AfterCostNs), chance))
		t.para(10, ended(cut(visible(f.Title), 300)))
	}
}

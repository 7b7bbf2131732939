package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/compare"
	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/internal/jsondoc"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// Bounds on what the text of a comparison shows; what is left out is said.
const (
	textClassChanges   = 12
	textFindingChanges = 12
	textTraces         = 8
	textKindChanges    = 12
)

// WriteDiffJSON writes a comparison as one JSON object, a line for each key.
// docs/json.md describes every key. Equal input gives equal bytes.
func WriteDiffJSON(w io.Writer, c *compare.Result, tool string) error {
	if c == nil {
		return fmt.Errorf("json: no result")
	}
	d := jsondoc.Diff{Schema: Schema, Tool: tool, Result: *c}
	d.Suppressed = suppressedOf(c.Suppressed)
	return writeObject(w, &d)
}

var verdictStyle = map[compare.Verdict]style{
	compare.Better: green, compare.Worse: red, compare.Mixed: yellow,
}

// WriteDiffText writes a comparison for people. Equal input gives equal bytes.
func WriteDiffText(w io.Writer, c *compare.Result, o TextOptions) error {
	if c == nil {
		return fmt.Errorf("text: no result")
	}
	t := &text{w: lineWriter(w), o: o, names: DiffNames(c, o.FullNames)}
	t.para(0, t.in(verdictStyle[c.Verdict], strings.ToUpper(string(c.Verdict)))+": "+words.Visible(c.Headline))
	for _, l := range c.Lines {
		t.hang("  - ", 4, words.Visible(l))
	}
	for _, s := range c.Caveats {
		t.hang("  ! ", 4, words.Visible(s))
	}
	t.diffWork(c)
	t.diffMetrics(c)
	t.section(DiffFindings(c, t.names))
	t.diffCauses(c)
	t.diffClasses(c)
	t.diffSides(c)
	return t.w.Flush()
}

// DiffNames returns what functions are called in a comparison, so that one is called the same on both sides;
// with full by the paths of their packages.
func DiffNames(c *compare.Result, full bool) *words.Names {
	var classes []string
	for _, x := range c.Classes {
		classes = append(classes, x.Name, x.Creator)
	}
	for _, r := range c.Renames {
		classes = append(classes, r.Before, r.After)
	}
	for _, k := range c.Work {
		classes = append(classes, k.Name, k.Was)
		for _, p := range k.Path {
			classes = append(classes, p.Where, p.Who)
		}
	}
	for i := range c.Suppressed {
		class, creator := c.Suppressed[i].Finding.Subject()
		classes = append(classes, class, creator)
	}
	names := words.NewNames(classes)
	if full {
		return names.Full()
	}
	return names
}

func (t *text) diffSides(c *compare.Result) {
	t.head("The two sides")
	tb := newTable("", "traces", "duration", "GOMAXPROCS", "Go", "running", "starts").alignLeft(4)
	var traces []string
	for _, s := range []struct {
		name string
		side *compare.Side
	}{{"before", &c.Before}, {"after", &c.After}} {
		var procs []string
		for _, p := range s.side.GOMAXPROCS {
			procs = append(procs, quantity.Count(int64(p)))
		}
		tb.add(s.name, quantity.Count(int64(s.side.N)), quantity.Duration(s.side.DurationNs), strings.Join(procs, ", "),
			words.Visible(strings.Join(s.side.GoVersions, "; ")), quantity.Duration(s.side.RunningNs), quantity.Count(s.side.Starts))
		var names []string
		for i, n := range s.side.Traces {
			if i == textTraces {
				names = append(names, fmt.Sprintf("and %d more", len(s.side.Traces)-i))
				break
			}
			names = append(names, words.Cut(words.Visible(n), 200))
		}
		traces = append(traces, strings.Join(names, ", "))
	}
	t.table(2, tb)
	t.hang("  before: ", 10, traces[0])
	t.hang("  after: ", 10, traces[1])
	before, after := words.AllRules(c.Before.Rules), words.AllRules(c.After.Rules)
	if before != after {
		before = fmt.Sprintf("before %s; after %s", before, after)
	}
	t.hang("  rules: ", 10, before)
}

// diffMetrics has the metrics of whole traces; those of units are with them.
func (t *text) diffMetrics(c *compare.Result) {
	t.head("The whole traces (of what is not tested: medians)")
	tb := newTable("", "before", "after", "change", "95 %", "p").alignLeft(5)
	for i := range c.Metrics {
		t.metricRow(tb, c.Metrics[i].Title, &c.Metrics[i])
	}
	t.table(2, tb)
}

func (t *text) metricRow(tb *table, title string, m *compare.Metric) {
	change, interval := words.MetricChange(m)
	p := ""
	if m.PAdjusted != nil {
		p = quantity.PValue(*m.PAdjusted)
		if !m.Significant {
			change = "~"
		}
	}
	tb.add(words.Visible(title), compare.Value(m.Before.Value, m.Unit), compare.Value(m.After.Value, m.Unit), change, interval, p)
}

func (t *text) diffCauses(c *compare.Result) {
	t.head("Where the change of waiting comes from (" + string(c.Basis) + ")")
	tb := newTable("cause", "before", "after", "change", "of all changes")
	all := words.Movement(c)
	for _, x := range c.Causes {
		if x.BeforeNs == 0 && x.AfterNs == 0 {
			continue
		}
		tb.add(words.Cause(waits.Cause(x.Cause)), quantity.Duration(x.BeforeNs), quantity.Duration(x.AfterNs), words.Difference(x.BeforeNs, x.AfterNs), quantity.Part(max(x.DeltaNs, -x.DeltaNs), all))
	}
	tb.add("all waiting", quantity.Duration(c.Waiting.BeforeNs), quantity.Duration(c.Waiting.AfterNs), words.Difference(c.Waiting.BeforeNs, c.Waiting.AfterNs), "")
	t.table(2, tb)
}

func (t *text) diffClasses(c *compare.Result) {
	t.head("Whose waiting changed")
	tb := newTable("start function", "n", "n", "before", "after", "change", "p99", "p99")
	for _, x := range c.Classes[:min(len(c.Classes), textClassChanges)] {
		name := t.names.Shortened(cmp.Or(x.Name, words.Unknown), 28)
		if x.In != "both" {
			name += " (only " + x.In + ")"
		}
		tb.add(name, quantity.Count(x.BeforeGoroutines), quantity.Count(x.AfterGoroutines), quantity.Duration(x.BeforeNs), quantity.Duration(x.AfterNs), words.Difference(x.BeforeNs, x.AfterNs),
			quantity.Duration(x.BeforeP99Ns), quantity.Duration(x.AfterP99Ns))
	}
	t.table(2, tb)
	t.more(len(c.Classes)-textClassChanges, "more class", "more classes")
	for _, r := range c.Renames {
		t.hang("  - ", 4, fmt.Sprintf("%s may be what %s was: %s.", t.names.Shortened(r.After, 200), t.names.Shortened(r.Before, 200), r.Why))
	}
}

// diffWork has the kinds of units that decide, with their metrics, then the others.
func (t *text) diffWork(c *compare.Result) {
	if len(c.Work) == 0 {
		return
	}
	t.head("Work (~: no significant change)")
	tb := newTable("", "before", "after", "change", "95 %", "p").alignLeft(5)
	others := newTable("other kinds", "n", "n", "p50", "p50", "p99", "p99")
	shown := 0
	for i := range c.Work {
		k := &c.Work[i]
		name := KindInWords(t.names, k)
		if len(k.Metrics) > 0 {
			tb.add(words.Cut(name, 80), "", "", "", "", "")
			for j := range k.Metrics {
				t.metricRow(tb, "  "+k.Metrics[j].Title, &k.Metrics[j])
			}
			continue
		}
		if shown++; shown <= textKindChanges {
			others.add(words.Cut(name, 60), quantity.Count(k.Before.Count), quantity.Count(k.After.Count), quantity.Duration(k.Before.P50Ns), quantity.Duration(k.After.P50Ns),
				quantity.Duration(k.Before.P99Ns), quantity.Duration(k.After.P99Ns))
		}
	}
	t.table(2, tb)
	if shown > 0 {
		t.table(2, others)
	}
	t.more(shown-textKindChanges, "more kind", "more kinds")
}

// KindInWords returns the name of a changed kind, with its change.
func KindInWords(names *words.Names, k *compare.KindChange) string {
	s := names.Shortened(cmp.Or(k.Name, words.Unknown), 60)
	switch {
	case k.In != "both":
		s += " (only " + k.In + ")"
	case k.Was != "":
		s += ", maybe renamed, was " + names.Shortened(k.Was, 60) + " (" + k.Why + ")"
	case k.Why != "":
		s += " (" + k.Why + ")"
	}
	if len(k.Split) > 0 {
		s += ", maybe split: also " + quantity.Plural(int64(len(k.Split)), "other kind", "other kinds")
	}
	return s
}

// DiffFindings returns the section about what became of the findings of both sides.
func DiffFindings(c *compare.Result, names *words.Names) *doc.Section {
	s := &doc.Section{ID: "findings", Title: "Findings"}
	suppressed := suppressedBlocks(names, c.Suppressed)
	list := doc.Outcomes{Most: textFindingChanges}
	for i := range c.Findings {
		f := &c.Findings[i]
		list.List = append(list.List, doc.Outcome{
			Change: string(f.Change), Severity: words.Visible(f.Severity), ID: words.Visible(f.ID), Titles: names.Titles(f), Cost: words.CostChange(f),
			Where: fmt.Sprintf("in %d of %d before, in %d of %d after", f.BeforeN, c.Before.N, f.AfterN, c.After.N),
		})
	}
	switch {
	case len(list.List) > 0:
		s.Blocks = append(s.Blocks, list)
	case len(suppressed) > 0:
		s.Blocks = append(s.Blocks, doc.Para{Text: "No detector found anything else on either side."})
	default:
		s.Blocks = append(s.Blocks, doc.Para{Text: "No detector found anything on either side."})
	}
	s.Blocks = append(s.Blocks, suppressed...)
	return s
}

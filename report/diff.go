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
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// Bounds on what is shown of a comparison; what is left out is said.
const (
	textClassChanges   = 12
	pageClassChanges   = 200
	textFindingChanges = 12
	textKindChanges    = 12
	sideTraces         = 50
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
	t.blocks(DiffReasons(c))
	for _, section := range DiffSections(c, t.names) {
		t.section(section)
	}
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
	return words.NewNames(classes, full)
}

// DiffReasons returns what stands below the headline of a comparison: further reasons, and what to keep in mind.
func DiffReasons(c *compare.Result) []doc.Block {
	return []doc.Block{doc.List{Items: words.All(c.Lines, 1200)}, doc.List{Title: "What to keep in mind", Items: words.All(c.Caveats, 1200)}}
}

// DiffSections returns the sections of a comparison, in order.
func DiffSections(c *compare.Result, names *words.Names) []*doc.Section {
	return []*doc.Section{diffWork(c, names), diffMetrics(c), diffFindings(c, names), diffCauses(c), diffClasses(c, names), diffSides(c)}
}

// diffWork has the kinds of units that decide, with their metrics, then the others; nil if there are none.
func diffWork(c *compare.Result, names *words.Names) *doc.Section {
	if len(c.Work) == 0 {
		return nil
	}
	s := &doc.Section{ID: "work", Title: "Work", Blocks: []doc.Block{
		doc.Para{Text: "Requests, jobs and tests, as the traces show them: how many a second, and how long they take.", Where: doc.Page},
	}}
	others := doc.Table{Caption: "Other kinds, which do not decide", Most: textKindChanges, One: "more kind", Many: "more kinds", Columns: []doc.Column{{Title: "kind", Left: true, Cut: 60},
		{Title: "n before", Short: "n"}, {Title: "n after", Short: "n"}, {Title: "p50 before", Short: "p50"}, {Title: "p50 after", Short: "p50"}, {Title: "p99 before", Short: "p99"}, {Title: "p99 after", Short: "p99"}}}
	for i := range c.Work {
		k := &c.Work[i]
		name, b, a := kindInWords(names, k), &k.Before, &k.After
		if len(k.Metrics) > 0 {
			s.Blocks = append(s.Blocks, metricsTable(name, k.Metrics))
			continue
		}
		others.Rows = append(others.Rows, doc.Row{Cells: []doc.Cell{{Text: name}, doc.Count(b.Count), doc.Count(a.Count),
			doc.Duration(b.P50Ns), doc.Duration(a.P50Ns), doc.Duration(b.P99Ns), doc.Duration(a.P99Ns)}})
	}
	if len(others.Rows) > 0 {
		s.Blocks = append(s.Blocks, others)
	}
	return s
}

// diffMetrics has the metrics of whole traces; those of units are with them.
func diffMetrics(c *compare.Result) *doc.Section {
	s := &doc.Section{ID: "metrics", Title: "The whole traces", Blocks: []doc.Block{
		doc.Para{Text: "With 95 % confidence intervals where a metric is tested; p values are corrected for the number of metrics that decide. Of the others these are medians."},
	}}
	tested := 0 // they are the first
	for tested < len(c.Metrics) && c.Metrics[tested].Primary {
		tested++
	}
	if tested > 0 {
		s.Blocks = append(s.Blocks, metricsTable("", c.Metrics[:tested]))
	}
	s.Blocks = append(s.Blocks, doc.Fold{Title: "Metrics that are not tested", Blocks: []doc.Block{metricsTable("", c.Metrics[tested:])}})
	return s
}

func metricsTable(caption string, list []compare.Metric) doc.Table {
	t := doc.Table{Caption: caption, Columns: []doc.Column{{Title: "metric", Left: true}, {Title: "on one scale", Left: true, Where: doc.Page},
		{Title: "before"}, {Title: "after"}, {Title: "change"}, {Title: "95 %", Help: "confidence interval of the change"}, {Title: "p"}}}
	for i := range list {
		m := &list[i]
		change, interval := words.MetricChange(m)
		p, status := doc.Cell{}, ""
		if m.PAdjusted != nil {
			p = doc.Number(quantity.PValue(*m.PAdjusted), *m.PAdjusted)
			if !m.Significant {
				change = "not significant"
			}
		}
		if m.Significant {
			status = "worse"
			if (m.Delta < 0) == (m.Better == compare.Lower) {
				status = "better"
			}
		}
		var sides []doc.Cell
		var ranges []doc.Range
		for j, e := range []compare.Estimate{m.Before, m.After} {
			value := compare.Value(e.Value, m.Unit)
			sides = append(sides, doc.Cell{Text: value, Value: e.Value, Sorts: true, Note: words.Interval(e, m.Unit)})
			r := doc.Range{Key: [...]string{"count", "time"}[j], Title: [...]string{"before ", "after "}[j] + value, Value: e.Value}
			if e.Lo != nil && e.Hi != nil {
				r.Lo, r.Hi = *e.Lo, *e.Hi
			}
			ranges = append(ranges, r)
		}
		t.Rows = append(t.Rows, doc.Row{Cells: []doc.Cell{{Text: words.Visible(m.Title), Note: words.Visible(m.Name)}, {Ranges: ranges}, sides[0], sides[1],
			{Text: change, Value: m.Delta, Sorts: true, Status: status}, {Text: interval}, p}})
	}
	return t
}

func diffCauses(c *compare.Result) *doc.Section {
	s := &doc.Section{ID: "causes", Title: "Where the change of waiting comes from", Blocks: []doc.Block{
		doc.Para{Text: fmt.Sprintf("All waiting of the program's goroutines, %s. The parts add up to the change exactly.", c.Basis)},
	}}
	t := doc.Table{Columns: []doc.Column{{Title: "cause", Left: true}, {Title: "before"}, {Title: "after"}, {Title: "change"}, {Title: "of all changes"}}}
	row := func(cause, meaning, key string, before, after int64, part doc.Cell) {
		t.Rows = append(t.Rows, doc.Row{Cells: []doc.Cell{{Text: cause, Key: key, Note: meaning}, doc.Duration(before), doc.Duration(after),
			doc.Number(words.Difference(before, after), float64(after-before)), part}})
	}
	// It is more than the change of all waiting where some causes went up and others down.
	all := quantity.Sum(c.Causes, func(x *compare.CauseChange) int64 { return max(x.DeltaNs, -x.DeltaNs) })
	for _, x := range c.Causes {
		if cause := waits.Cause(x.Cause); x.BeforeNs != 0 || x.AfterNs != 0 {
			row(words.Cause(cause), words.Meaning(vocabulary.Cause, x.Cause), CauseKey(cause), x.BeforeNs, x.AfterNs, doc.Share(max(x.DeltaNs, -x.DeltaNs), all))
		}
	}
	row("all waiting", "", "accent", c.Waiting.BeforeNs, c.Waiting.AfterNs, doc.Cell{})
	s.Blocks = append(s.Blocks, t)
	lengths := doc.Table{Where: doc.Page, Columns: []doc.Column{{Title: "waits from", Left: true}, {Title: "of all waiting before"}, {Title: "after"}}}
	for _, b := range c.Distribution {
		lengths.Rows = append(lengths.Rows, doc.Row{Cells: []doc.Cell{doc.Duration(b.FromNs), doc.Number(quantity.Percent(b.Before), b.Before), doc.Number(quantity.Percent(b.After), b.After)}})
	}
	if len(lengths.Rows) > 0 {
		s.Blocks = append(s.Blocks, doc.Chart{ID: "chart_sides", Caption: "Share of all waiting, by the length of the waits. More on the right: fewer but longer waits. Drag below to choose a part.", Blocks: []doc.Block{lengths}})
	}
	return s
}

func diffClasses(c *compare.Result, names *words.Names) *doc.Section {
	t := doc.Table{Most: textClassChanges, More: max(0, len(c.Classes)-pageClassChanges), One: "more class", Many: "more classes", Columns: []doc.Column{{Title: "start function", Left: true, Cut: 28}, {Title: "side", Left: true},
		{Title: "n before", Short: "n"}, {Title: "n after", Short: "n"}, {Title: "ran before", Where: doc.Page}, {Title: "ran after", Where: doc.Page}, {Title: "waited before", Short: "before"}, {Title: "waited after", Short: "after"}, {Title: "change"}, {Title: "p99 before", Short: "p99"}, {Title: "p99 after", Short: "p99"}}}
	for _, x := range c.Classes[:len(c.Classes)-t.More] {
		side := x.In
		if side != "both" {
			side = "only " + side
		}
		t.Rows = append(t.Rows, doc.Row{Cells: []doc.Cell{classCell(names, x.Name, x.Creator), {Text: side}, doc.Count(x.BeforeGoroutines), doc.Count(x.AfterGoroutines),
			doc.Duration(x.BeforeRunningNs), doc.Duration(x.AfterRunningNs), doc.Duration(x.BeforeNs), doc.Duration(x.AfterNs), doc.Number(words.Difference(x.BeforeNs, x.AfterNs), float64(x.DeltaNs)),
			doc.Duration(x.BeforeP99Ns), doc.Duration(x.AfterP99Ns)}})
	}
	renames := doc.List{Title: "Perhaps renamed"}
	for _, r := range c.Renames {
		renames.Items = append(renames.Items, fmt.Sprintf("%s may be what %s was: %s.", names.Shortened(r.After, 200), names.Shortened(r.Before, 200), r.Why))
	}
	return &doc.Section{ID: "classes", Title: "Whose waiting changed", Blocks: []doc.Block{t, renames}}
}

// classCell names a class in a table, and who created it.
func classCell(names *words.Names, name, creator string) doc.Cell {
	c := doc.Cell{Name: cmp.Or(name, words.Unknown)}
	if creator != "" {
		c.Note = "created by " + names.Class(creator)
	}
	return c
}

func diffSides(c *compare.Result) *doc.Section {
	t := doc.Table{Columns: []doc.Column{{Title: "side", Left: true}, {Title: "traces"}, {Title: "duration"}, {Title: "GOMAXPROCS"}, {Title: "Go", Left: true}, {Title: "running"}, {Title: "starts"}, {Title: "rules", Left: true}}}
	var traces doc.Facts
	for i, s := range []*compare.Side{&c.Before, &c.After} {
		name := doc.Cell{Text: [...]string{"before", "after"}[i]}
		var procs []string
		for _, p := range s.GOMAXPROCS {
			procs = append(procs, quantity.Count(int64(p)))
		}
		list := words.First(s.Traces, sideTraces, 200, "and %d more")
		t.Rows = append(t.Rows, doc.Row{Cells: []doc.Cell{name, doc.Count(int64(s.N)), doc.Duration(s.DurationNs), {Text: strings.Join(procs, ", ")},
			{Text: words.Cut(words.Visible(strings.Join(s.GoVersions, "; ")), 200)}, doc.Duration(s.RunningNs), doc.Count(s.Starts), {Text: words.AllRules(s.Rules)}}})
		traces = append(traces, doc.Fact{Term: name.Text, Value: doc.Cell{Text: strings.Join(list, ", ")}})
	}
	return &doc.Section{ID: "both", Title: "The two sides", Blocks: []doc.Block{t, doc.Fold{Title: "Which traces", Blocks: []doc.Block{traces}}}}
}

// kindInWords returns the name of a changed kind, with its change.
func kindInWords(names *words.Names, k *compare.KindChange) string {
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

// diffFindings is about what became of the findings of both sides.
func diffFindings(c *compare.Result, names *words.Names) *doc.Section {
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

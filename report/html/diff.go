package html

import (
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/compare"
	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// Bounds on what the page of a comparison shows.
const (
	maxDiffClasses = 200
	maxDiffTraces  = 50
)

// diffPage is what diff.tmpl gets.
type diffPage struct {
	sources

	Title, Tool, Version string
	Status, Badge        string
	Headline             string
	Lines                []string
	Caveats              []string
	Sides                []diffSide
	Basis                string
	Waterfall            template.HTML
	Causes               []row
	Distribution         []blockView
	Primary, Others      []diffMetric
	Classes              []classRow
	MoreClasses          int
	Kinds, OtherKinds    []diffKind
	Renames              []diffRename
	Findings             *sectionView
	Docs                 []diffDoc
	charts               map[string]*chart
}

type diffSide struct {
	Name   string
	Cells  []cell
	Traces []Name
	More   int
}

type diffMetric struct {
	Title, Path         string
	Before, After       string
	BeforeInt, AfterInt string
	Change, Shift, P    string
	Status              string // better, worse or ""
	Picture             template.HTML
}

// classRow is a class in a table of classes, also in the report about many traces.
type classRow struct {
	Name, Creator Name
	In            string        // in a comparison: the sides that have it
	Bar           template.HTML // of many traces: its waiting by cause
	Cells         []cell
}

type diffKind struct {
	Name      Name
	Title, In string
	Metrics   []diffMetric // of a kind that decides
	Cells     []cell
}

type diffRename struct {
	Before, After Name
	Why           string
}

// diffDoc is the verdict on one side's first trace.
type diffDoc struct {
	Side     string
	Name     Name
	Headline string
	Lines    []string
	Findings []blockView
	Text     string // the report as text
}

// WriteDiff renders a comparison to w. before and after are the documents of the
// first trace of each side, nil for none: their verdicts are folded in, and where one
// of them shows full names, so does the comparison. Equal input gives equal bytes.
func WriteDiff(w io.Writer, c *compare.Result, before, after *report.Document, tool string, o Options) error {
	if c == nil {
		return errors.New("html: no comparison")
	}
	p := newDiffPage(c, tool, report.DiffNames(c, before.Names().InFull() || after.Names().InFull()))
	for _, s := range []struct {
		side string
		doc  *report.Document
	}{{"before", before}, {"after", after}} {
		if s.doc != nil && s.doc.Result != nil {
			var text strings.Builder
			if err := report.WriteText(&text, s.doc, report.TextOptions{AllFindings: true}); err != nil {
				return fmt.Errorf("html: %w", err)
			}
			p.Docs = append(p.Docs, diffDoc{
				Side: s.side, Name: wholeName(s.doc.Result.Trace.Name), Headline: words.Cut(words.Visible(s.doc.Verdict.Headline), 1200), Lines: sentences(s.doc.Verdict.Lines),
				Findings: newBlocks([]doc.Block{report.InShort(s.doc, sideFindings)}, s.doc.Names()), Text: text.String(),
			})
		}
	}
	var err error
	if p.sources, err = o.charted(p.charts); err != nil {
		return err
	}
	return execute(w, "diff.tmpl", p)
}

var diffStatus = map[compare.Verdict]string{
	compare.Better: "ok", compare.Worse: "critical", compare.Mixed: "warning", compare.NoChange: "note", compare.Inconclusive: "note",
}

func newDiffPage(c *compare.Result, tool string, names *words.Names) *diffPage {
	p := &diffPage{
		Title: "Before and after: " + string(c.Verdict), Tool: words.Visible(tool), Version: strconv.Itoa(report.Schema),
		Status: diffStatus[c.Verdict], Badge: strings.ToUpper(string(c.Verdict[:1])) + string(c.Verdict[1:]),
		Headline: words.Cut(words.Visible(c.Headline), 1200), Basis: string(c.Basis), Lines: sentences(c.Lines), Caveats: sentences(c.Caveats),
	}
	for _, s := range []struct {
		name string
		side *compare.Side
	}{{"before", &c.Before}, {"after", &c.After}} {
		var procs []string
		for _, n := range s.side.GOMAXPROCS {
			procs = append(procs, quantity.Count(int64(n)))
		}
		d := diffSide{Name: s.name, Cells: []cell{
			{Text: quantity.Count(int64(s.side.N))}, {Text: quantity.Duration(s.side.DurationNs)}, {Text: strings.Join(procs, ", ")},
			{Text: words.Cut(words.Visible(strings.Join(s.side.GoVersions, "; "))+", rules of "+words.AllRules(s.side.Rules), 200)}, {Text: quantity.Duration(s.side.RunningNs)}, {Text: quantity.Count(s.side.Starts)},
		}}
		d.More = max(0, len(s.side.Traces)-maxDiffTraces)
		for _, n := range s.side.Traces[:len(s.side.Traces)-d.More] {
			d.Traces = append(d.Traces, wholeName(n))
		}
		p.Sides = append(p.Sides, d)
	}
	p.Waterfall = waterfall(c)
	p.Causes = diffCauses(c)
	p.distribution(c.Distribution)
	for i := range c.Metrics {
		if m := &c.Metrics[i]; m.Primary {
			p.Primary = append(p.Primary, newDiffMetric(m))
		} else {
			p.Others = append(p.Others, newDiffMetric(m))
		}
	}
	p.MoreClasses = max(0, len(c.Classes)-maxDiffClasses)
	for i := range c.Classes[:len(c.Classes)-p.MoreClasses] {
		x := &c.Classes[i]
		p.Classes = append(p.Classes, classRow{Name: name(orUnnamed(x.Name), names), Creator: name(x.Creator, names), In: x.In, Cells: []cell{
			intCell(quantity.Count(x.BeforeGoroutines), x.BeforeGoroutines), intCell(quantity.Count(x.AfterGoroutines), x.AfterGoroutines), lasting(x.BeforeRunningNs), lasting(x.AfterRunningNs),
			lasting(x.BeforeNs), lasting(x.AfterNs), {Text: words.Difference(x.BeforeNs, x.AfterNs), Sort: strconv.FormatInt(x.DeltaNs, 10)},
			lasting(x.BeforeP99Ns), lasting(x.AfterP99Ns),
		}})
	}
	for i := range c.Work {
		k := &c.Work[i]
		x := diffKind{Name: name(orUnnamed(k.Name), names), Title: report.KindInWords(names, k), In: k.In, Cells: []cell{
			intCell(quantity.Count(k.Before.Count), k.Before.Count), intCell(quantity.Count(k.After.Count), k.After.Count), lasting(k.Before.P50Ns), lasting(k.After.P50Ns),
			lasting(k.Before.P99Ns), lasting(k.After.P99Ns),
		}}
		for j := range k.Metrics {
			x.Metrics = append(x.Metrics, newDiffMetric(&k.Metrics[j]))
		}
		if x.Metrics != nil {
			p.Kinds = append(p.Kinds, x)
		} else {
			p.OtherKinds = append(p.OtherKinds, x)
		}
	}
	for _, r := range c.Renames {
		p.Renames = append(p.Renames, diffRename{name(r.Before, names), name(r.After, names), r.Why})
	}
	p.Findings = newSection(report.DiffFindings(c, names), names)
	return p
}

func orUnnamed(s string) string {
	if s == "" {
		return "(not in the trace)"
	}
	return s
}

func lasting(ns int64) cell { return intCell(quantity.Duration(ns), ns) }

func newDiffMetric(m *compare.Metric) diffMetric {
	x := diffMetric{Title: m.Title, Path: words.Visible(m.Name),
		Before: compare.Value(m.Before.Value, m.Unit), After: compare.Value(m.After.Value, m.Unit),
		BeforeInt: words.Interval(m.Before, m.Unit), AfterInt: words.Interval(m.After, m.Unit),
		P: "–", Picture: dots(m)}
	x.Change, x.Shift = words.MetricChange(m)
	if m.PAdjusted != nil {
		x.P = quantity.PValue(*m.PAdjusted)
		if !m.Significant {
			x.Change = "no significant change"
		}
	}
	if m.Significant {
		x.Status = "worse"
		if (m.Delta < 0) == (m.Better == compare.Lower) {
			x.Status = "better"
		}
	}
	return x
}

// dots shows both medians with their intervals, on one scale from 0.
func dots(m *compare.Metric) template.HTML {
	top := 0.0
	for _, v := range []*float64{&m.Before.Value, m.Before.Hi, &m.After.Value, m.After.Hi} {
		if v != nil {
			top = math.Max(top, *v)
		}
	}
	if top <= 0 {
		return ""
	}
	d := newDrawing("dots", fmt.Sprintf("before %s, after %s", compare.Value(m.Before.Value, m.Unit), compare.Value(m.After.Value, m.Unit)), 26)
	for i, e := range []compare.Estimate{m.Before, m.After} {
		y, key := 4+float64(i)*13, [...]string{"count", "time"}[i]
		if e.Lo != nil && e.Hi != nil {
			d.rect("f-"+key, math.Max(0, *e.Lo/top)*.96, math.Max(0.004, (*e.Hi-math.Max(0, *e.Lo))/top*.96), y+2, 1.5, "")
		}
		d.rect("f-"+key, math.Max(0, e.Value/top)*.96, 0.02, y-1, 7, "")
	}
	return d.end()
}

// waterfall leads from all waiting before to all waiting after, by cause.
func waterfall(c *compare.Result) template.HTML {
	var steps []compare.CauseChange
	top := math.Max(float64(c.Waiting.BeforeNs), float64(c.Waiting.AfterNs))
	level := float64(c.Waiting.BeforeNs)
	for _, x := range c.Causes {
		if x.DeltaNs != 0 {
			steps = append(steps, x)
			level += float64(x.DeltaNs)
			top = math.Max(top, level)
		}
	}
	if top <= 0 {
		return ""
	}
	const row, left, width = 26.0, 0.2, 0.62
	d := newDrawing("waterfall", fmt.Sprintf("All waiting went from %s to %s; a bar for what each cause added or took away.", quantity.Duration(c.Waiting.BeforeNs), quantity.Duration(c.Waiting.AfterNs)), int(row)*(len(steps)+2)+4)
	bar := func(i int, key, label, value string, from, to float64) {
		y := float64(i)*row + 3
		lo, hi := math.Min(from, to)/top, math.Max(from, to)/top
		d.text(left-0.01, y+14, "end", label)
		d.rect("f-"+key, left+width*lo, math.Max(0.002, width*(hi-lo)), y, row-6, label+": "+value)
		d.text(left+width*hi+0.01, y+14, "start", value)
	}
	bar(0, "count", "before", quantity.Duration(c.Waiting.BeforeNs), 0, float64(c.Waiting.BeforeNs))
	level = float64(c.Waiting.BeforeNs)
	for i, x := range steps {
		c := waits.Cause(x.Cause)
		bar(i+1, report.CauseKey(c), words.Cause(c), typeset(words.Difference(x.BeforeNs, x.AfterNs)), level, level+float64(x.DeltaNs))
		level += float64(x.DeltaNs)
	}
	bar(len(steps)+1, "time", "after", quantity.Duration(c.Waiting.AfterNs), 0, float64(c.Waiting.AfterNs))
	return d.end()
}

func diffCauses(c *compare.Result) []row {
	var out []row
	all := words.Movement(c)
	for _, x := range c.Causes {
		if x.BeforeNs == 0 && x.AfterNs == 0 {
			continue
		}
		cause := waits.Cause(x.Cause)
		out = append(out, row{Key: report.CauseKey(cause), Label: words.Cause(cause), Help: words.Meaning(vocabulary.Cause, string(cause)), Cells: []cell{lasting(x.BeforeNs), lasting(x.AfterNs), {Text: words.Difference(x.BeforeNs, x.AfterNs)}, {Text: quantity.Part(max(x.DeltaNs, -x.DeltaNs), all)}}})
	}
	return append(out, row{Key: "accent", Label: "all waiting", Cells: []cell{lasting(c.Waiting.BeforeNs), lasting(c.Waiting.AfterNs), {Text: words.Difference(c.Waiting.BeforeNs, c.Waiting.AfterNs)}, {}}})
}

// distribution shows where the waiting of both sides lies, by the length of the waits.
func (p *diffPage) distribution(bars []compare.Bar) {
	t := doc.Table{Columns: []doc.Column{{Title: "waits from", Left: true}, {Title: "of all waiting before"}, {Title: "after"}}}
	var xs []string
	var before, after []float64
	for _, b := range bars {
		xs, before, after = append(xs, quantity.Duration(b.FromNs)), append(before, round(b.Before, 5)), append(after, round(b.After, 5))
		t.Rows = append(t.Rows, doc.Row{Cells: []doc.Cell{doc.Duration(b.FromNs), doc.Number(quantity.Percent(b.Before), b.Before), doc.Number(quantity.Percent(b.After), b.After)}})
	}
	if len(bars) > 0 {
		p.Distribution = newBlocks([]doc.Block{doc.Chart{ID: "chart_sides", Caption: "Share of all waiting, by the length of the waits. More on the right: fewer but longer waits. Drag below to choose a part.", Blocks: []doc.Block{t}}}, nil)
		p.charts = map[string]*chart{"sides": columns("shares", "length of waits, from", "of all waiting", xs, series("before", "count", "", before), series("after", "time", "", after))}
	}
}

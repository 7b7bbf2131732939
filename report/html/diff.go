package html

import (
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/compare"
	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// WriteDiff renders a comparison to w. before and after are the documents of the
// first trace of each side, nil for none: their verdicts are folded in, and where one
// of them shows full names, so does the comparison. Equal input gives equal bytes.
func WriteDiff(w io.Writer, c *compare.Result, before, after *report.Document, tool string, o Options) error {
	if c == nil {
		return errors.New("html: no comparison")
	}
	names := report.DiffNames(c, before.Names().InFull() || after.Names().InFull())
	p := &summaryPage{
		Kind: "before and after", Title: "Before and after: " + string(c.Verdict), Tool: words.Visible(tool),
		Status: diffStatus[c.Verdict], Badge: words.Sentence(string(c.Verdict)), Headline: words.Cut(words.Visible(c.Headline), 1200), Reasons: report.DiffReasons(c),
	}
	p.add(report.DiffSections(c, names)...)
	if svg := waterfall(c); svg != "" {
		p.insert("causes", &figureView{Caption: "From before to after. Each bar in between is what one cause added (to the right) or took away.", SVG: svg})
	}
	p.charts = map[string]*chart{"sides": distribution(c.Distribution)}
	sides := &doc.Section{ID: "sides", Title: "The traces by themselves"}
	for i, d := range []*report.Document{before, after} {
		if d == nil || d.Result == nil {
			continue
		}
		var text strings.Builder
		if err := report.WriteText(&text, d, report.TextOptions{AllFindings: true}); err != nil {
			return fmt.Errorf("html: %w", err)
		}
		sides.Blocks = append(sides.Blocks, doc.Fold{Title: [...]string{"before", "after"}[i], Note: wholeName(d.Result.Trace.Name).Short, Blocks: []doc.Block{
			doc.Para{Text: words.Cut(words.Visible(d.Verdict.Headline), 1200)}, doc.List{Items: words.All(d.Verdict.Lines, 1200)}, report.InShort(d, sideFindings),
			doc.Fold{Title: "Its whole report, as text", Blocks: []doc.Block{doc.Code(text.String())}},
		}})
	}
	if len(sides.Blocks) > 0 {
		p.add(sides)
	}
	return p.write(w, names, o)
}

var diffStatus = map[compare.Verdict]string{
	compare.Better: "ok", compare.Worse: "critical", compare.Mixed: "warning", compare.NoChange: "note", compare.Inconclusive: "note",
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

// distribution shows where the waiting of both sides lies, by the length of the waits; nil if there is none.
func distribution(bars []compare.Bar) *chart {
	if len(bars) == 0 {
		return nil
	}
	var xs []string
	var before, after []float64
	for _, b := range bars {
		xs, before, after = append(xs, quantity.Duration(b.FromNs)), append(before, round(b.Before, 5)), append(after, round(b.After, 5))
	}
	return columns("shares", "length of waits, from", "of all waiting", xs, series("before", "count", "", before), series("after", "time", "", after))
}

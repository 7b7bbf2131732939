package report

import (
	"cmp"
	"fmt"
	"math"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

const fairClasses = 40

// FairnessSection returns the section about how evenly running time was shared, and how often
// goroutines waited.
func FairnessSection(r *analyze.Result) *doc.Section {
	f, p := &r.Fairness, &r.Pressure
	lead := "Fairness was not measured: there was too little to share, or the trace does not show enough."
	var blocks []doc.Block
	if f.Judged > 0 && f.Jain > 0 {
		word := "evenly"
		switch {
		case f.Jain < 0.7:
			word = "very unevenly"
		case f.Jain < 0.9:
			word = "unevenly"
		}
		lead = fmt.Sprintf("Measured against perfectly even sharing, running time was given out %s: Jain's index is %s, and at worst one goroutine was owed %s.",
			word, quantity.Index(f.Jain), quantity.Duration(f.MaxLagNs))
		of := func(row doc.Row, what string) doc.Row {
			row.Cells[0].Text += what
			return row
		}
		slowdown := func(what string, x float64) doc.Row {
			return of(measure("fairness.slowdown", quantity.Times(x)), ", "+what)
		}
		blocks = append(blocks, measures("Over all goroutines of the program",
			measure("fairness.jain", quantity.Index(f.Jain)), measure("fairness.max_lag_ns", quantity.Duration(f.MaxLagNs)), measure("fairness.p99_lag_ns", quantity.Duration(f.P99LagNs)),
			slowdown("mean", f.Slowdown.Mean), slowdown("p50", f.Slowdown.P50), slowdown("p99", f.Slowdown.P99), slowdown("largest", f.Slowdown.Max),
			of(measure("fairness.bypass", quantity.Count(f.Bypass.P99)), ", p99"), of(measure("fairness.bypass", quantity.Count(f.Bypass.Max)), ", largest"),
			measure("fairness.bypass.inversions", quantity.Percent(f.Bypass.Inversions)), measure("little_error", quantity.Percent(math.Abs(f.LittleError)))))
	}
	rows := []doc.Row{measure("pressure.some", quantity.Percent(p.Some)), measure("pressure.full", quantity.Percent(p.Full)), measure("pressure.unclaimed_idle", quantity.Percent(p.UnclaimedIdle))}
	if a := p.Age; a.MaxNs > 0 {
		rows = append(rows, doc.Row{Cells: []doc.Cell{{Text: "longest wait so far", Note: "of those that waited at one time"}, {Text: quantity.Duration(a.MaxNs) + " at " + quantity.Instant(a.AtNs)}}})
	}
	blocks = append(blocks, measures("Shares of the trace's duration", rows...))
	if len(p.Windows) > 0 {
		t := doc.Table{Caption: "Pressure window by window: a trace that is calm on the whole may hold a bad second", Columns: []doc.Column{
			{Title: "windows of", Left: true}, {Title: "number"}, {Title: "some, median"}, {Title: "some, p99"}, {Title: "some, worst"}, {Title: "full, p99"}, {Title: "full, worst"}}}
		share := func(f float64, at int64) doc.Cell {
			c := doc.Number(quantity.Percent(f), f)
			if at > 0 {
				c.Note = "at " + quantity.Instant(at)
			}
			return c
		}
		for _, w := range p.Windows {
			t.Rows = append(t.Rows, doc.Row{Cells: []doc.Cell{{Text: quantity.Duration(w.LengthNs)}, doc.Count(w.N), share(w.Some.P50, 0), share(w.Some.P99, 0), share(w.Some.Max, w.Some.AtNs), share(w.Full.P99, 0), share(w.Full.Max, w.Full.AtNs)}})
		}
		blocks = append(blocks, t)
	}
	if len(f.Slowdown.ByService) > 0 {
		t := doc.Table{Caption: "Slowdown by length of the run, in groups of about a tenth: a fair scheduler slows all alike", Where: doc.Page,
			Columns: []doc.Column{{Title: "ran for", Left: true}, {Title: "number"}, {Title: "slowdown, mean"}, {Title: "largest"}}}
		for _, d := range f.Slowdown.ByService {
			t.Rows = append(t.Rows, doc.Row{Cells: []doc.Cell{{Text: quantity.Duration(d.FromNs) + " to " + quantity.Duration(d.ToNs)}, doc.Count(d.N), doc.Number(quantity.Times(d.Mean), d.Mean), doc.Number(quantity.Times(d.Max), d.Max)}})
		}
		blocks = append(blocks, t)
	}
	if len(f.Classes) > 0 {
		t := doc.Table{Caption: "Within goroutine groups: they do the same work, so differences are the scheduler's doing", Where: doc.Page, More: max(0, len(f.Classes)-fairClasses), One: "more group", Many: "more groups",
			Columns: []doc.Column{{Title: "goroutine group", Left: true}, metric("classes.goroutines"), metric("fairness.jain"), metric("gini"), metric("min_max"), metric("fairness.max_lag_ns")}}
		for _, c := range f.Classes[:min(len(f.Classes), fairClasses)] {
			index := func(x float64) doc.Cell { return doc.Number(quantity.Index(x), x) }
			t.Rows = append(t.Rows, doc.Row{Cells: []doc.Cell{{Name: cmp.Or(c.Name, words.Unknown)}, doc.Count(c.N), index(c.Jain), index(c.Gini), index(c.MinMax), doc.Duration(c.MaxLagNs)}})
		}
		blocks = append(blocks, t)
	}
	return &doc.Section{ID: "fairness", Title: "Fairness and pressure", Blocks: []doc.Block{doc.Para{Text: lead}, doc.Fold{Title: "In numbers", Blocks: blocks}}}
}

// measure is a row about a metric: what it is called, what it means, and its value.
func measure(name, value string) doc.Row {
	t, _ := vocabulary.Lookup(vocabulary.Metric, name)
	return doc.Row{Cells: []doc.Cell{{Text: t.Title, Note: t.Short, Term: doc.Term{string(vocabulary.Metric), name}}, {Text: value}}}
}

func measures(caption string, rows ...doc.Row) doc.Table {
	return doc.Table{Caption: caption, Columns: []doc.Column{{Title: "measure", Left: true}, {Title: "value"}}, Rows: rows}
}

// metric is a column of a metric.
func metric(name string) doc.Column {
	t, _ := vocabulary.Lookup(vocabulary.Metric, name)
	return doc.Column{Title: t.Title, Help: t.Short}
}

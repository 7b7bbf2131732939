package html

import (
	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// causeLines are how many goroutines of the program waited for each cause, on
// average over each bin.
func causeLines(r *analyze.Result) []line {
	o, end := r.Waits.OverTime, r.EndNs()
	if o.BinNs <= 0 || end <= o.FromNs {
		return nil
	}
	var out []line
	for _, c := range o.Causes {
		l := line{Key: report.CauseKey(c.Cause), Title: words.Cause(c.Cause), Values: make([]float64, len(c.Ns))}
		for i, ns := range c.Ns {
			from := o.FromNs + int64(i)*o.BinNs
			l.Values[i] = quantity.Ratio(ns, max(1, r.Timeline.RecordedNs(from, min(from+o.BinNs, end))))
		}
		out = append(out, l)
	}
	return out
}

// causeTimeChart is the chart of the causes over time.
func causeTimeChart(r *analyze.Result) *chart {
	ls := causeLines(r)
	if len(ls) == 0 || len(ls[0].Values) < 2 {
		return nil
	}
	end := r.EndNs() - r.BeginNs()
	c := charts.NewLine()
	c.SetGlobalOptions(options("causetime", opts.XAxis{Type: "value", Name: "time since the trace began", Max: end}, "goroutines waiting, mean")...)
	for _, l := range ls {
		d := make([][2]float64, 0, len(l.Values)+1)
		for i, v := range l.Values {
			d = append(d, [2]float64{float64(int64(i) * r.Waits.OverTime.BinNs), round(v, 4)})
		}
		d = append(d, [2]float64{float64(end), d[len(d)-1][1]})
		c.MultiSeries = append(c.MultiSeries, charts.SingleSeries{
			Name: l.Title, Type: "line", Data: d, Stack: "causes", Step: "end", ShowSymbol: opts.Bool(false),
			ItemStyle: &opts.ItemStyle{Color: "@" + l.Key}, LineStyle: &opts.LineStyle{Color: "@" + l.Key},
			AreaStyle: &opts.AreaStyle{Color: "@" + l.Key, Opacity: opts.Float(1)},
		})
	}
	c.Validate()
	return &chart{Kind: "causetime", End: end, Option: option(c.JSON(), besideLegend)}
}

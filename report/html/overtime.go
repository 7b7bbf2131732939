package html

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/internal/quantity"
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
		l := line{Key: causeKey(c.Cause), Title: words.Cause(c.Cause), Values: make([]float64, len(c.Ns))}
		for i, ns := range c.Ns {
			from := o.FromNs + int64(i)*o.BinNs
			l.Values[i] = quantity.Ratio(ns, max(1, r.Timeline.RecordedNs(from, min(from+o.BinNs, end))))
		}
		out = append(out, l)
	}
	return out
}

// stackSVG draws lines of equal length on top of one another, in steps of binNs, and
// where nothing is recorded.
func stackSVG(ls []line, binNs int64, over axis, gaps []timeline.Span, label string) template.HTML {
	if len(ls) == 0 || len(ls[0].Values) < 2 {
		return ""
	}
	sums := make([]float64, len(ls[0].Values))
	for _, l := range ls {
		for i, v := range l.Values {
			sums[i] += v
		}
	}
	most := 0.0
	for _, v := range sums {
		most = math.Max(most, v)
	}
	if most == 0 {
		return ""
	}
	most = nice(most)
	const top, height, units = 8.0, 190.0, 1000.0
	d := newDrawing("chart", label, 226)
	for i := 0; i <= 4; i++ {
		y := top + height*float64(i)/4
		d.rect("f-grid", leftMargin, plotWidth, y, 1, "")
		d.text(leftMargin-0.008, y+4, "end", quantity.Number(most*float64(4-i)/4))
	}
	d.gaps(gaps, over, top, height)
	d.plot(leftMargin, plotWidth, top, height, units, units)
	x := func(bin int) string {
		return px1(min(1, float64(bin)*float64(binNs)/float64(over.to-over.from)) * units)
	}
	base := make([]float64, len(sums))
	for _, l := range ls {
		var up, down strings.Builder
		for i, v := range l.Values {
			y := px1(units - base[i]/most*units)
			base[i] += v
			fmt.Fprintf(&up, "V%sH%s", px1(units-base[i]/most*units), x(i+1))
			// The way back along the lower edge, from the right to the left.
			s := down.String()
			down.Reset()
			fmt.Fprintf(&down, "V%sH%s%s", y, x(i), s)
		}
		fmt.Fprintf(&d.b, `<path class="f-%s" d="M0 %s%s%sz"><title>%s</title></path>`, l.Key, px1(units-(base[0]-l.Values[0])/most*units), up.String(), down.String(), template.HTMLEscapeString(l.Title))
	}
	d.closePlot()
	timeAxis(d, top+height+18, over)
	return d.end()
}

// causeTimeChart is the interactive form of the same.
func causeTimeChart(r *analyze.Result) *chart {
	ls := causeLines(r)
	if len(ls) == 0 || len(ls[0].Values) < 2 {
		return nil
	}
	end := r.EndNs() - r.BeginNs()
	c := charts.NewLine()
	c.SetGlobalOptions(base("causetime"),
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(true), Type: "scroll", Top: "0", Left: "0", ItemWidth: 14, ItemHeight: 14}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "axis"}),
		charts.WithXAxisOpts(opts.XAxis{Type: "value", Name: "time since the trace began", NameLocation: "middle", NameGap: 28, Max: end}),
		charts.WithYAxisOpts(opts.YAxis{Type: "value", Name: "goroutines waiting, mean"}),
		charts.WithDataZoomOpts(opts.DataZoom{Type: "inside"}, opts.DataZoom{Type: "slider"}),
	)
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
	return &chart{Kind: "causetime", End: end, Option: option(c.JSON(), map[string]any{"left": 8, "right": 24, "top": 56, "bottom": 84, "containLabel": true})}
}

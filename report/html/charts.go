package html

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// The interactive charts. go-echarts makes the options and nothing else: its own rendering would execute what
// comes from a trace. charts.js adds what options cannot say: formatters, theme and the link between charts
// over time. A colour that begins with @ names a colour of style.css.

// heatCells bounds the cells of an interactive heat map; ECharts slows down beyond.
const heatCells = 8_000

// chart is an island for charts.js.
type chart struct {
	Kind   string         `json:"kind"`
	End    int64          `json:"end,omitempty"` // of the time axis, ns
	Option map[string]any `json:"option"`
}

// islands makes all data islands of the page.
func islands(doc *report.Document, withECharts bool, d detail) (out []island, err error) {
	r := doc.Result
	if r == nil {
		return nil, nil
	}
	names := doc.Names()
	p, err := packTimeline(r, d, names)
	if err != nil {
		return nil, err
	}
	type named struct {
		id string
		x  any
	}
	all := []named{{"data_timeline", p}, {"data_cells", newCells(r)}}
	if f := newFlame(r, names); f != nil {
		all = append(all, named{"data_stacks", f})
	}
	for _, n := range all {
		i, err := data(n.id, n.x)
		if err != nil {
			return nil, err
		}
		out = append(out, i)
	}
	if !withECharts {
		return out, nil
	}
	list := map[string]*chart{"causetime": causeTimeChart(r), "queues": queuesChart(r.Timeline)}
	for i, k := range report.WorkKinds(&r.Work) {
		if i < report.OpenKinds {
			list[fmt.Sprintf("latency%d", i+1)] = latencyChart(k)
		}
	}
	more, err := chartIslands(list)
	return append(out, more...), err
}

// chartIslands are the islands of charts, in the order of their names; nil is none.
func chartIslands(list map[string]*chart) (out []island, err error) {
	for _, id := range slices.Sorted(maps.Keys(list)) {
		if list[id] == nil {
			continue
		}
		i, err := data("chart_"+id, list[id])
		if err != nil {
			return nil, err
		}
		out = append(out, i)
	}
	return out, nil
}

// series is one of a chart of columns; those of one stack stand on each other.
func series(title, colour, stack string, values []float64) charts.SingleSeries {
	return charts.SingleSeries{Name: title, Type: "bar", Data: values, Stack: stack, BarCategoryGap: "8%", ItemStyle: &opts.ItemStyle{Color: "@" + colour}}
}

// columns is a chart of columns, of which a part can be chosen on the slider below it.
func columns(kind, xName, yName string, xs []string, list ...charts.SingleSeries) *chart {
	c := charts.NewBar()
	c.SetGlobalOptions(options(opts.XAxis{Type: "category", Name: xName}, yName)...)
	c.SetXAxis(xs)
	c.MultiSeries = list
	c.Validate()
	return &chart{Kind: kind, Option: option(c.JSON(), besideLegend)}
}

// options are those of a chart with a legend, and a slider below it.
func options(x opts.XAxis, yName string) []charts.GlobalOpts {
	x.NameLocation, x.NameGap = "middle", 28
	return []charts.GlobalOpts{
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(true), Type: "scroll", Top: "0", Left: "0", ItemWidth: 14, ItemHeight: 14}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "axis"}),
		charts.WithXAxisOpts(x),
		charts.WithYAxisOpts(opts.YAxis{Type: "value", Name: yName}),
		charts.WithDataZoomOpts(opts.DataZoom{Type: "inside"}, opts.DataZoom{Type: "slider"}),
	}
}

// besideLegend is the place of such a chart.
var besideLegend = map[string]any{"left": 8, "right": 24, "top": 56, "bottom": 84, "containLabel": true}

// latencyChart is how many units of a kind took how long, and what they consist of; nil if they are few.
func latencyChart(k *work.UnitKind) *chart {
	xs, at, order := []string{}, map[string][]float64{}, []doc.Part{}
	for i := range k.Bins {
		b := &k.Bins[i]
		xs = append(xs, quantity.Duration(b.FromNs))
		parts := report.LatencyParts(b)
		whole := length(parts)
		for _, p := range parts {
			if at[p.Key] == nil {
				at[p.Key], order = make([]float64, len(k.Bins)), append(order, p)
			}
			at[p.Key][i] = round(float64(b.Count)*quantity.Ratio(p.Ns, whole), 3)
		}
	}
	if len(xs) < 2 {
		return nil
	}
	var list []charts.SingleSeries
	for _, p := range order {
		list = append(list, series(p.Title, p.Key, "units", at[p.Key]))
	}
	return columns("latency", "latency, from", "units", xs, list...)
}

// option removes the options from a go-echarts chart, less what ECharts 6
// stumbles over, with positions of our own.
func option(j map[string]any, grid map[string]any) map[string]any {
	delete(j, "toolbox")
	j["title"] = []any{}
	j["grid"] = grid
	j["animation"] = false
	return j
}

// queuesChart is the heat map of queue lengths, P × time.
func queuesChart(t timeline.Result) *chart {
	if len(t.Lanes) == 0 || t.Bins == 0 || t.EndNs <= t.FromNs {
		return nil
	}
	cols := max(20, min(400, t.Bins, heatCells/len(t.Lanes)))
	var cells [][3]any
	most := 0.0
	labels := make([]string, len(t.Lanes))
	n, ns := 0, recorded(&t)
	for y, l := range t.Lanes {
		labels[y] = fmt.Sprintf("P%d", l.P)
		r := rebin(l.Queue.Mean, ns, cols)
		n = max(n, len(r))
		for x, v := range r {
			if v > 0.005 {
				cells = append(cells, [3]any{x, y, round(v, 2)})
				most = math.Max(most, v)
			}
		}
	}
	if len(cells) == 0 {
		return nil
	}
	times := make([]string, n)
	for i := range times {
		times[i] = quantity.Duration(t.FromNs + (t.EndNs-t.FromNs)/int64(n)*int64(i))
	}
	c := charts.NewHeatMap()
	c.SetGlobalOptions( // categories, too: SetXAxis has no effect on a heat map
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(false)}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "item"}),
		charts.WithXAxisOpts(opts.XAxis{Type: "category", Data: times, Name: "time since the trace began", NameLocation: "middle", NameGap: 28}),
		charts.WithYAxisOpts(opts.YAxis{Type: "category", Data: labels, Inverse: opts.Bool(true)}),
		charts.WithVisualMapOpts(opts.VisualMap{
			Calculable: opts.Bool(true), Max: float32(most), Orient: "horizontal", Top: "0", Right: "0",
			InRange: &opts.VisualMapInRange{Color: []string{"@heat1", "@heat2", "@heat3", "@heat4", "@heat5", "@heat6", "@heat7"}},
		}),
		charts.WithDataZoomOpts(opts.DataZoom{Type: "inside"}, opts.DataZoom{Type: "slider"}),
	)
	c.MultiSeries = append(c.MultiSeries, charts.SingleSeries{Name: "queues", Type: "heatmap", Data: cells})
	c.Validate()
	return &chart{Kind: "queues", End: t.EndNs - t.FromNs, Option: option(c.JSON(), map[string]any{"left": 8, "right": 16, "top": 54, "bottom": 84, "containLabel": true})}
}

// round keeps so many decimals, and is finite.
func round(f float64, decimals int) float64 {
	s := math.Pow(10, float64(decimals))
	return math.Round(quantity.Finite(f)*s) / s
}

// causeLines are how many goroutines of the program waited for each cause, on average over each bin.
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
	c.SetGlobalOptions(options(opts.XAxis{Type: "value", Name: "time since the trace began", Max: end}, "goroutines waiting, mean")...)
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

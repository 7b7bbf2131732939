package html

import (
	"fmt"
	"math"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// The interactive charts. go-echarts makes the options and nothing else: its
// own rendering would execute what comes from a trace. charts.js adds what
// options cannot say: formatters, theme and the link between charts over
// time. A colour that begins with @ names a colour of style.css.

// heatCells bounds the cells of an interactive heat map; ECharts slows down
// beyond.
const heatCells = 8_000

// chartPoints is the number of points of an interactive curve.
const chartPoints = 1_000

// chart is an island for charts.js.
type chart struct {
	Kind   string         `json:"kind"`
	End    int64          `json:"end,omitempty"`   // of the time axis, ns
	Names  []string       `json:"names,omitempty"` // full labels, by index of the category
	Total  []int64        `json:"total,omitempty"` // wait distribution: number and ns of all
	Rows   [][4]int64     `json:"rows,omitempty"`  // wait distribution: from, to, count, ns
	Option map[string]any `json:"option"`
}

// islands makes all data islands of the page.
func (v *view) islands(doc *report.Document, withECharts bool, d detail) ([]island, error) {
	r := doc.Result
	if r == nil {
		return nil, nil
	}
	names := doc.Names()
	var out []island
	add := func(id string, x any) error {
		i, err := data(id, x)
		if err == nil {
			out = append(out, i)
		}
		return err
	}
	p, err := packTimeline(r, d, names)
	if err != nil {
		return nil, err
	}
	if err := add("data_timeline", p); err != nil {
		return nil, err
	}
	if f := newFlame(r, names); f != nil {
		if err := add("data_stacks", f); err != nil {
			return nil, err
		}
	}
	if !withECharts {
		return out, nil
	}
	for _, c := range []struct {
		id string
		c  *chart
	}{
		{"chart_causes", causesChart(r.Waits.Classes, names)},
		{"chart_causetime", causeTimeChart(r)},
		{"chart_waits", waitsChart(r)},
		{"chart_queues", queuesChart(r.Timeline)},
		{"chart_steals", stealsChart(r.Procs.Steals)},
		{"chart_lines", linesChart(r.Timeline)},
	} {
		if c.c == nil {
			continue
		}
		if err := add(c.id, c.c); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// option removes the options from a go-echarts chart, less what ECharts 6
// stumbles over, with positions of our own.
func option(j map[string]any, grid map[string]any) map[string]any {
	delete(j, "toolbox")
	delete(j, "title")
	j["title"] = []any{}
	j["grid"] = grid
	j["animation"] = false
	return j
}

func base(id string) charts.GlobalOpts {
	return charts.WithInitializationOpts(opts.Initialization{ChartID: id})
}

// causesChart is a stacked bar of causes per class.
func causesChart(classes []waits.Class, names *words.Names) *chart {
	cs := chartedClasses(classes)
	if len(cs) == 0 {
		return nil
	}
	c := charts.NewBar()
	out := &chart{Kind: "causes"}
	labels := make([]string, len(cs))
	for i, k := range cs {
		n := className(k.Name, names)
		labels[i] = words.Cut(n.Short, 48)
		out.Names = append(out.Names, words.Cut(words.Visible(k.Name), 300))
	}
	c.SetGlobalOptions(base("causes"),
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(true), Type: "scroll", Top: "0", Left: "0", ItemWidth: 14, ItemHeight: 14}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "axis"}),
		charts.WithXAxisOpts(opts.XAxis{Type: "value", Name: "time spent waiting", NameLocation: "middle", NameGap: 28}),
		charts.WithYAxisOpts(opts.YAxis{Type: "category", Inverse: opts.Bool(true)}),
	)
	c.SetXAxis(labels).XYReversal()
	for _, cause := range waits.Causes() {
		d := make([]opts.BarData, len(cs))
		sum := int64(0)
		for i, k := range cs {
			ns := waits.CauseNs(classCauses(k), cause)
			d[i] = opts.BarData{Value: ns}
			sum += ns
		}
		if sum > 0 {
			c.AddSeries(words.Cause(cause), d, charts.WithBarChartOpts(opts.BarChart{Stack: "causes"}), charts.WithItemStyleOpts(opts.ItemStyle{Color: "@" + causeKey(cause)}))
		}
	}
	for i := range c.MultiSeries {
		c.MultiSeries[i].BarMaxWidth = "24"
	}
	c.Validate()
	out.Option = option(c.JSON(), map[string]any{"left": 8, "right": 24, "top": 36, "bottom": 44, "containLabel": true})
	return out
}

// waitsChart is the distribution of waits over ranges of length.
func waitsChart(r *analyze.Result) *chart {
	h := r.Waits.User.Histogram
	if len(h) == 0 {
		h = r.Waits.All.Histogram
	}
	h = shownBuckets(h)
	if len(h) == 0 {
		return nil
	}
	out := &chart{Kind: "waits"}
	var n, sum int64
	for _, b := range h {
		n += b.Count
		sum += b.SumNs
	}
	out.Total = []int64{n, sum}
	labels := make([]string, len(h))
	counts, times := make([]opts.BarData, len(h)), make([]opts.BarData, len(h))
	for i, b := range h {
		labels[i] = quantity.Duration(b.FromNs)
		counts[i] = opts.BarData{Value: round(quantity.Ratio(b.Count, n)*100, 4)}
		times[i] = opts.BarData{Value: round(quantity.Ratio(b.SumNs, sum)*100, 4)}
		out.Rows = append(out.Rows, [4]int64{b.FromNs, b.ToNs, b.Count, b.SumNs})
	}
	c := charts.NewBar()
	c.SetGlobalOptions(base("waits"),
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(true), Top: "0", Left: "0", ItemWidth: 14, ItemHeight: 14}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "axis"}),
		charts.WithXAxisOpts(opts.XAxis{Type: "category", Name: "length of a wait, from (logarithmic)", NameLocation: "middle", NameGap: 28}),
		charts.WithYAxisOpts(opts.YAxis{Type: "value", Name: "share, %"}),
	)
	c.SetXAxis(labels)
	c.AddSeries("share of the number of waits", counts, charts.WithItemStyleOpts(opts.ItemStyle{Color: "@count"}))
	c.AddSeries("share of the time waited", times, charts.WithItemStyleOpts(opts.ItemStyle{Color: "@time"}))
	c.Validate()
	out.Option = option(c.JSON(), map[string]any{"left": 8, "right": 16, "top": 56, "bottom": 44, "containLabel": true})
	return out
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
	c := heat("queues", times, labels, cells, most, "time since the trace began", "")
	out := &chart{Kind: "queues", End: t.EndNs - t.FromNs}
	c.SetGlobalOptions(charts.WithDataZoomOpts(opts.DataZoom{Type: "inside"}, opts.DataZoom{Type: "slider"}))
	c.Validate()
	out.Option = option(c.JSON(), map[string]any{"left": 8, "right": 16, "top": 54, "bottom": 84, "containLabel": true})
	return out
}

// stealsChart is the heat map of steals, thief × victim.
func stealsChart(s procs.Steals) *chart {
	if s.Count == 0 {
		return nil
	}
	m, labels := foldMatrix(s.Matrix)
	var cells [][3]any
	most := int64(0)
	for y, r := range m {
		for x, v := range r {
			if v > 0 {
				cells = append(cells, [3]any{x, y, v})
				most = max(most, v)
			}
		}
	}
	if len(cells) == 0 {
		return nil
	}
	c := heat("steals", labels, labels, cells, float64(most), "victim: stolen from", "thief")
	c.Validate()
	out := &chart{Kind: "steals"}
	out.Option = option(c.JSON(), map[string]any{"left": 8, "right": 16, "top": 56, "bottom": 44, "containLabel": true})
	return out
}

// heat makes a heat map. Its categories must go through the axis options:
// SetXAxis has no effect on it.
func heat(id string, xs, ys []string, cells [][3]any, most float64, xName, yName string) *charts.HeatMap {
	c := charts.NewHeatMap()
	c.SetGlobalOptions(base(id),
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(false)}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "item"}),
		charts.WithXAxisOpts(opts.XAxis{Type: "category", Data: xs, Name: xName, NameLocation: "middle", NameGap: 28}),
		charts.WithYAxisOpts(opts.YAxis{Type: "category", Data: ys, Name: yName, Inverse: opts.Bool(true)}),
		charts.WithVisualMapOpts(opts.VisualMap{
			Calculable: opts.Bool(true), Max: float32(most), Orient: "horizontal", Top: "0", Right: "0",
			InRange: &opts.VisualMapInRange{Color: []string{"@heat1", "@heat2", "@heat3", "@heat4", "@heat5", "@heat6", "@heat7"}},
		}),
	)
	c.MultiSeries = append(c.MultiSeries, charts.SingleSeries{Name: id, Type: "heatmap", Data: cells})
	return c
}

// linesChart shows what waited, and which Ps were idle, over time.
func linesChart(t timeline.Result) *chart {
	ls := timeLines(t, chartPoints)
	if len(ls) == 0 || t.EndNs <= t.FromNs {
		return nil
	}
	s, y := seriesScale(t), opts.YAxis{Type: "value", Name: "mean number"}
	if s.floor > 0 {
		y = opts.YAxis{Type: "log", Name: "mean number (logarithmic)", Min: s.floor, Max: s.top}
	}
	c := charts.NewLine()
	c.SetGlobalOptions(base("lines"),
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(true), Type: "scroll", Top: "0", Left: "0", ItemWidth: 18, ItemHeight: 10}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "axis"}),
		charts.WithXAxisOpts(opts.XAxis{Type: "value", Name: "time since the trace began", NameLocation: "middle", NameGap: 28, Max: t.EndNs - t.FromNs}),
		charts.WithYAxisOpts(y),
		charts.WithDataZoomOpts(opts.DataZoom{Type: "inside"}, opts.DataZoom{Type: "slider"}),
	)
	for _, l := range ls {
		d := make([][]any, len(l.Values))
		for i, v := range l.Values {
			at := math.Round((float64(i) + 0.5) / float64(len(l.Values)) * float64(t.EndNs-t.FromNs))
			switch v := round(v, 3); {
			case inGap(t.NotRecorded, t.FromNs+int64(at)):
				d[i] = []any{at, "-"}
			case v < s.floor: // drawn on the lowest line, told as it is
				d[i] = []any{at, s.floor, v}
			default:
				d[i] = []any{at, v}
			}
		}
		c.MultiSeries = append(c.MultiSeries, charts.SingleSeries{
			Name: l.Title, Type: "line", Data: d, ShowSymbol: opts.Bool(false),
			ItemStyle: &opts.ItemStyle{Color: "@" + l.Key}, LineStyle: &opts.LineStyle{Color: "@" + l.Key, Width: 1.5, Type: dash(l.Key)},
		})
	}
	c.Validate()
	return &chart{Kind: "lines", End: t.EndNs - t.FromNs, Option: option(c.JSON(), map[string]any{"left": 8, "right": 24, "top": 56, "bottom": 84, "containLabel": true})}
}

// dash distinguishes the curves without their colours.
func dash(key string) string {
	switch {
	case strings.HasSuffix(key, "2"):
		return "dashed"
	case strings.HasSuffix(key, "3"):
		return "dotted"
	}
	return "solid"
}

// round keeps so many decimals, and is finite.
func round(f float64, decimals int) float64 {
	s := math.Pow(10, float64(decimals))
	return math.Round(finite(f)*s) / s
}

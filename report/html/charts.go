package html

import (
	"fmt"
	"math"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"

	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report"
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
	if err := add("data_cells", newCells(r)); err != nil {
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
		{"chart_causetime", causeTimeChart(r)},
		{"chart_queues", queuesChart(r.Timeline)},
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

// round keeps so many decimals, and is finite.
func round(f float64, decimals int) float64 {
	s := math.Pow(10, float64(decimals))
	return math.Round(finite(f)*s) / s
}

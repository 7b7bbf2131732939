package html

import (
	"cmp"
	"errors"
	"io"
	"slices"

	"github.com/go-echarts/go-echarts/v2/charts"

	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/internal/jsondoc"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// maxColumns bounds the columns of a chart about many traces.
const maxColumns = 120

// WriteFleet renders a report about many traces to w. With full, functions have their full
// names. Equal input gives equal bytes.
func WriteFleet(w io.Writer, f *jsondoc.Fleet, full bool, o Options) error {
	if f == nil {
		return errors.New("html: no report")
	}
	names := words.NewNames(words.FleetClasses(f), full)
	p := &summaryPage{
		Kind: "fleet", Title: "Fleet: " + quantity.Plural(f.Traces, "trace", "traces"), Tool: words.Visible(f.Tool),
		Status: "ok", Badge: "Nobody stands out", Headline: words.FleetHeadline(f), Reasons: report.FleetSums(f), charts: map[string]*chart{},
	}
	if f.OutlierN > 0 {
		p.Status, p.Badge = "warning", quantity.Plural(f.OutlierN, "outlier", "outliers")
	}
	p.add(report.FleetSections(f, names)...)
	if len(o.ECharts) > 0 { // else the tables have the numbers
		p.chart("groups", "Waiting by running time, of the groups in which it is longest; the table below has the same numbers.", peers(f))
		p.chart("trend", "Waiting by running time, by cause", trend(f.Versions))
		p.chart("times", "Waiting by running time, by cause", trend(f.Times))
	}
	return p.write(w, names, o)
}

// chart puts a chart into a section, if there is one to be drawn.
func (p *summaryPage) chart(section, caption string, c *chart) {
	if c != nil {
		p.charts[section] = c
		p.insert(section, doc.Chart{ID: "chart_" + section, Caption: caption})
	}
}

// peers shows the groups that wait most by running time, and which of them stand out; nil of one group.
func peers(f *jsondoc.Fleet) *chart {
	const most = 60
	groups := slices.SortedStableFunc(slices.Values(f.Groups), func(x, y jsondoc.FleetGroup) int { return cmp.Compare(y.WaitingPerRunning, x.WaitingPerRunning) })
	groups = groups[:min(len(groups), most)]
	xs, alike, out := make([]string, len(groups)), make([]float64, len(groups)), make([]float64, len(groups))
	for i := range groups {
		xs[i] = words.Cut(words.FleetGroup(groups[i].Labels), shortName)
		stands := slices.ContainsFunc(f.Outliers, func(o jsondoc.FleetOutlier) bool {
			return o.Kind == "group" && words.FleetGroup(o.Labels) == words.FleetGroup(groups[i].Labels)
		})
		if value := round(groups[i].WaitingPerRunning, 4); stands {
			out[i] = value
		} else {
			alike[i] = value
		}
	}
	if len(groups) < 2 {
		return nil
	}
	return columns("rates", "", "waiting by running time", xs, series("outlier", "warning", "groups", out), series("as its peers", "accent", "groups", alike))
}

// trend shows for what traces of versions or times waited; nil if there are not several.
func trend(list []jsondoc.FleetTrend) *chart {
	if len(list) < 2 {
		return nil
	}
	list = list[max(0, len(list)-maxColumns):]
	var xs []string
	var by []charts.SingleSeries
	for i := range list {
		xs = append(xs, cmp.Or(list[i].From, words.Cut(words.FleetGroup(list[i].Labels), shortName)))
	}
	for _, c := range waits.Causes() {
		values := make([]float64, len(list))
		for i := range list {
			values[i] = round(list[i].WaitingPerRunning*quantity.Ratio(waits.CauseNs(list[i].Causes, c), max(list[i].WaitingNs, 1)), 4)
		}
		if slices.Max(values) > 0 {
			by = append(by, series(words.Cause(c), report.CauseKey(c), "causes", values))
		}
	}
	return columns("rates", "", "waiting by running time", xs, by...)
}

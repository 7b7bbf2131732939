package html

import (
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"

	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/internal/jsondoc"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// Bounds on what the page about many traces shows.
const (
	maxFleetOutliers = 30
	openOutliers     = 5
	maxFleetGroups   = 2001 // all that fleet keeps
	maxFleetClasses  = 100
	maxFleetTrend    = 120
	maxFleetKinds    = 100
	maxFleetUnread   = 50
)

type keyFigure struct{ Value, Label, Note string }

// fleetPage is what fleet.tmpl gets.
type fleetPage struct {
	sources

	Title, Tool, Version string
	Status, Badge        string
	Headline             string
	Lines                []string
	Keys                 []keyFigure
	Causes               []row
	Legend               []legendItem
	Outliers             []fleetOutlier
	MoreOutliers         int64
	GroupBy              string
	Groups               []fleetGroup
	OtherGroup           bool
	Findings             *sectionView
	Kinds                []fleetKind
	Trends               []fleetTrend
	Classes              []classRow
	Waits                []fleetWait
	Unread               []jsondoc.FleetUnread
	MoreUnread           int
	Conflicts            string
	Peers                []blockView // of the groups, which of them stand out
	charts               map[string]*chart
}

type fleetOutlier struct {
	Kind, Group, Sentence, Detail string
	Trace                         Name
	Cause                         string
	CauseKey                      string
	Class                         *Name
	Finding, Command              string
	Picture                       template.HTML
	Open                          bool
}

type fleetGroup struct {
	Name    Name
	Text    string // to filter by
	Bar     template.HTML
	Cells   []cell
	Finding string
	Command string
}

type fleetKind struct {
	Name      Name
	Of, Chief string
	Cells     []cell
}

type fleetTrend struct {
	Title, Lead string
	Chart       string // its ID
	Rows        []fleetTrendRow
	More        int
}

type fleetTrendRow struct {
	Name  string
	Bar   template.HTML
	Cells []cell
}

type fleetWait struct {
	Wait, Cause, Key, Command string
	Class                     Name
	G                         int64
}

// WriteFleet renders a report about many traces to w. With full, functions have their full
// names. Equal input gives equal bytes.
func WriteFleet(w io.Writer, f *jsondoc.Fleet, full bool, o Options) error {
	if f == nil {
		return errors.New("html: no report")
	}
	names := words.NewNames(words.FleetClasses(f))
	if full {
		names = names.Full()
	}
	p := newFleetPage(f, names)
	var err error
	if p.sources, err = o.charted(p.charts); err != nil {
		return err
	}
	return execute(w, "fleet.tmpl", p)
}

func newFleetPage(f *jsondoc.Fleet, names *words.Names) *fleetPage {
	p := &fleetPage{
		Title: "Fleet: " + quantity.Plural(f.Traces, "trace", "traces"), Tool: words.Visible(f.Tool), Version: strconv.Itoa(report.Schema),
		charts: map[string]*chart{}, Status: "ok", Badge: "Nobody stands out", Headline: words.FleetHeadline(f), GroupBy: words.Visible(strings.Join(f.GroupBy, ", ")),
		MoreOutliers: f.OutlierN, OtherGroup: f.OtherGroup,
	}
	if f.OutlierN > 0 {
		p.Status, p.Badge = "warning", quantity.Plural(f.OutlierN, "outlier", "outliers")
	}
	p.sums(f)
	for i := range f.Outliers[:min(len(f.Outliers), maxFleetOutliers)] {
		p.Outliers = append(p.Outliers, newFleetOutlier(&f.Outliers[i], i < openOutliers, names))
		p.MoreOutliers--
	}
	p.groups(f, names)
	p.peers(f)
	p.Findings = newSection(report.FleetFindings(f), names)
	p.kinds(f, names)
	p.trend("versions", "By version", "Waiting by running time: the length of a bar. Versions of one service are below each other.", f.Versions)
	p.trend("times", "Over time", "By the wall-clock time at which each trace began, UTC; of traces that tell it.", f.Times)
	p.classes(f, names)
	for i := range f.Worst {
		s := &f.Worst[i]
		p.Waits = append(p.Waits, fleetWait{
			Wait: quantity.Duration(s.WaitNs), Cause: words.Cause(waits.Cause(s.Cause)), Key: report.CauseKey(waits.Cause(s.Cause)),
			Command: words.FleetCommand(&s.FleetTrace), Class: name(cmp.Or(s.Class, words.Unknown), names), G: s.G,
		})
	}
	p.missing(f)
	return p
}

func (p *fleetPage) sums(f *jsondoc.Fleet) {
	p.Keys = []keyFigure{
		{quantity.Count(f.Traces), "traces", quantity.Plural(int64(len(f.Groups)), "group", "groups") + " by " + p.GroupBy},
		{quantity.Duration(f.WaitingNs), "waiting", words.PerRunning(f.WaitingPerRunning) + " as long as goroutines ran"},
		{quantity.Duration(f.P99Ns), "p99 of waits", "half of the waiting is in waits up to " + quantity.Duration(f.TimeP50Ns)},
		{quantity.Part(f.IdleNs, f.PNs), "of CPU capacity idle", quantity.Duration(f.DurationNs) + " recorded"},
		{quantity.Part(f.Unexplained, f.Starts), "of starts unexplained", "below 1 % queues and steals can be believed"},
	}
	p.Lines = []string{fmt.Sprintf("Within a trace, over traces (tenth, median, nine tenths): Jain's index %s, %s, %s; work by critical path %s, %s, %s. They do not add up, so there is no total.",
		quantity.Index(f.Jain.P10), quantity.Index(f.Jain.P50), quantity.Index(f.Jain.P90),
		quantity.Number(f.Parallelism.P10), quantity.Number(f.Parallelism.P50), quantity.Number(f.Parallelism.P90))}
	for _, c := range f.Causes {
		if c.Ns > 0 {
			p.Causes = append(p.Causes, row{Key: report.CauseKey(c.Cause), Label: words.Cause(c.Cause), Help: words.Meaning(vocabulary.Cause, string(c.Cause)),
				Cells: []cell{lasting(c.Ns), {Text: quantity.Part(c.Ns, f.WaitingNs)}}})
			p.Legend = append(p.Legend, legendItem{report.CauseKey(c.Cause), words.Cause(c.Cause)})
		}
	}
}

// causesBar is a bar whose parts are causes; its length says what share of most they are.
func causesBar(causes []waits.CauseTime, sum int64, share float64, label string) template.HTML {
	if sum <= 0 || share <= 0 {
		return ""
	}
	var parts []doc.Part
	for _, c := range causes {
		parts = append(parts, doc.Part{Key: report.CauseKey(c.Cause), Title: words.Cause(c.Cause) + ": " + quantity.Part(c.Ns, sum), Ns: c.Ns})
	}
	return bar(parts, int64(float64(sum)/min(share, 1)), 12, label)
}

func newFleetOutlier(o *jsondoc.FleetOutlier, open bool, names *words.Names) fleetOutlier {
	x := fleetOutlier{
		Kind: o.Kind, Group: words.Cut(words.FleetGroup(o.Labels), shortName), Trace: wholeName(o.Trace), Command: words.FleetCommand(&o.FleetTrace),
		Cause: words.Cause(waits.Cause(o.Cause)), CauseKey: report.CauseKey(waits.Cause(o.Cause)), Finding: words.Visible(o.Finding), Open: open, Class: nameOrNone(o.Class, names),
	}
	peers := "The median of its group is " + words.PerRunning(o.Median) + ", of " + quantity.Plural(o.PeerN, "trace", "traces")
	if o.Kind == "group" {
		peers = fmt.Sprintf("The median of %s that differ in %s is %s", quantity.Plural(o.PeerN, "group", "groups"), words.Visible(o.Peers), words.PerRunning(o.Median))
	}
	x.Sentence = fmt.Sprintf("waits %s as long as it runs", words.PerRunning(o.Value))
	x.Detail = fmt.Sprintf("%s; score %s. That is %s of waiting too much; %s alone %s.", peers, quantity.Number(o.Score), quantity.Duration(o.ExcessNs), x.Cause, quantity.Duration(o.CauseNs))
	x.Picture = comparison(o)
	return x
}

// comparison draws what an outlier waits below what its peers do.
func comparison(o *jsondoc.FleetOutlier) template.HTML {
	if o.Value <= 0 {
		return ""
	}
	d := newDrawing("bar", fmt.Sprintf("waiting by running time: %s, the median of its peers %s", words.PerRunning(o.Value), words.PerRunning(o.Median)), 16)
	d.rect("f-idle", 0, max(o.Median/o.Value, 0.002), 0, 6, "")
	d.rect("f-"+report.CauseKey(waits.Cause(o.Cause)), 0, 1, 8, 8, "")
	return d.end()
}

func (p *fleetPage) groups(f *jsondoc.Fleet, names *words.Names) {
	most := int64(0)
	for i := range f.Groups {
		most = max(most, f.Groups[i].WaitingNs)
	}
	for i := range f.Groups[:min(len(f.Groups), maxFleetGroups)] {
		g := &f.Groups[i]
		label := words.FleetGroup(g.Labels)
		x := fleetGroup{
			Name: wholeName(label), Finding: words.Visible(g.Finding),
			Bar: causesBar(g.Causes, g.WaitingNs, quantity.Ratio(g.WaitingNs, most), "waiting by cause, of "+label),
			Cells: []cell{
				intCell(quantity.Count(g.Traces), g.Traces), lasting(g.RunningNs), lasting(g.WaitingNs), floatCell(words.PerRunning(g.WaitingPerRunning), g.WaitingPerRunning),
				floatCell(words.PerRunning(g.Median), g.Median), floatCell(words.PerRunning(g.MAD), g.MAD), lasting(g.P99Ns), lasting(g.MaxNs), intCell(quantity.Count(g.OutlierN), g.OutlierN),
			},
		}
		chief := cell{Text: "–"}
		if by := words.BySize(g.Causes); g.WaitingNs > 0 {
			chief = cell{Text: words.Cause(by[0].Cause), Key: report.CauseKey(by[0].Cause), More: quantity.Part(by[0].Ns, g.WaitingNs)}
		}
		x.Cells = append(x.Cells, chief)
		class := cell{Text: "–", Name: nameOrNone(g.Class, names)}
		x.Cells = append(x.Cells, class)
		if g.WorstTrace.Key != "" {
			x.Command = words.FleetCommand(&g.WorstTrace)
		}
		x.Text = strings.ToLower(strings.Join([]string{label, chief.Text, words.Visible(g.Class), x.Finding}, " "))
		p.Groups = append(p.Groups, x)
	}
}

// peers shows the groups that wait most by running time, and which of them stand out.
func (p *fleetPage) peers(f *jsondoc.Fleet) {
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
	if len(groups) > 1 {
		p.Peers = newBlocks([]doc.Block{doc.Chart{ID: "chart_peers", Caption: "Waiting by running time, of the groups in which it is longest; the table below has the same numbers."}}, nil)
		p.charts["peers"] = columns("rates", "", "waiting by running time", xs, series("outlier", "warning", "groups", out), series("as its peers", "accent", "groups", alike))
	}
}

func (p *fleetPage) trend(id, title, lead string, list []jsondoc.FleetTrend) {
	if len(list) < 2 {
		return
	}
	t := fleetTrend{Chart: "chart_" + id, Title: title, Lead: lead, More: max(0, len(list)-maxFleetTrend)}
	list = list[t.More:]
	most := 0.0
	for i := range list {
		most = max(most, list[i].WaitingPerRunning)
	}
	for i := range list {
		x := &list[i]
		label := x.From
		if label == "" {
			label = words.Cut(words.FleetGroup(x.Labels), shortName)
		}
		r := fleetTrendRow{Name: label, Cells: []cell{{Text: quantity.Count(x.Traces)}, lasting(x.RunningNs), lasting(x.WaitingNs), {Text: words.PerRunning(x.WaitingPerRunning)}, lasting(x.P99Ns)}}
		if most > 0 {
			r.Bar = causesBar(x.Causes, x.WaitingNs, x.WaitingPerRunning/most, "waiting by running time, by cause, of "+label)
		}
		t.Rows = append(t.Rows, r)
	}
	p.Trends = append(p.Trends, t)
	var xs []string
	var by []charts.SingleSeries
	for _, r := range t.Rows {
		xs = append(xs, r.Name)
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
	p.charts[id] = columns("rates", "", "waiting by running time", xs, by...)
}

func (p *fleetPage) kinds(f *jsondoc.Fleet, names *words.Names) {
	for i := range f.Work[:min(len(f.Work), maxFleetKinds)] {
		k := &f.Work[i]
		p.Kinds = append(p.Kinds, fleetKind{
			Name: name(cmp.Or(k.Name, words.Unknown), names), Of: words.Cut(words.FleetGroup(k.Labels), shortName), Chief: report.ChiefPart(names, k),
			Cells: []cell{intCell(quantity.Count(k.Traces), k.Traces), intCell(quantity.Count(k.Count), k.Count), lasting(k.P50Ns), lasting(k.P95Ns), lasting(k.P99Ns), lasting(k.MaxNs)},
		})
	}
}

func (p *fleetPage) classes(f *jsondoc.Fleet, names *words.Names) {
	for i := range f.Classes[:min(len(f.Classes), maxFleetClasses)] {
		c := &f.Classes[i]
		p.Classes = append(p.Classes, classRow{
			Name: name(cmp.Or(c.Name, words.Unknown), names), Creator: name(orUnnamed(c.Creator), names),
			Bar: causesBar(c.Causes, c.WaitingNs, quantity.Ratio(c.WaitingNs, f.Classes[0].WaitingNs), "waiting by cause"),
			Cells: []cell{intCell(quantity.Count(c.Traces), c.Traces), intCell(quantity.Count(c.Goroutines), c.Goroutines), lasting(c.RunningNs), intCell(quantity.Count(c.Waits), c.Waits),
				lasting(c.WaitingNs), lasting(c.P99Ns)},
		})
	}
}

func (p *fleetPage) missing(f *jsondoc.Fleet) {
	p.MoreUnread = max(0, len(f.Unread)-maxFleetUnread)
	for _, u := range f.Unread[:min(len(f.Unread), maxFleetUnread)] {
		p.Unread = append(p.Unread, jsondoc.FleetUnread{Name: words.Cut(words.Visible(u.Name), shortName), Why: words.Cut(words.Visible(u.Why), fullName)})
	}
	if f.ConflictN > 0 {
		p.Conflicts = fmt.Sprintf("Of %s there are summaries that differ, made by other versions of gmpscope or with other settings; one of each counts.", quantity.Plural(f.ConflictN, "trace", "traces"))
	}
}

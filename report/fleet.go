package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/internal/jsondoc"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// Bounds on what is shown of many traces, in text and on the page; what is left out is said.
const (
	textGroups        = 24
	pageGroups        = 2001 // all that fleet keeps
	textOutliers      = 12
	pageOutliers      = 30
	openOutliers      = 5
	textFleetFindings = 12
	pageFleetFindings = 100
	textFleetClasses  = 12
	pageFleetClasses  = 100
	textTrend         = 24
	pageTrend         = 120
	textFleetKinds    = 16
	pageFleetKinds    = 100
	textUnread        = 12
	pageUnread        = 50
	textFleetWaits    = 5
)

// WriteFleetJSON writes a report about many traces as one JSON object, a line for each key and for each
// element of the lists. docs/json.md describes every key. Equal input gives equal bytes.
func WriteFleetJSON(w io.Writer, f *jsondoc.Fleet) error {
	if f == nil {
		return errors.New("json: no report")
	}
	return writeObject(w, f)
}

// WriteFleetText writes a report about many traces for people. Equal input gives equal bytes.
func WriteFleetText(w io.Writer, f *jsondoc.Fleet, o TextOptions) error {
	if f == nil {
		return errors.New("text: no report")
	}
	names := words.NewNames(words.FleetClasses(f), o.FullNames)
	t := &text{w: lineWriter(w), o: o, names: names}
	t.para(0, t.in(bold, words.FleetHeadline(f)))
	t.line("")
	t.blocks(FleetSums(f))
	for _, section := range FleetSections(f, names) {
		t.section(section)
	}
	return t.w.Flush()
}

// FleetSums returns what stands below the headline of a report about many traces: sums over all of them.
func FleetSums(f *jsondoc.Fleet) []doc.Block {
	fact := func(term, value, note string) doc.Fact {
		return doc.Fact{Term: term, Value: doc.Cell{Text: value, Note: note}}
	}
	j, p := &f.Jain, &f.Parallelism
	return []doc.Block{doc.Facts{
		fact("traces", quantity.Count(f.Traces), quantity.Plural(int64(len(f.Groups)), "group", "groups")+" by "+words.Visible(strings.Join(f.GroupBy, ", "))),
		fact("waiting", quantity.Duration(f.WaitingNs), fmt.Sprintf("%s as long as goroutines ran, %s", words.PerRunning(f.WaitingPerRunning), quantity.Duration(f.RunningNs))),
		fact("p99 wait", quantity.Duration(f.P99Ns), fmt.Sprintf("the longest is %s, and half of the waiting is in waits up to %s", quantity.Duration(f.MaxNs), quantity.Duration(f.TimeP50Ns))),
		fact("CPU idle", quantity.Part(f.IdleNs, f.PNs), "of its capacity in the "+quantity.Duration(f.DurationNs)+" recorded"),
		fact("unexplained", quantity.Part(f.Unexplained, f.Starts), "of starts, by no rule; below 1 % queues and steals can be believed"),
	}, doc.Para{Text: fmt.Sprintf("Within a trace, over traces (tenth, median, nine tenths): Jain's index %s, %s, %s; work by critical path %s, %s, %s. They do not add up, so there is no total. Each trace counts once, by its content.",
		quantity.Index(j.P10), quantity.Index(j.P50), quantity.Index(j.P90), quantity.Number(p.P10), quantity.Number(p.P50), quantity.Number(p.P90))}}
}

// FleetSections returns the sections of a report about many traces, in order; some may be nil.
func FleetSections(f *jsondoc.Fleet, names *words.Names) []*doc.Section {
	return []*doc.Section{
		fleetMissing(f), fleetOutliers(f, names), fleetGroups(f), fleetCauses(f), fleetFindings(f), fleetKinds(f, names),
		fleetTrend("trend", "By version", "Versions of one service are below each other, the last first.", f.Versions),
		fleetTrend("times", "Over time (UTC)", "By the wall-clock time at which each trace began, of traces that tell it, the last first.", f.Times),
		fleetClasses(f, names), fleetWaits(f),
	}
}

func fleetOutliers(f *jsondoc.Fleet, names *words.Names) *doc.Section {
	s := &doc.Section{ID: "outliers", Title: "Who waits more than its peers", Blocks: []doc.Block{doc.Para{
		Text: "By waiting per running time: groups beside those that differ from them in one label, traces within their group. The score is the distance from the median in deviations; from 3.5 on it is an outlier. The commands write the report of the trace, of a group that of its worst trace."}}}
	if len(f.Outliers) == 0 {
		s.Blocks = append(s.Blocks, doc.Para{Text: "Nobody."})
	}
	shown := f.Outliers[:min(len(f.Outliers), pageOutliers)]
	for i := range shown {
		o := &shown[i]
		cause, group := words.Cause(waits.Cause(o.Cause)), words.Cut(words.FleetGroup(o.Labels), 96)
		what, peers := "Trace "+words.Cut(words.Visible(o.Trace), 96)+" of "+group, "its group, of "+quantity.Plural(o.PeerN, "trace", "traces")+","
		if o.Kind == "group" {
			what, peers = "Group "+group, quantity.Plural(o.PeerN, "group", "groups")+" that differ in "+words.Visible(o.Peers)
		}
		detail := fmt.Sprintf("The median of %s is %s; score %s. That is %s of waiting too much; %s alone %s.", peers, words.PerRunning(o.Median), quantity.Number(o.Score), quantity.Duration(o.ExcessNs), cause, quantity.Duration(o.CauseNs))
		if o.Class != "" {
			detail += " Mostly " + names.Class(o.Class) + "."
		}
		if o.Finding != "" {
			detail += " Finding: " + words.Visible(o.Finding) + "."
		}
		bar := func(title, key string, ratio float64) doc.Bar {
			return doc.Bar{Label: title + " by running time: " + words.PerRunning(ratio), Parts: []doc.Part{{Key: key, Title: title + " in a second of running", Ns: int64(ratio * 1e9)}}, Whole: int64(o.Value * 1e9)}
		}
		fold := doc.Fold{Title: fmt.Sprintf("%s waits %s as long as it runs, because of %s", what, words.PerRunning(o.Value), cause), Open: i < openOutliers, Blocks: []doc.Block{
			doc.Para{Text: detail}, bar("median waiting of its peers", "idle", o.Median), bar("its waiting", CauseKey(waits.Cause(o.Cause)), o.Value), doc.Code(words.FleetCommand(&o.FleetTrace))}}
		if i >= textOutliers {
			fold.Where = doc.Page
		}
		s.Blocks = append(s.Blocks, fold)
	}
	for _, x := range []struct {
		where doc.Where
		most  int
	}{{doc.Text, textOutliers}, {doc.Page, pageOutliers}} {
		if more := int(f.OutlierN) - min(len(f.Outliers), x.most); more > 0 {
			s.Blocks = append(s.Blocks, doc.Para{Where: x.where, Text: fmt.Sprintf("… and %d more.", more)})
		}
	}
	return s
}

func fleetGroups(f *jsondoc.Fleet) *doc.Section {
	lead := "By " + words.Visible(strings.Join(f.GroupBy, ", ")) + ". The bar is all waiting of a group, by cause; median and MAD are over its traces, of waiting by running time."
	if f.OtherGroup {
		lead += " There are more groups than are kept: the last to come are one, without labels."
	}
	var legend doc.Legend
	for _, p := range causeParts(f.Causes) {
		legend = append(legend, doc.Part{Key: p.Key, Title: p.Title})
	}
	t := doc.Table{ID: "class-table", Filter: "label, cause, class, finding", Most: textGroups, More: max(0, len(f.Groups)-pageGroups), One: "more group", Many: "more groups", Columns: []doc.Column{
		{Title: "group", Left: true, Cut: 40}, {Title: "traces"}, {Title: "running"}, {Title: "waiting"}, {Title: "by running"}, {Title: "median"}, {Title: "MAD", Where: doc.Page}, {Title: "p99"},
		{Title: "longest", Where: doc.Page}, {Title: "outliers", Where: doc.Page}, {Title: "chief cause", Left: true}, {Title: "waits most", Left: true, Where: doc.Page}, {Title: "finding", Left: true, Where: doc.Text}}}
	most := int64(0)
	for i := range f.Groups {
		most = max(most, f.Groups[i].WaitingNs)
	}
	for i := range f.Groups[:len(f.Groups)-t.More] {
		g := &f.Groups[i]
		finding := words.Visible(g.Finding)
		head := doc.Cell{Name: words.FleetGroup(g.Labels), Plain: true, Note: finding, Bars: causeBar(g.Causes), Scale: most}
		if g.WorstTrace.Key != "" {
			head.Fold = &doc.Fold{Title: "worst trace", Blocks: []doc.Block{doc.Code(words.FleetCommand(&g.WorstTrace))}}
		}
		chief, class := chiefCause(g.Causes, g.WaitingNs), doc.Cell{Text: "-", Name: g.Class}
		t.Rows = append(t.Rows, doc.Row{Find: strings.ToLower(strings.Join([]string{head.Name, chief.Text, words.Visible(g.Class), finding}, " ")), Cells: []doc.Cell{head,
			doc.Count(g.Traces), doc.Duration(g.RunningNs), doc.Duration(g.WaitingNs), perRunning(g.WaitingPerRunning), perRunning(g.Median), perRunning(g.MAD), doc.Duration(g.P99Ns),
			doc.Duration(g.MaxNs), doc.Count(g.OutlierN), chief, class, {Text: finding}}})
	}
	return &doc.Section{ID: "groups", Title: "Groups", Blocks: []doc.Block{doc.Para{Text: lead, Where: doc.Page}, legend, t}}
}

func perRunning(ratio float64) doc.Cell { return doc.Number(words.PerRunning(ratio), ratio) }

func fleetCauses(f *jsondoc.Fleet) *doc.Section {
	t := doc.Table{Columns: []doc.Column{{Title: "cause", Left: true}, {Title: "waiting"}, {Title: "share"}}}
	for _, c := range words.BySize(f.Causes) {
		if c.Ns > 0 {
			t.Rows = append(t.Rows, doc.Row{Cells: []doc.Cell{{Text: words.Cause(c.Cause), Key: CauseKey(c.Cause), Note: words.Meaning(vocabulary.Cause, string(c.Cause))}, doc.Duration(c.Ns), doc.Share(c.Ns, f.WaitingNs)}})
		}
	}
	return &doc.Section{ID: "causes", Title: "Where all the waiting went", Blocks: []doc.Block{t}}
}

// fleetFindings is about the findings of many traces.
func fleetFindings(f *jsondoc.Fleet) *doc.Section {
	s := &doc.Section{ID: "findings", Title: "Findings", Blocks: []doc.Block{doc.Para{
		Text: "Warnings and worse, over all versions of a group; new ones first, which no trace of an earlier version has.", Where: doc.Page,
	}}}
	if len(f.Findings) == 0 {
		s.Blocks = append(s.Blocks, doc.Para{Text: "None of warning or worse."})
		return s
	}
	list := doc.Outcomes{Most: textFleetFindings, More: max(0, len(f.Findings)-pageFleetFindings)}
	for i := range f.Findings[:len(f.Findings)-list.More] {
		x := &f.Findings[i]
		y := doc.Outcome{
			Severity: words.Visible(x.Severity), ID: words.Visible(x.ID), Class: x.Class, Cost: quantity.Duration(x.CostNs), Command: words.FleetCommand(&x.Worst),
			Where: words.Cut(words.FleetGroup(x.Labels), 96) + ", " + quantity.Plural(x.Traces, "trace", "traces"),
		}
		if x.New {
			y.Change = "new"
		}
		if versions := strings.Join(x.Versions, ", "); versions != "" {
			y.Where += ", versions " + words.Cut(words.Visible(versions), 96)
		}
		list.List = append(list.List, y)
	}
	s.Blocks = append(s.Blocks, list)
	return s
}

// fleetTrend is about versions or times, the last first; nil if there are not several.
func fleetTrend(id, title, lead string, list []jsondoc.FleetTrend) *doc.Section {
	if len(list) < 2 {
		return nil
	}
	t := doc.Table{Most: textTrend, More: max(0, len(list)-pageTrend), One: "row before", Many: "rows before", Columns: []doc.Column{
		{Title: "traces of", Left: true, Cut: 40}, {Title: "traces"}, {Title: "running"}, {Title: "waiting"}, {Title: "by running"}, {Title: "p99"}}}
	list = list[t.More:]
	most := 0.0
	for i := range list {
		most = max(most, list[i].WaitingPerRunning)
	}
	for _, x := range slices.Backward(list) {
		name := doc.Cell{Text: cmp.Or(x.From, words.FleetGroup(x.Labels)), Bars: causeBar(x.Causes), Scale: int64(quantity.Ratio(float64(x.WaitingNs)*most, x.WaitingPerRunning))}
		t.Rows = append(t.Rows, doc.Row{Cells: []doc.Cell{name, doc.Count(x.Traces), doc.Duration(x.RunningNs), doc.Duration(x.WaitingNs), perRunning(x.WaitingPerRunning), doc.Duration(x.P99Ns)}})
	}
	return &doc.Section{ID: id, Title: title, Blocks: []doc.Block{doc.Para{Text: lead + " The length of a bar is waiting by running time.", Where: doc.Page}, t}}
}

func fleetKinds(f *jsondoc.Fleet, names *words.Names) *doc.Section {
	if len(f.Work) == 0 {
		return nil
	}
	t := doc.Table{Most: textFleetKinds, More: max(0, len(f.Work)-pageFleetKinds), One: "more kind", Many: "more kinds", Columns: []doc.Column{{Title: "kind", Left: true, Cut: 40}, {Title: "of", Left: true, Cut: 24},
		{Title: "traces"}, {Title: "number"}, {Title: "p50"}, {Title: "p95"}, {Title: "p99"}, {Title: "longest"}, {Title: "most of the time", Left: true, Cut: 44}}}
	for i := range f.Work[:len(f.Work)-t.More] {
		k := &f.Work[i]
		t.Rows = append(t.Rows, doc.Row{Cells: []doc.Cell{{Name: cmp.Or(k.Name, words.Unknown)}, {Text: words.Cut(words.FleetGroup(k.Labels), 96)}, doc.Count(k.Traces), doc.Count(k.Count),
			doc.Duration(k.P50Ns), doc.Duration(k.P95Ns), doc.Duration(k.P99Ns), doc.Duration(k.MaxNs), {Text: chiefPart(names, k)}}})
	}
	return &doc.Section{ID: "work", Title: "Work", Blocks: []doc.Block{
		doc.Para{Text: "Requests, jobs and tests, as the traces show them, by kind and version; and on what most of the time went.", Where: doc.Page}, t}}
}

func fleetClasses(f *jsondoc.Fleet, names *words.Names) *doc.Section {
	t := doc.Table{Most: textFleetClasses, More: max(0, len(f.Classes)-pageFleetClasses), One: "more class", Many: "more classes", Columns: []doc.Column{{Title: "start function", Left: true, Cut: 44},
		{Title: "traces"}, {Title: "goroutines"}, {Title: "running"}, {Title: "waits", Where: doc.Page}, {Title: "waiting"}, {Title: "p99"}}}
	for i := range f.Classes[:len(f.Classes)-t.More] {
		c := &f.Classes[i]
		head := classCell(names, c.Name, c.Creator)
		head.Bars, head.Scale = causeBar(c.Causes), f.Classes[0].WaitingNs
		t.Rows = append(t.Rows, doc.Row{Cells: []doc.Cell{head, doc.Count(c.Traces), doc.Count(c.Goroutines), doc.Duration(c.RunningNs), doc.Count(c.Waits), doc.Duration(c.WaitingNs), doc.Duration(c.P99Ns)}})
	}
	return &doc.Section{ID: "classes", Title: "Whose waiting", Blocks: []doc.Block{t}}
}

func fleetWaits(f *jsondoc.Fleet) *doc.Section {
	t := doc.Table{Most: textFleetWaits, One: "more", Many: "more", Columns: []doc.Column{{Title: "start function", Left: true, Cut: 60}, {Title: "wait"}, {Title: "goroutine"}, {Title: "mostly", Left: true}}}
	for i := range f.Worst {
		s := &f.Worst[i]
		cause := waits.Cause(s.Cause)
		t.Rows = append(t.Rows, doc.Row{Command: words.FleetCommand(&s.FleetTrace), Cells: []doc.Cell{{Name: cmp.Or(s.Class, words.Unknown)}, doc.Duration(s.WaitNs),
			doc.Number(strconv.FormatInt(s.G, 10), float64(s.G)), {Text: words.Cause(cause), Key: CauseKey(cause)}}})
	}
	return &doc.Section{ID: "waits", Title: "The longest waits", Blocks: []doc.Block{t}}
}

// fleetMissing is about what could not be read, or is doubtful; nil if there is nothing.
func fleetMissing(f *jsondoc.Fleet) *doc.Section {
	s := &doc.Section{ID: "missing", Title: "What is missing"}
	if len(f.Unread) > 0 {
		t := doc.Table{Most: textUnread, More: max(0, len(f.Unread)-pageUnread), One: "more input", Many: "more inputs", Columns: []doc.Column{{Title: "input", Left: true, Cut: 40}, {Title: "why it is not read", Left: true, Cut: 300}}}
		for _, u := range f.Unread[:len(f.Unread)-t.More] {
			t.Rows = append(t.Rows, doc.Row{Cells: []doc.Cell{{Name: u.Name, Plain: true}, {Text: words.Cut(words.Visible(u.Why), 600)}}})
		}
		s.Blocks = append(s.Blocks, t)
	}
	if f.ConflictN > 0 {
		text := fmt.Sprintf("Of %s there are summaries that differ, made by other versions of gmpscope or with other settings; one of each counts", quantity.Plural(f.ConflictN, "trace", "traces"))
		if len(f.Conflicts) > 0 {
			text += ", such as of " + words.Cut(words.Visible(f.Conflicts[0].Trace), 96)
		}
		s.Blocks = append(s.Blocks, doc.Para{Text: text + "."})
	}
	if len(s.Blocks) == 0 {
		return nil
	}
	return s
}

package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/internal/jsondoc"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// Bounds on what the text about many traces shows; what is left out is said.
const (
	textGroups        = 24
	textOutliers      = 12
	textFleetFindings = 12
	maxFleetFindings  = 100
	textFleetClasses  = 12
	textTrend         = 24
	textFleetKinds    = 16
	textUnread        = 12
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
	names := words.NewNames(words.FleetClasses(f))
	if o.FullNames {
		names = names.Full()
	}
	t := &text{w: lineWriter(w), o: o, names: names}
	t.para(0, t.in(bold, words.FleetHeadline(f)))
	t.fleetSums(f)
	t.fleetOutliers(f)
	t.fleetGroups(f)
	t.section(FleetFindings(f))
	t.fleetKinds(f)
	t.fleetTrend("By version", f.Versions)
	t.fleetTrend("Over time (UTC)", f.Times)
	t.fleetClasses(f)
	t.fleetWaits(f)
	t.fleetProblems(f)
	return t.w.Flush()
}

func (t *text) fleetSums(f *jsondoc.Fleet) {
	t.line("")
	t.hang("  ", 2, fmt.Sprintf("%s, %s recorded; goroutines ran for %s and waited for %s, %s as long. p99 %s, longest %s.",
		quantity.Plural(f.Traces, "trace", "traces"), quantity.Duration(f.DurationNs), quantity.Duration(f.RunningNs), quantity.Duration(f.WaitingNs),
		words.PerRunning(f.WaitingPerRunning), quantity.Duration(f.P99Ns), quantity.Duration(f.MaxNs)))
	var parts []string
	for _, c := range words.BySize(f.Causes) {
		if c.Ns > 0 {
			parts = append(parts, words.Cause(c.Cause)+" "+quantity.Part(c.Ns, f.WaitingNs))
		}
	}
	if len(parts) > 0 {
		t.hang("  causes: ", 10, strings.Join(parts, ", "))
	}
	t.hang("  ", 2, fmt.Sprintf("Starts that no rule explains: %s. Over traces, the middle eight tenths: Jain's index %s to %s, parallelism %s to %s.",
		quantity.Part(f.Unexplained, f.Starts), quantity.Index(f.Jain.P10), quantity.Index(f.Jain.P90), quantity.Number(f.Parallelism.P10), quantity.Number(f.Parallelism.P90)))
}

func (t *text) fleetOutliers(f *jsondoc.Fleet) {
	t.head("Who waits more than its peers")
	if len(f.Outliers) == 0 {
		t.line("  Nobody.")
		return
	}
	for i := range f.Outliers[:min(len(f.Outliers), textOutliers)] {
		o := &f.Outliers[i]
		group, hint := words.Cut(words.FleetGroup(o.Labels), 60), ""
		if o.Class != "" {
			hint = "; mostly " + t.names.Shortened(o.Class, 60)
		}
		if o.Finding != "" {
			hint += "; finding " + words.Visible(o.Finding)
		}
		what, peers := "trace "+words.Cut(words.Visible(o.Trace), 60)+" of "+group, "its group"
		if o.Kind == "group" {
			what, peers = "group "+group, quantity.Plural(o.PeerN, "group", "groups")+" that differ in "+words.Visible(o.Peers)
		}
		t.hang("  - ", 4, fmt.Sprintf("%s waits %s as long as it runs, the median of %s %s (score %s): %s too much; %s alone %s%s.",
			t.in(bold, what), words.PerRunning(o.Value), peers, words.PerRunning(o.Median), quantity.Number(o.Score),
			quantity.Duration(o.ExcessNs), words.Cause(waits.Cause(o.Cause)), quantity.Duration(o.CauseNs), hint))
		t.line("    " + words.FleetCommand(&o.FleetTrace))
	}
	t.more(int(f.OutlierN)-min(len(f.Outliers), textOutliers), "more", "more")
}

func (t *text) fleetGroups(f *jsondoc.Fleet) {
	t.head("Groups")
	tb := newTable("group", "traces", "running", "waiting", "by running", "median", "p99", "chief cause", "finding").alignLeft(7, 8)
	for i := range f.Groups[:min(len(f.Groups), textGroups)] {
		g := &f.Groups[i]
		cause := ""
		if by := words.BySize(g.Causes); g.WaitingNs > 0 {
			cause = words.Cause(by[0].Cause)
		}
		tb.add(words.Cut(words.FleetGroup(g.Labels), 40), quantity.Count(g.Traces), quantity.Duration(g.RunningNs), quantity.Duration(g.WaitingNs),
			words.PerRunning(g.WaitingPerRunning), words.PerRunning(g.Median), quantity.Duration(g.P99Ns), cause, words.Visible(g.Finding))
	}
	t.table(2, tb)
	t.more(len(f.Groups)-textGroups, "more group", "more groups")
}

// FleetFindings returns the section about the findings of many traces.
func FleetFindings(f *jsondoc.Fleet) *doc.Section {
	s := &doc.Section{ID: "findings", Title: "Findings", Blocks: []doc.Block{doc.Para{
		Text: "Warnings and worse, over all versions of a group; new ones first, which no trace of an earlier version has.", Where: doc.Page,
	}}}
	if len(f.Findings) == 0 {
		s.Blocks = append(s.Blocks, doc.Para{Text: "None of warning or worse."})
		return s
	}
	list := doc.Outcomes{Most: textFleetFindings, More: max(0, len(f.Findings)-maxFleetFindings)}
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

func (t *text) fleetTrend(title string, list []jsondoc.FleetTrend) {
	if len(list) < 2 {
		return
	}
	t.head(title)
	tb := newTable("", "traces", "running", "waiting", "by running", "p99")
	for i := range list[max(0, len(list)-textTrend):] {
		x := &list[max(0, len(list)-textTrend)+i]
		what := x.From
		if what == "" {
			what = words.Cut(words.FleetGroup(x.Labels), 40)
		}
		tb.add(what, quantity.Count(x.Traces), quantity.Duration(x.RunningNs), quantity.Duration(x.WaitingNs), words.PerRunning(x.WaitingPerRunning), quantity.Duration(x.P99Ns))
	}
	t.table(2, tb)
	if n := len(list) - textTrend; n > 0 {
		t.line(fmt.Sprintf("  The last %d; %s before.", textTrend, quantity.Plural(int64(n), "row", "rows")))
	}
}

func (t *text) fleetKinds(f *jsondoc.Fleet) {
	if len(f.Work) == 0 {
		return
	}
	t.head("Work")
	tb := newTable("kind", "of", "traces", "number", "p50", "p95", "p99", "longest", "most of the time").alignLeft(1, 8)
	for i := range f.Work[:min(len(f.Work), textFleetKinds)] {
		k := &f.Work[i]
		tb.add(t.names.Shortened(cmp.Or(k.Name, words.Unknown), 40), words.Cut(words.FleetGroup(k.Labels), 24), quantity.Count(k.Traces), quantity.Count(k.Count),
			quantity.Duration(k.P50Ns), quantity.Duration(k.P95Ns), quantity.Duration(k.P99Ns), quantity.Duration(k.MaxNs), words.Cut(ChiefPart(t.names, k), 44))
	}
	t.table(2, tb)
	t.more(len(f.Work)-textFleetKinds, "more kind", "more kinds")
}

func (t *text) fleetClasses(f *jsondoc.Fleet) {
	t.head("Whose waiting")
	tb := newTable("start function", "traces", "goroutines", "running", "waiting", "p99")
	for i := range f.Classes[:min(len(f.Classes), textFleetClasses)] {
		c := &f.Classes[i]
		tb.add(t.names.Shortened(cmp.Or(c.Name, words.Unknown), 44), quantity.Count(c.Traces), quantity.Count(c.Goroutines), quantity.Duration(c.RunningNs), quantity.Duration(c.WaitingNs), quantity.Duration(c.P99Ns))
	}
	t.table(2, tb)
	t.more(len(f.Classes)-textFleetClasses, "more class", "more classes")
}

func (t *text) fleetWaits(f *jsondoc.Fleet) {
	t.head("The longest waits")
	for i := range f.Worst[:min(len(f.Worst), textFleetWaits)] {
		s := &f.Worst[i]
		t.hang("  - ", 4, fmt.Sprintf("%s: goroutine %d, %s, mostly %s", quantity.Duration(s.WaitNs), s.G, t.names.Shortened(cmp.Or(s.Class, words.Unknown), 60), words.Cause(waits.Cause(s.Cause))))
		t.line("    " + words.FleetCommand(&s.FleetTrace))
	}
}

func (t *text) fleetProblems(f *jsondoc.Fleet) {
	if len(f.Unread) == 0 && f.ConflictN == 0 {
		return
	}
	t.head("What is missing")
	for _, u := range f.Unread[:min(len(f.Unread), textUnread)] {
		t.hang("  ! ", 4, words.Cut(words.Visible(u.Name), 80)+": "+words.Cut(words.Visible(u.Why), 300))
	}
	t.more(len(f.Unread)-textUnread, "more input", "more inputs")
	if f.ConflictN > 0 {
		t.hang("  ! ", 4, fmt.Sprintf("Of %s there are summaries that differ, made by other versions or settings; one of each counts, such as of %s.",
			quantity.Plural(f.ConflictN, "trace", "traces"), words.Visible(f.Conflicts[0].Trace)))
	}
}

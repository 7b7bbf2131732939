package fleet

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/internal/jsondoc"
)

// Report is the result of [Aggregate]: groups of traces, their findings, outliers and trend. docs/json.md
// describes each field.
type Report = jsondoc.Fleet

// Grouping is by which labels [Aggregate] groups records, and which findings count as new.
type Grouping struct {
	// By are the labels that make a group: those of users, and "gomaxprocs" and "go".
	By []string
	// Since is the version from which on findings count as new; empty means the first version
	// of each finding.
	Since string
	Tool  string // value of Report.Tool
	// Schema is the value of Report.Schema.
	Schema int
}

// DefaultGrouping returns the labels by which traces are grouped by default.
func DefaultGrouping() []string { return []string{"service", "version", "gomaxprocs"} }

// Aggregate groups records and compares groups and traces. It reads the records twice, in the order of their keys, as
// [Set.All] gives them, and ends with their error; its memory depends on the number of groups and names. Equal records
// give equal reports.
func Aggregate(records func() iter.Seq2[*Record, error], problems []Problem, g Grouping) (*Report, error) {
	a := &aggregator{
		Grouping: g, byKey: map[string]*group{}, findings: newFoundSet(g), trend: newTrend(g.By), classes: classes{}, work: allKinds{},
		worst: []jsondoc.FleetWait{}, conflicts: []jsondoc.FleetTrace{},
	}
	for r, err := range records() {
		if err != nil {
			return nil, err
		}
		a.add(r)
	}
	found := &outliers{by: g.By}
	found.compareGroups(a.groups)
	for r, err := range records() {
		if err != nil {
			return nil, err
		}
		found.add(r, a.groupsFor(valuesOf(r, a.By)))
	}
	return a.document(found, problems), nil
}

// Bounds of lists in a report.
const (
	maxReportClasses   = 200
	maxReportConflicts = 100
	maxWorst           = 20
)

type aggregator struct {
	Grouping
	all       sums
	groups    []*group
	byKey     map[string]*group
	rest      *group // those beyond maxGroups; nil if there are none
	classes   classes
	findings  foundSet
	trend     trend
	work      allKinds
	worst     []jsondoc.FleetWait
	conflicts []jsondoc.FleetTrace
	conflictN int64
}

func (a *aggregator) add(r *Record) {
	a.all.add(r)
	a.classes.add(r)
	values := valuesOf(r, a.By)
	for _, g := range a.groupsFor(values) {
		g.add(r)
	}
	a.findings.add(r, values)
	a.trend.add(r, values)
	a.work.add(r, a.trend.own(values))
	for i := range r.Worst {
		s, t := &r.Worst[i], traceOf(r)
		t.FromNs, t.ToNs = s.FromNs, add(s.FromNs, s.WaitNs)
		a.worst = append(a.worst, jsondoc.FleetWait{FleetTrace: t, G: s.G, Class: className(r, s.Class), WaitNs: s.WaitNs, Source: s.Source, Cause: s.Causes.largest()})
	}
	slices.SortFunc(a.worst, func(x, y jsondoc.FleetWait) int {
		return cmp.Or(cmp.Compare(y.WaitNs, x.WaitNs), strings.Compare(x.Key, y.Key), cmp.Compare(x.FromNs, y.FromNs), cmp.Compare(x.G, y.G))
	})
	a.worst = a.worst[:min(len(a.worst), maxWorst)]
	if r.Conflict {
		a.conflictN++
		if len(a.conflicts) < maxReportConflicts {
			a.conflicts = append(a.conflicts, traceOf(r))
		}
	}
}

// groupsFor returns the groups with those values, and makes those that are not there.
func (a *aggregator) groupsFor(list [][]string) []*group {
	var out []*group
	for _, values := range list {
		g := a.byKey[keyed(values)]
		switch {
		case g != nil:
		case len(a.groups) < maxGroups:
			g = newGroup(values)
			a.groups, a.byKey[keyed(values)] = append(a.groups, g), g
		default:
			if a.rest == nil {
				a.rest = newGroup(nil)
			}
			g = a.rest
		}
		if !slices.Contains(out, g) {
			out = append(out, g)
		}
	}
	return out
}

func (a *aggregator) document(found *outliers, problems []Problem) *Report {
	d := &Report{
		Schema: a.Schema, Tool: a.Tool, GroupBy: a.By, FleetSums: a.all.document(), Groups: []jsondoc.FleetGroup{},
		Outliers: found.list(), OutlierN: found.n, Findings: a.findings.document(), Classes: a.classes.document(), Work: a.work.document(a.trend.by),
		Worst: a.worst, Unread: []jsondoc.FleetUnread{}, Conflicts: a.conflicts, ConflictN: a.conflictN, OtherGroup: a.rest != nil,
	}
	d.Versions, d.Times = a.trend.document()
	groups := a.groups
	if a.rest != nil {
		groups = append(groups, a.rest)
	}
	for _, g := range groups {
		d.Groups = append(d.Groups, g.document(a.By))
	}
	slices.SortStableFunc(d.Groups, func(x, y jsondoc.FleetGroup) int {
		return cmp.Or(cmp.Compare(y.WaitingNs, x.WaitingNs), compareLabels(x.Labels, y.Labels))
	})
	for _, p := range problems {
		d.Unread = append(d.Unread, jsondoc.FleetUnread{Name: p.Name, Why: p.Why})
	}
	return d
}

func compareLabels(a, b []jsondoc.FleetLabel) int {
	return slices.CompareFunc(a, b, func(x, y jsondoc.FleetLabel) int { return compareNatural(x.Value, y.Value) })
}

type classes map[[2]string]*classSum

type classSum struct {
	Class
	traces int64
}

const maxAllClasses = 2000

func (c classes) add(r *Record) {
	for i := range r.Classes {
		from := &r.Classes[i]
		key := [2]string{className(r, from.Name), from.Creator}
		if c[key] == nil && len(c) >= maxAllClasses {
			key = [2]string{others, ""}
		}
		if c[key] == nil {
			c[key] = &classSum{Class: Class{Name: key[0], Creator: key[1]}}
		}
		c[key].merge(from)
		c[key].traces++
	}
}

func (c classes) document() []jsondoc.FleetClass {
	out := []jsondoc.FleetClass{}
	for _, k := range c {
		w := &k.Waits
		out = append(out, jsondoc.FleetClass{
			Name: k.Name, Creator: k.Creator, Traces: k.traces, Goroutines: k.Goroutines, RunningNs: k.RunningNs, Waits: w.Count, WaitingNs: w.TotalNs,
			P99Ns: min(w.Histogram.Quantile(0.99), w.MaxNs), Causes: causeTimes(&w.Causes),
		})
	}
	slices.SortFunc(out, func(x, y jsondoc.FleetClass) int {
		return cmp.Or(cmp.Compare(y.WaitingNs, x.WaitingNs), strings.Compare(x.Name, y.Name), strings.Compare(x.Creator, y.Creator))
	})
	return out[:min(len(out), maxReportClasses)]
}

package html

import (
	"cmp"
	"html/template"
	"math"
	"slices"
	"strconv"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// Bounds on what the page shows, so that its size does not depend on the trace. What is left out is said.
const (
	sideFindings = 12
	maxWindows   = 64
)

// view is the page in words: what page.tmpl shows.
type view struct {
	Title    string
	Tool     string
	Status   string // ok, note, warning, critical
	Badge    string
	Headline string
	Detail   string
	Try      string
	First    *firstView
	Lines    []string
	Nav      []navItem

	Gaps bool // something is not recorded, or not kept

	Work, Findings                        *sectionView
	Waits, Ps                             *sectionView
	Time                                  *timeView
	Longest, Groups, Stacks               *sectionView
	Breakdown, Fairness, Reference, Trace *sectionView
	Machine                               *sectionView
	Exports                               []words.Export
	Glossary                              []glossaryPart
	WhatIsAWait                           string
	ECharts                               bool
	Version                               string
	Origin                                int64 // where the pictures begin, ns
}

type navItem struct{ ID, Title, Note string }

type legendItem struct {
	Key   string `json:"key"`
	Title string `json:"title"`
}

type timeView struct {
	Lead       string
	Command    string // analyses a part of the trace, given its bounds
	Bin        string
	Windows    int
	SVG        template.HTML
	SeriesSVG  template.HTML
	SeriesNote string
	Legend     []legendItem
	States     []legendItem
	Blocked    []legendItem // colours of what goroutines are blocked for
	N          int
	Heap       bool
	Notes      bool // there are tasks or regions
	CPUs       int  // that have a lane
	MoreCPUs   int  // that have none
}

// newView turns doc into words and drawings.
func newView(doc *report.Document, o Options) *view {
	wait, _ := vocabulary.Lookup(vocabulary.Word, "wait")
	v := &view{
		Tool:     words.Visible(doc.Tool),
		Status:   doc.Verdict.Status,
		Headline: words.Visible(doc.Verdict.Headline),
		Glossary: glossaries(), WhatIsAWait: wait.Long,
		ECharts: len(o.ECharts) > 0,
		Version: strconv.Itoa(doc.Schema),
		Title:   "Scheduling report",
	}
	if doc.Verdict.Finding < 0 { // else the first card, which is open, has it
		v.Detail = words.Cut(words.Visible(doc.Verdict.Detail), 1200)
	}
	v.Try = words.Cut(words.Visible(doc.Verdict.Try), 1200)
	v.Lines = sentences(slices.DeleteFunc(slices.Clone(doc.Verdict.Lines), func(l string) bool { return l == doc.Verdict.Detail || l == doc.Verdict.Try }))
	status, ok := vocabulary.Lookup(vocabulary.Severity, v.Status)
	v.Badge = words.Visible(cmp.Or(doc.Verdict.Label, status.Title))
	if !ok {
		v.Status, v.Badge = "note", "No verdict"
	}
	r := doc.Result
	if v.Headline == "" {
		v.Headline = "No verdict was given for this trace."
	}
	if r == nil {
		return v
	}
	v.Origin = r.Timeline.FromNs
	names := doc.Names()
	if r.Trace.Name != "" {
		v.Title = words.Cut(wholeName(r.Trace.Name).Short, 60) + " – scheduling report"
	}
	v.Gaps = notRecorded(r)
	v.Findings = newSection(report.FindingsSection(doc), names)
	complete(v.Findings.Blocks, r)
	v.first(doc)
	v.Work = newSection(report.WorkSection(r, names, o.Link), names)
	v.Waits, v.Ps = newSection(report.WaitingSection(r), names), newSection(report.ProcessorsSection(r), names)
	v.Longest = newSection(report.LongestSection(r, names), names)
	v.Time = newTime(r)
	v.Groups, v.Stacks = newSection(report.GroupsSection(r, names), names), newSection(report.StacksSection(r, names), names)
	v.Machine, v.Breakdown = newSection(report.MachineSection(r), names), newSection(report.StatesSection(r), names)
	v.Fairness, v.Reference = newSection(report.FairnessSection(r), names), newSection(report.SplitSection(doc.Split), names)
	v.Trace = newSection(report.TraceSection(r), names)
	// The trace follows the verdict. Others that follow each other and are about one thing have
	// one entry, so that the menu fits.
	for _, x := range []struct {
		there bool
		item  navItem
	}{
		{v.Work != nil, navItem{"work", "Work", ""}},
		{true, navItem{"findings", "Findings", strconv.Itoa(len(r.Findings))}},
		{true, navItem{"waiting", "Waiting", ""}},
		{true, navItem{"ps", "Ps", ""}},
		{true, navItem{"timeline", "Timeline", ""}},
		{true, navItem{"classes", "Groups", ""}},
		{v.Machine != nil, navItem{"machine", "Machine", ""}},
		{v.Breakdown != nil, navItem{"lives", "Times", ""}},
		{v.Stacks != nil, navItem{"stacks", "Stacks", ""}},
		{true, navItem{"fairness", "Fairness", ""}},
		{v.Reference != nil, navItem{"reference", "Reference", ""}},
		{true, navItem{"glossary", "Glossary", ""}},
	} {
		if x.there {
			v.Nav = append(v.Nav, x.item)
		}
	}
	v.Exports = words.Exports(r)
	return v
}

// finite replaces what no number can be shown for.
func finite(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

// notRecorded reports whether the trace does not show what the Ps did all the time.
func notRecorded(r *analyze.Result) bool {
	return slices.ContainsFunc(r.Procs.Ps, func(p procs.Proc) bool { return p.NotRecordedNs > 0 })
}

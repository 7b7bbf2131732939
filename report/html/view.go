package html

import (
	"cmp"
	"html/template"
	"slices"
	"strconv"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/internal/doc"
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

	Sections    []*doc.Section // above the timeline; nil is none
	Time        *timeView
	Further     []*doc.Section // below it
	Exports     []words.Export
	Glossary    []glossaryPart
	WhatIsAWait string
	Version     string
	Origin      int64 // where the pictures begin, ns

	sources
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

// newView turns a document into words and drawings.
func newView(d *report.Document, link string) *view {
	wait, _ := vocabulary.Lookup(vocabulary.Word, "wait")
	v := &view{
		Tool:     words.Visible(d.Tool),
		Status:   d.Verdict.Status,
		Headline: words.Visible(d.Verdict.Headline),
		Glossary: glossaries(), WhatIsAWait: wait.Long,
		Version: strconv.Itoa(d.Schema),
		Title:   "Scheduling report",
	}
	if d.Verdict.Finding < 0 { // else the first card, which is open, has it
		v.Detail = words.Cut(words.Visible(d.Verdict.Detail), 1200)
	}
	v.Try = words.Cut(words.Visible(d.Verdict.Try), 1200)
	v.Lines = words.All(slices.DeleteFunc(slices.Clone(d.Verdict.Lines), func(l string) bool { return l == d.Verdict.Detail || l == d.Verdict.Try }), 1200)
	status, ok := vocabulary.Lookup(vocabulary.Severity, v.Status)
	v.Badge = words.Visible(cmp.Or(d.Verdict.Label, status.Title))
	if !ok {
		v.Status, v.Badge = "note", "No verdict"
	}
	r := d.Result
	if v.Headline == "" {
		v.Headline = "No verdict was given for this trace."
	}
	if r == nil {
		return v
	}
	v.Origin = r.Timeline.FromNs
	if r.Trace.Name != "" {
		v.Title = words.Cut(wholeName(r.Trace.Name).Short, 60) + " – scheduling report"
	}
	v.Gaps = notRecorded(r)
	v.Sections, v.Further = report.Sections(d, link)
	v.first(d)
	v.Time = newTime(r)
	// The trace follows the verdict. Others that follow each other and are about one thing have
	// one entry, so that the menu fits.
	for _, item := range []navItem{
		{"work", "Work", ""}, {"findings", "Findings", strconv.Itoa(len(r.Findings))}, {"waiting", "Waiting", ""}, {"ps", "Ps", ""}, {"timeline", "Timeline", ""},
		{"classes", "Groups", ""}, {"machine", "Machine", ""}, {"lives", "Times", ""}, {"stacks", "Stacks", ""}, {"fairness", "Fairness", ""},
		{"reference", "Reference", ""}, {"glossary", "Glossary", ""},
	} {
		is := func(s *doc.Section) bool { return s != nil && s.ID == item.ID }
		if !slices.Contains(optional, item.ID) || slices.ContainsFunc(slices.Concat(v.Sections, v.Further), is) {
			v.Nav = append(v.Nav, item)
		}
	}
	v.Exports = words.Exports(r)
	return v
}

// optional are sections that the menu does not have if the page has not.
var optional = []string{"work", "machine", "lives", "stacks", "reference"}

// notRecorded reports whether the trace does not show what the Ps did all the time.
func notRecorded(r *analyze.Result) bool {
	return slices.ContainsFunc(r.Procs.Ps, func(p procs.Proc) bool { return p.NotRecordedNs > 0 })
}

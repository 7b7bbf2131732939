package html

import (
	"cmp"
	"html/template"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/requests"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

const maxRequestTypes = 60

// requestsView is what the program's tasks and regions spent their time on.
type requestsView struct {
	Lead   string
	Legend []legendItem
	Tables []requestTable
	Slow   []slowRequest
}

type requestTable struct {
	What string // of what the types are
	Rows []requestRow
	More int
}

type requestRow struct {
	Name  string
	Bar   template.HTML
	Cells []cell
}

// slowRequest is one of the longest tasks, or, without tasks, regions.
type slowRequest struct {
	Title  string
	Text   string
	Window string // link into the timeline
	Bar    template.HTML
	Items  []string
}

// newRequests returns nil if the program marks no requests.
func newRequests(r *analyze.Result, names *words.Names) *requestsView {
	q := &r.Requests
	if len(q.Tasks)+len(q.Regions) == 0 {
		return nil
	}
	v := &requestsView{Lead: report.RequestsLead(q)}
	for _, p := range lifeParts(&breakdown.TimeByState{}) {
		v.Legend = append(v.Legend, legendItem{p.key, p.title})
	}
	for _, t := range []struct {
		what  string
		types []requests.Type
	}{{"Task", q.Tasks}, {"Region", q.Regions}} {
		if len(t.types) == 0 {
			continue
		}
		table := requestTable{What: t.what, More: max(0, len(t.types)-maxRequestTypes)}
		for i := range t.types[:min(len(t.types), maxRequestTypes)] {
			table.Rows = append(table.Rows, newRequestRow(&t.types[i]))
		}
		v.Tables = append(v.Tables, table)
	}
	slow := slowTypes(q)
	for i := range slow {
		for j := range slow[i].Slowest {
			v.Slow = append(v.Slow, newSlowRequest(r, &slow[i], &slow[i].Slowest[j], names))
		}
	}
	return v
}

// slowTypes are the types of requests of which the page shows the slowest.
func slowTypes(q *requests.Result) []requests.Type {
	slow := q.Tasks
	if len(slow) == 0 {
		slow = q.Regions
	}
	return slow[:min(len(slow), 3)]
}

func newRequestRow(x *requests.Type) requestRow {
	whole := x.LifeNs()
	out := requestRow{Name: words.Cut(words.Visible(cmp.Or(x.Name, words.Unknown)), 200), Cells: []cell{
		intCell(quantity.Count(x.Count), x.Count), intCell(quantity.Duration(x.P50Ns), x.P50Ns), intCell(quantity.Duration(x.P99Ns), x.P99Ns), intCell(quantity.Duration(x.MaxNs), x.MaxNs),
	}}
	for _, p := range lifeParts(&x.TimeByState)[:4] { // what is not known is in the bar
		out.Cells = append(out.Cells, floatCell(quantity.Part(p.ns, whole), quantity.Ratio(p.ns, whole)))
	}
	out.Cells = append(out.Cells, cell{Text: cmp.Or(words.Visible(report.BlockedInWords(&x.TimeByState, 1)), "–")})
	out.Bar = lifeBar(&x.Spent, whole)
	return out
}

func lifeBar(s *requests.Spent, whole int64) template.HTML {
	var segments []segment
	for _, p := range lifeParts(&s.TimeByState) {
		segments = append(segments, segment{p.key, p.ns, p.title + ": " + quantity.Duration(p.ns) + ", " + quantity.Part(p.ns, whole)})
	}
	return bar(segments, whole, 10, "time by what goroutines did for it")
}

func requestName(of *requests.Type) string {
	return words.Cut(words.Visible(cmp.Or(of.Name, words.Unknown)), 120)
}

func newSlowRequest(r *analyze.Result, of *requests.Type, x *requests.Request, names *words.Names) slowRequest {
	out := slowRequest{
		Title:  requestName(of) + ", " + quantity.Duration(x.ToNs-x.FromNs),
		Text:   report.SlowestInWords(names, r, of, x),
		Window: window(x.FromNs, x.ToNs),
		Bar:    lifeBar(&x.Spent, x.LifeNs()),
	}
	for i := range x.Parts {
		out.Items = append(out.Items, report.PartInWords(x, &x.Parts[i]))
	}
	if x.MoreParts > 0 {
		out.Items = append(out.Items, "… and "+quantity.Plural(x.MoreParts, "more region", "more regions"))
	}
	for i := range x.Logs {
		out.Items = append(out.Items, report.LogInWords(x, &x.Logs[i]))
	}
	if x.MoreLogs > 0 {
		out.Items = append(out.Items, "… and "+quantity.Plural(x.MoreLogs, "more log message", "more log messages"))
	}
	return out
}

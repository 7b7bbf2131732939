package html

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"sort"
	"strconv"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/diagnosis"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// Bounds on what the page shows, so that its size does not depend on the
// trace. What is left out is said.
const (
	maxClasses     = 400
	maxLongWaits   = 20
	openLongWaits  = 3
	maxFindings    = 60
	sideFindings   = 12
	openFindings   = 3 // as many as a person reads; notes and further ones are a click away
	maxActors      = 12
	maxFrames      = 24
	maxAntagonists = 6
	maxWakers      = 6
	maxPs          = 512
	maxWindows     = 64
	chartClasses   = 14
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
	Keys     []keyFigure
	Nav      []navItem

	HasResult  bool
	Card       []fact
	Confidence *confidence
	Warnings   []string
	Reduced    bool
	Gaps       bool // something is not recorded, or not kept
	Procs      string

	Findings     []finding
	Doubts       []doubt
	MoreFindings int
	Suppressed   string   // in a line, or what is said before the items
	SuppressedBy []string // an item for each, where there are several
	Detectors    []detector
	QuietDets    int

	Work        *sectionView
	Waits       *waitsView
	Ps          *psView
	Time        *timeView
	Classes     *classesView
	States      *statesView
	Machine     *machineView
	Stacks      *stacksView
	Fair        *fairView
	Split       *splitView
	Exports     []words.Export
	Glossary    []glossaryPart
	WhatIsAWait string
	ECharts     bool
	Version     string
	Origin      int64 // where the pictures begin, ns
}

type navItem struct{ ID, Title, Note string }

type keyFigure struct{ Value, Label, Note string }

type fact struct {
	Term  string
	Value string
	Note  string
	Name  *Name
}

type confidence struct {
	Explained, Ambiguous, Unexplained string
	Bar                               template.HTML
	Sentence                          string
	Sources                           []row
}

// row is a line of a small table: a label, what it means, and numbers.
type row struct {
	Key   string // colour
	Label string
	Link  string // entry of the glossary, "" if none
	Help  string
	Cells []cell
}

type cell struct {
	Text string
	Sort string // number to sort by; "" sorts by Text
	Name *Name
	Key  string
	More string
	Href string
}

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
	N          int
	Heap       bool
	Notes      bool // there are tasks or regions
	CPUs       int  // that have a lane
	MoreCPUs   int  // that have none
}

// newView turns doc into words and drawings.
func newView(doc *report.Document, withECharts bool) *view {
	v := &view{
		Tool:     words.Visible(doc.Tool),
		Status:   doc.Verdict.Status,
		Headline: words.Visible(doc.Verdict.Headline),
		Glossary: glossaries(), WhatIsAWait: words.WhatIsAWait(),
		ECharts: withECharts,
		Version: strconv.Itoa(doc.Schema),
		Title:   "Scheduling report",
	}
	v.Detail, v.Try = words.Cut(words.Visible(doc.Verdict.Detail), 1200), words.Cut(words.Visible(doc.Verdict.Try), 1200)
	for _, l := range doc.Verdict.Lines {
		if l == doc.Verdict.Detail || l == doc.Verdict.Try {
			continue
		}
		v.Lines = append(v.Lines, words.Cut(words.Visible(l), 1200))
	}
	if doc.Result != nil {
		v.Origin = doc.Result.Timeline.FromNs
	}
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
	v.HasResult = true
	names := doc.Names()
	if r.Trace.Name != "" {
		v.Title = words.Cut(wholeName(r.Trace.Name).Short, 60) + " – scheduling report"
	}
	v.Reduced, v.Gaps = r.Trace.Reduced, notRecorded(r)
	v.keys(r)
	v.card(r)
	v.warnings(r.Trace)
	v.Confidence = newConfidence(r)
	v.findings(r, names, doc.Split)
	v.first(doc)
	v.Work = newSection(report.WorkSection(r, names), names)
	v.Waits = newWaits(r, names)
	v.Ps = newPs(r)
	v.Time = newTime(r)
	v.Classes = newClasses(r, names)
	v.States = newStatesView(r, names)
	v.Stacks = newStacks(r, names)
	v.Machine = newMachine(r, names)
	v.Fair = newFair(r, names)
	v.Split = newSplit(doc.Split, names)
	// The trace follows the verdict. Others that follow each other and are about one thing have
	// one entry, so that the menu fits.
	if v.Work != nil {
		v.Nav = append(v.Nav, navItem{"work", "Work", ""})
	}
	v.Nav = append(v.Nav, navItem{"findings", "Findings", strconv.Itoa(len(r.Findings))})
	v.Nav = append(v.Nav, []navItem{{"waiting", "Waiting", ""}, {"ps", "Ps", ""}, {"timeline", "Timeline", ""}, {"classes", "Classes", ""}}...)
	for _, section := range []struct {
		there bool
		item  navItem
	}{{v.Machine != nil, navItem{"machine", "Machine", ""}}, {v.States != nil, navItem{"lives", "Lives", ""}}, {v.Stacks != nil, navItem{"stacks", "Stacks", ""}}} {
		if section.there {
			v.Nav = append(v.Nav, section.item)
		}
	}
	v.Nav = append(v.Nav, navItem{"fairness", "Fairness", ""})
	if v.Split != nil {
		v.Nav = append(v.Nav, navItem{"reference", "Reference", ""})
	}
	v.Exports = words.Exports(r)
	v.Nav = append(v.Nav, navItem{"glossary", "Glossary", ""})
	return v
}

func (v *view) keys(r *analyze.Result) {
	w := r.Waits.User
	v.Keys = append(v.Keys,
		keyFigure{quantity.Duration(w.TotalNs), "spent waiting for a processor", "by goroutines of the program, summed: " + strings.ToLower(ofTime(w.TotalNs, r.RecordedNs()))},
		keyFigure{quantity.Duration(w.MaxNs), "longest single wait", "of " + quantity.Plural(w.Count, "wait", "waits")},
		keyFigure{quantity.Duration(w.TimeWeighted.P50), "typical wait, by time", "half of all waiting time is in longer waits; half of all waits are under " + quantity.Duration(w.P50)},
	)
	if used, of := r.Procs.InUse(); of > 0 {
		whole := fmt.Sprintf("of %s × %s", quantity.Plural(int64(r.Trace.GOMAXPROCS), "P", "Ps"), quantity.Duration(r.RecordedNs()))
		if all := int64(r.Trace.GOMAXPROCS) * r.RecordedNs(); of < all-all/100 { // GOMAXPROCS was lower for a while, or Ps are not known all the time
			whole = "of " + quantity.Duration(of) + " of P-time"
		}
		v.Keys = append(v.Keys, keyFigure{quantity.Part(used, of), "processors in use", whole})
	}
}

// ofTime reports how many goroutines waited on average.
func ofTime(ns, dur int64) string {
	if dur <= 0 {
		return ""
	}
	mean := float64(ns) / float64(dur)
	if mean < 0.005 {
		return "almost none waiting at any time, on average"
	}
	return quantity.Number(mean) + " waiting at any time, on average"
}

func (v *view) card(r *analyze.Result) {
	t := r.Trace
	add := func(term, value, note string) {
		if value != "" {
			v.Card = append(v.Card, fact{Term: term, Value: value, Note: note})
		}
	}
	addName := func(term, s string) {
		if s != "" {
			n := wholeName(s)
			v.Card = append(v.Card, fact{Term: term, Name: &n})
		}
	}
	addName("Trace", t.Name)
	addName("Program", t.Program)
	add("Go", words.Visible(t.GoVersion), "trace format "+words.Visible(t.Format))
	release, how := words.Rules(t.Rules)
	add("Rules", release, how)
	add("Recorded", words.Visible(t.Wall), "")
	note := ""
	if t.LostNs > 0 {
		note = quantity.Duration(t.LostNs) + " of it were not recorded: no share is of them"
	}
	add("Duration", quantity.Duration(t.DurationNs), note)
	if f := r.Focus; f != nil {
		window, only := words.Focus(f)
		add("Window", window, "waits, findings and pictures are about it")
		add("Only", only, "waits, classes and findings are about these")
	}
	procs := quantity.Count(int64(t.GOMAXPROCS))
	note = ""
	if n := len(r.Procs.Procs); n > 1 {
		var parts []string
		for i, p := range r.Procs.Procs {
			if i == 6 {
				parts = append(parts, "…")
				break
			}
			parts = append(parts, fmt.Sprintf("%s from %s", quantity.Count(int64(p.N)), quantity.Instant(p.AtNs)))
		}
		note = "changed: " + strings.Join(parts, ", ")
	}
	add("GOMAXPROCS", procs, note)
	if t.CPUs > 0 {
		add("CPUs", quantity.Number(t.CPUs), "that the process had, as told by --cpus")
	}
	add("Events", quantity.Count(t.Events), quantity.Plural(int64(t.Generations), "generation", "generations"))
	add("Goroutines", quantity.Count(t.Goroutines), "")
	if t.Threads > 0 {
		add("Threads", quantity.Count(t.Threads), "")
	}
	sz := quantity.Size(t.Bytes)
	note = ""
	if t.Compression != "" {
		note = "was compressed with " + words.Visible(t.Compression)
	}
	add("Size", sz, note)
	if t.LostBytes > 0 {
		add("Lost", quantity.Size(t.LostBytes), quantity.Part(t.LostBytes, t.Bytes)+" of the trace could not be read")
	} else if t.Interrupted {
		add("Lost", "unknown", "the analysis was interrupted: it is about a beginning of the trace")
	} else if t.Incomplete {
		add("Lost", "unknown", "the trace stops short: its last part was never written")
	} else {
		add("Lost", "nothing", "the trace was read to its end")
	}
	if r.Focus == nil {
		add("Tracer's own work", quantity.Duration(t.TracerNs), quantity.Part(t.TracerNs, r.PTime())+" of all P-time")
	}
	var extra []string
	for _, e := range []struct {
		n         int64
		one, many string
	}{{t.Samples, "CPU sample", "CPU samples"}, {t.Tasks, "task", "tasks"}, {t.Regions, "region", "regions"}, {t.Logs, "log message", "log messages"}} {
		if e.n > 0 {
			extra = append(extra, quantity.Plural(e.n, e.one, e.many))
		}
	}
	add("Also holds", strings.Join(extra, ", "), "")
}

// warnings fills in what was amiss with the trace.
func (v *view) warnings(t analyze.Trace) {
	for i, w := range t.Warnings {
		if i == 40 {
			v.Warnings = append(v.Warnings, fmt.Sprintf("… and %d more.", len(t.Warnings)-i))
			break
		}
		v.Warnings = append(v.Warnings, words.Cut(words.Visible(w), 800))
	}
}

// newConfidence reports how far the queues can be believed; nil where nothing was
// started, or no queues were rebuilt.
func newConfidence(r *analyze.Result) *confidence {
	c := r.Reconstruction
	if c.Starts == 0 || r.Trace.Reduced {
		return nil
	}
	h := &confidence{
		Explained:   quantity.Part(c.Explained, c.Starts),
		Ambiguous:   quantity.Part(c.Ambiguous, c.Starts),
		Unexplained: quantity.Part(c.Unexplained, c.Starts),
		Bar: bar([]segment{
			{"ok", c.Explained, "explained by one rule: " + quantity.Part(c.Explained, c.Starts)},
			{"ambiguous", c.Ambiguous, "ambiguous: " + quantity.Part(c.Ambiguous, c.Starts)},
			{"stopped", c.Unexplained, "unexplained: " + quantity.Part(c.Unexplained, c.Starts)},
		}, c.Starts, 14, "How many starts of goroutines the rules of the scheduler explain"),
	}
	h.Sentence = fmt.Sprintf("A trace does not record run queues. They were rebuilt from the rules of the scheduler: of %s, one rule explains %s; for %s several fit or the model had to be corrected; %s remain unexplained. ",
		quantity.Plural(c.Starts, "start", "starts"), h.Explained, h.Ambiguous, h.Unexplained)
	if e := c.EitherTick(); e > 0 {
		h.Sentence += words.EitherTick(e, c.Starts, r.Trace.Rules) + " "
	}
	switch u := quantity.Ratio(c.Unexplained, c.Starts); {
	case u > diagnosis.MostUnsure:
		h.Sentence += "That is a lot: take queue lengths, steals and causes below as indications."
	case u > diagnosis.ManyUnsure:
		h.Sentence += "Queue lengths and steals are a little less certain than the times, which come straight from the trace."
	default:
		h.Sentence += "Times of waiting come straight from the trace and need no model."
	}
	type kv struct {
		k string
		n int64
	}
	var by []kv
	for k, n := range c.BySource {
		if n > 0 {
			by = append(by, kv{k, n})
		}
	}
	sort.Slice(by, func(i, j int) bool { return by[i].n > by[j].n || by[i].n == by[j].n && by[i].k < by[j].k })
	for _, e := range by {
		h.Sources = append(h.Sources, row{Label: words.Visible(e.k), Link: termID(vocabulary.Source, e.k), Help: words.Meaning(vocabulary.Source, e.k), Cells: []cell{intCell(quantity.Count(e.n), e.n), {Text: quantity.Part(e.n, c.Starts)}}})
	}
	return h
}

func intCell(text string, n int64) cell { return cell{Text: text, Sort: strconv.FormatInt(n, 10)} }

func floatCell(text string, f float64) cell {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return cell{Text: "–", Sort: "-1"}
	}
	return cell{Text: text, Sort: strconv.FormatFloat(f, 'g', -1, 64)}
}

// finite replaces what no number can be shown for.
func finite(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

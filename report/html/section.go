package html

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// sectionView is a section as the template draws it.
type sectionView struct {
	ID, Title string
	Blocks    []blockView
}

// blockView is a block: one of its fields is set.
type blockView struct {
	Para, Small string
	Link        *doc.Para
	List        *doc.List
	Flame       bool
	Facts       []factView
	Table       *tableView
	Fold        *foldView
	Legend      []legendItem
	Warning     *doc.Warning
	Code        doc.Code
	Finding     *findingView
	Outcomes    *outcomesView
	Bar         template.HTML
	Chart       *chartView
	Figure      *figureView
}

type factView struct {
	Title string
	cellView
}

type foldView struct {
	doc.Fold
	Blocks []blockView
}

type tableView struct {
	doc.Table
	Columns []doc.Column
	Rows    []rowView
	More    string // what is left out
	Short   bool   // further rows are shown on demand
}

type rowView struct {
	doc.Row
	Head  cellView
	Cells []cellView
}

type cellView struct {
	doc.Cell
	Fold  *foldView
	Picks bool // a click on it selects
	Name  *Name
	Sort  string
	Left  bool
	Bars  []template.HTML
}

type outcomesView struct {
	List []outcomeView
	More int
}

type outcomeView struct {
	doc.Outcome
	Class *Name
}

type chartView struct {
	doc.Chart
	Blocks []blockView
}

// figureView is a drawing below what it shows; bars below each other if there are several.
type figureView struct {
	Caption, Href string
	Life          string // link to what its goroutine did
	Selects       string // as of doc.Row
	Groups        string // of its lanes, a line each
	SVG           template.HTML
	Lanes         []laneView
}

type laneView struct {
	Name Name
	Bar  template.HTML
}

// newSection returns nil for nil.
func newSection(s *doc.Section, names *words.Names) *sectionView {
	if s == nil {
		return nil
	}
	return &sectionView{s.ID, s.Title, newBlocks(s.Blocks, names)}
}

func newBlocks(bs []doc.Block, names *words.Names) (out []blockView) {
	for _, b := range bs {
		switch b := b.(type) {
		case doc.Para:
			switch {
			case b.Where == doc.Text:
			case b.Href != "":
				out = append(out, blockView{Link: &b})
			case b.Small:
				out = append(out, blockView{Small: b.Text})
			default:
				out = append(out, blockView{Para: b.Text})
			}
		case doc.List:
			if b.Where != doc.Text && len(b.Items) > 0 {
				out = append(out, blockView{List: &b})
			}
		case doc.Facts:
			var facts []factView
			for _, f := range b {
				facts = append(facts, factView{f.Term, newCell(f.Value, names, true)})
			}
			out = append(out, blockView{Facts: facts})
		case doc.Table:
			if b.Where != doc.Text {
				out = append(out, blockView{Table: newTable(b, names)})
			}
		case doc.Fold:
			if b.Where != doc.Text {
				out = append(out, blockView{Fold: newFold(&b, names)})
			}
		case doc.Legend:
			var items []legendItem
			for _, p := range b {
				items = append(items, legendItem{p.Key, p.Title})
			}
			out = append(out, blockView{Legend: items})
		case doc.Warning:
			out = append(out, blockView{Warning: &b})
		case doc.Code:
			out = append(out, blockView{Code: b})
		case doc.Finding:
			out = append(out, blockView{Finding: newFinding(b, names)})
		case doc.Outcomes:
			v := &outcomesView{More: b.More}
			for _, x := range b.List {
				v.List = append(v.List, outcomeView{x, nameOrNone(x.Class, names)})
			}
			out = append(out, blockView{Outcomes: v})
		case doc.Bar:
			out = append(out, blockView{Bar: newBar(b.Parts, b.Whole, 0, 14, b.Label)})
		case doc.Chart:
			out = append(out, blockView{Chart: &chartView{b, newBlocks(b.Blocks, names)}})
		case doc.Matrix:
			out = append(out, blockView{Figure: &figureView{Caption: b.Caption, SVG: matrixSVG(b.N)}})
		case doc.Flame:
			out = append(out, blockView{Flame: true})
		case doc.Waterfall:
			out = append(out, blockView{Figure: newWaterfall(b, names)})
		}
	}
	return out
}

func newFold(f *doc.Fold, names *words.Names) *foldView {
	if f == nil {
		return nil
	}
	v := &foldView{*f, newBlocks(f.Blocks, names)}
	v.Group = words.Visible(v.Group)
	return v
}

func newTable(t doc.Table, names *words.Names) *tableView {
	v := &tableView{Table: t, Short: len(t.Rows) > 6}
	for _, c := range t.Columns {
		if c.Where != doc.Text {
			v.Columns = append(v.Columns, c)
		}
	}
	if t.More > 0 {
		v.More = quantity.Plural(int64(t.More), t.One, t.Many)
	}
	for _, r := range t.Rows {
		r.Group = words.Visible(r.Group)
		row := rowView{Row: r}
		for i, c := range t.Columns {
			switch {
			case i == 0:
				row.Head = newCell(r.Cells[i], names, true)
				row.Head.Picks = r.Selects != ""
			case c.Where != doc.Text:
				row.Cells = append(row.Cells, newCell(r.Cells[i], names, c.Left))
			}
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

func newCell(c doc.Cell, names *words.Names, left bool) cellView {
	v := cellView{Cell: c, Left: left, Fold: newFold(c.Fold, names)}
	switch {
	case c.Name == "":
	case c.Plain:
		n := wholeName(c.Name)
		v.Name = &n
	default:
		n := name(c.Name, names)
		v.Name = &n
	}
	if c.Sorts {
		v.Sort = strconv.FormatFloat(finite(c.Value), 'g', -1, 64)
	}
	switch kind, name := vocabulary.Kind(c.Term[0]), c.Term[1]; {
	case kind == doc.Detector && isDetector[name]:
		v.Href = "d-" + name
	case kind == vocabulary.Metric:
		v.Href = measureID(name)
	case name != "":
		v.Href = termID(kind, name)
	}
	for _, b := range c.Bars {
		v.Bars = append(v.Bars, newBar(b, c.Whole, c.Scale, 9, "what it consists of"))
	}
	if len(c.Ranges) > 0 {
		v.Bars = append(v.Bars, newRanges(c.Ranges))
	}
	return v
}

// newBar draws parts of a whole, or of their sum if whole is 0; as wide as there is room is scale, or the whole if that is 0.
func newBar(parts []doc.Part, whole, scale int64, height int, label string) template.HTML {
	sum := int64(0)
	for _, p := range parts {
		sum += p.Ns
	}
	whole = max(cmp.Or(whole, sum), 1)
	parts = slices.Clone(parts)
	for i := range parts {
		p := &parts[i]
		p.Title = fmt.Sprintf("%s: %s, %s", p.Title, quantity.Duration(p.Ns), quantity.Part(p.Ns, whole))
	}
	return bar(parts, cmp.Or(scale, whole), height, label)
}

// newRanges draws values, with their intervals, on one scale from 0.
func newRanges(ranges []doc.Range) template.HTML {
	top := 0.0
	var titles []string
	for _, r := range ranges {
		top = max(top, finite(r.Value), r.Hi)
		titles = append(titles, r.Title)
	}
	if top <= 0 {
		return ""
	}
	d := newDrawing("dots", strings.Join(titles, ", "), 13*len(ranges))
	for i, r := range ranges {
		y, lo := 4+float64(i)*13, max(0, r.Lo)
		if r.Lo < r.Hi {
			d.rect("f-"+r.Key, lo/top*.96, max(.004, (r.Hi-lo)/top*.96), y+2, 1.5, "")
		}
		d.rect("f-"+r.Key, max(0, finite(r.Value)/top)*.96, .02, y-1, 7, "")
	}
	return d.end()
}

// newWaterfall draws a unit over time.
func newWaterfall(w doc.Waterfall, names *words.Names) *figureView {
	v := &figureView{Caption: w.Title, Href: w.Href, Life: fmt.Sprintf("#life=%d", w.G), Selects: fmt.Sprintf("u%d-%d-%d", w.G, w.FromNs, w.ToNs)}
	whole := float64(w.ToNs - w.FromNs)
	for i, l := range w.Lanes {
		d := newDrawing("bar", "what was done meanwhile", 16)
		for _, s := range l.Spans {
			fmt.Fprintf(&d.b, `<g data-go="%s&amp;t=%d-%d">`, w.Href, s.FromNs, s.ToNs)
			d.rect("f-"+s.Key, float64(s.FromNs-w.FromNs)/whole, float64(s.ToNs-s.FromNs)/whole, 0, 16, fmt.Sprintf("%s: %s, from %s on", words.Cut(s.Title, 300), quantity.Duration(s.ToNs-s.FromNs), quantity.Instant(s.FromNs)))
			d.b.WriteString("</g>")
		}
		lane := laneView{Name: className(l.Name, names), Bar: d.end()}
		if i > 0 && i == len(w.Lanes)-1 && w.More > 0 {
			lane.Name = Name{Short: lane.Name.Short + " and " + quantity.Plural(int64(w.More), "other", "others")}
		}
		v.Groups += words.Visible(l.Name) + "\n"
		v.Lanes = append(v.Lanes, lane)
	}
	return v
}

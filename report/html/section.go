package html

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// cellView is a cell as the template draws it.
type cellView struct {
	doc.Cell
	Picks bool // a click on it selects
	Name  *Name
	Sort  string
	Bars  []template.HTML
}

// figureView is a drawing below what it shows; bars below each other if there are several.
type figureView struct {
	doc.Block     // nil: it may stand among blocks
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

// drawsWith returns the functions of the templates: names calls functions, and r has the findings among blocks.
func drawsWith(names *words.Names, r *analyze.Result) template.FuncMap {
	return template.FuncMap{
		"typeset": typeset, "breaks": breaks, "headline": headline, "visible": words.Visible, "plural": func(n int, one, many string) string { return quantity.Plural(int64(n), one, many) },
		"kind":    kind,
		"shown":   shown,
		"onPage":  func(w doc.Where) bool { return w != doc.Text },
		"cell":    func(c doc.Cell, selects string) cellView { return newCell(c, names, selects != "") },
		"named":   func(s string) *Name { return nameOrNone(s, names) },
		"name":    func(s string) Name { return name(s, names) },
		"bar":     func(b doc.Bar) template.HTML { return newBar(b.Parts, b.Whole, 0, 14, b.Label) },
		"figure":  func(w doc.Waterfall) *figureView { return newWaterfall(w, names) },
		"matrix":  func(m doc.Matrix) *figureView { return &figureView{Caption: m.Caption, SVG: matrixSVG(m.N)} },
		"finding": func(f doc.Finding) *findingView { return newFinding(f, r) },
	}
}

// kind is the type of a block, in a word.
func kind(b doc.Block) string {
	_, name, _ := strings.Cut(fmt.Sprintf("%T", b), ".")
	return name
}

// shown are the blocks that the page has.
func shown(bs []doc.Block) []doc.Block {
	return slices.DeleteFunc(slices.Clone(bs), func(b doc.Block) bool {
		switch b := b.(type) {
		case doc.Para:
			return b.Where == doc.Text
		case doc.List:
			return b.Where == doc.Text || len(b.Items) == 0
		case doc.Table:
			return b.Where == doc.Text
		case doc.Fold:
			return b.Where == doc.Text
		}
		return false
	})
}

func newCell(c doc.Cell, names *words.Names, picks bool) cellView {
	v := cellView{Cell: c, Picks: picks}
	if v.Name = nameOrNone(c.Name, names); c.Plain && c.Name != "" {
		*v.Name = wholeName(c.Name)
	}
	if c.Sorts {
		v.Sort = strconv.FormatFloat(quantity.Finite(c.Value), 'g', -1, 64)
	}
	switch kind, name := vocabulary.Kind(c.Term[0]), c.Term[1]; {
	case kind == doc.Detector && isDetector[name]:
		v.Href = "d-" + name
	case name != "" && (kind != vocabulary.Metric || slices.Contains(measures, name)):
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
	whole = max(cmp.Or(whole, length(parts)), 1)
	parts = slices.Clone(parts)
	for i := range parts {
		p := &parts[i]
		p.Title = fmt.Sprintf("%s: %s, %s", p.Title, quantity.Duration(p.Ns), quantity.Part(p.Ns, whole))
	}
	return bar(parts, cmp.Or(scale, whole), height, label)
}

// length is that of all parts.
func length(parts []doc.Part) int64 {
	return quantity.Sum(parts, func(p *doc.Part) int64 { return p.Ns })
}

// newRanges draws values, with their intervals, on one scale from 0.
func newRanges(ranges []doc.Range) template.HTML {
	top := 0.0
	var titles []string
	for _, r := range ranges {
		top = max(top, quantity.Finite(r.Value), r.Hi)
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
		d.rect("f-"+r.Key, max(0, quantity.Finite(r.Value)/top)*.96, .02, y-1, 7, "")
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

package html

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// The drawings in this file are inline SVG, made here, so that they stand without any script. Widths are
// percentages and heights pixels: a drawing follows the width of the page while its text keeps its size.
// Colours are classes (f- to fill, l- to draw lines), so that they follow the theme.

// drawing builds an SVG. Only numbers and escaped text get into it.
type drawing struct{ b strings.Builder }

func newDrawing(class, label string, height int) *drawing {
	d := &drawing{}
	fmt.Fprintf(&d.b, `<svg class="%s" role="img" aria-label="%s" width="100%%" height="%d">`, class, template.HTMLEscapeString(label), height)
	return d
}

func (d *drawing) end() template.HTML {
	d.b.WriteString("</svg>")
	return template.HTML(d.b.String())
}

// pct writes a share as a percentage for an attribute.
func pct(f float64) string {
	return strconv.FormatFloat(math.Round(f*1e5)/1e3, 'f', -1, 64) + "%"
}

func (d *drawing) rect(class string, x, w float64, y, h float64, title string) {
	if w <= 0 || h <= 0 {
		return
	}
	fmt.Fprintf(&d.b, `<rect class="%s" x="%s" width="%s" y="%s" height="%s"`, class, pct(x), pct(w), px(y), px(h))
	if title == "" {
		d.b.WriteString("/>")
		return
	}
	fmt.Fprintf(&d.b, "><title>%s</title></rect>", template.HTMLEscapeString(title))
}

// text puts a label; anchor is start, middle or end.
func (d *drawing) text(x float64, y float64, anchor, s string) {
	fmt.Fprintf(&d.b, `<text x="%s" y="%s" text-anchor="%s">%s</text>`, pct(x), px(y), anchor, template.HTMLEscapeString(s))
}

// plot opens a nested drawing between the margins, whose coordinates are w × h units.
func (d *drawing) plot(y, height float64, w, h int) {
	fmt.Fprintf(&d.b, `<svg x="%s" width="%s" y="%s" height="%s" viewBox="0 0 %d %d" preserveAspectRatio="none">`, pct(leftMargin), pct(plotWidth), px(y), px(height), w, h)
}

func (d *drawing) closePlot() { d.b.WriteString("</svg>") }

func px(f float64) string { return strconv.FormatFloat(math.Round(f*100)/100, 'f', -1, 64) }

// bar is a horizontal stacked bar whose full width stands for whole.
func bar(parts []doc.Part, whole int64, height int, label string) template.HTML {
	d := newDrawing("bar", label, height)
	x := 0.0
	for _, p := range parts {
		if p.Ns <= 0 {
			continue
		}
		w := float64(p.Ns) / float64(max(whole, 1))
		d.rect("f-"+p.Key, x, w, 0, float64(height), p.Title)
		x += w
	}
	return d.end()
}

// whereStrip shows where in the trace a window lies.
func whereStrip(from, to, end int64) template.HTML {
	if end <= 0 {
		return ""
	}
	d := newDrawing("strip", fmt.Sprintf("from %s to %s of %s", quantity.Instant(from), quantity.Instant(to), quantity.Duration(end)), 8)
	d.rect("f-idle", 0, 1, 3, 2, "")
	x := math.Max(0, math.Min(1, quantity.Ratio(from, end)))
	w := math.Max(0.004, math.Min(1-x, quantity.Ratio(to-from, end)))
	d.rect("f-accent", math.Min(x, 0.996), w, 0, 8, "")
	return d.end()
}

// Margins of drawings with axes, as shares of the width.
const (
	leftMargin = 0.07
	plotWidth  = 0.92
)

// nice is the next number above f whose quarters are short to write.
func nice(f float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(f)))
	for _, k := range []float64{1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8} {
		if f <= k*unit {
			return k * unit
		}
	}
	return 10 * unit
}

// levels is the number of shades of a heat map.
const levels = 7

// shade maps v of at most most to 1…levels, on a square-root scale; 0 is none.
func shade(v, most float64) int {
	if v <= 0 || most <= 0 {
		return 0
	}
	return min(levels, 1+int(math.Sqrt(v/most)*float64(levels-1)+0.5))
}

// rebin averages s, of whose bins so many ns are recorded, down to at most n values.
func rebin(s []float32, recorded []float64, n int) []float64 {
	if len(s) == 0 || n <= 0 {
		return nil
	}
	n = min(n, len(s))
	out := make([]float64, n)
	for i := range out {
		a, b := i*len(s)/n, (i+1)*len(s)/n
		out[i] = meanOf(s[a:b], part(recorded, a, b))
	}
	return out
}

// recorded gives how many ns of each bin are recorded; nil: all of them.
func recorded(t *timeline.Result) []float64 {
	if len(t.NotRecorded) == 0 {
		return nil
	}
	out := make([]float64, t.Bins)
	for i := range out {
		from := t.FromNs + int64(i)*t.BinNs
		out[i] = float64(t.RecordedNs(from, min(from+t.BinNs, t.EndNs)))
	}
	return out
}

// part is that of some bins.
func part(recorded []float64, from, to int) []float64 {
	if to > len(recorded) {
		return nil
	}
	return recorded[from:to]
}

// meanOf is the mean of bins of which so many ns are recorded; nil: all of them.
func meanOf(s []float32, recorded []float64) float64 {
	sum, whole := 0.0, 0.0
	for i, v := range s {
		weight := 1.0
		if recorded != nil {
			weight = recorded[i]
		}
		sum += quantity.Finite(float64(v)) * weight
		whole += weight
	}
	return sum / max(1, whole)
}

func timeAxis(d *drawing, y float64, t *timeline.Result) {
	d.quarters(y, func(i int64) string { return quantity.Duration(t.FromNs + (t.EndNs-t.FromNs)/4*i) })
}

// quarters labels an axis at its quarters; narrow windows show its ends and its middle only.
func (d *drawing) quarters(y float64, label func(i int64) string) {
	for i, anchor := range []string{"start", "middle", "middle", "middle", "end"} {
		if i%2 == 1 {
			d.b.WriteString(`<g class="minor">`)
		}
		d.text(leftMargin+plotWidth*float64(i)/4, y, anchor, label(int64(i)))
		if i%2 == 1 {
			d.b.WriteString("</g>")
		}
	}
}

// maxMatrix is the number of rows up to which a matrix is shown P by P; beyond, neighbours are added up.
const maxMatrix = 64

// foldMatrix adds up neighbouring Ps so that at most maxMatrix rows remain, and names the rows.
func foldMatrix(m [][]int64) ([][]int64, []string) {
	k := max(1, (len(m)+maxMatrix-1)/maxMatrix)
	n := (len(m) + k - 1) / k
	out, names := make([][]int64, n), make([]string, n)
	for i := range n {
		out[i] = make([]int64, n)
		names[i] = fmt.Sprintf("P%d", i*k)
		if last := min(i*k+k, len(m)) - 1; last > i*k {
			names[i] += fmt.Sprintf("–%d", last)
		}
	}
	for y, r := range m {
		for x, v := range r {
			if x/k < n {
				out[y/k][x/k] += v
			}
		}
	}
	return out, names
}

// matrixSVG draws thief × victim.
func matrixSVG(matrix [][]int64) template.HTML {
	m, names := foldMatrix(matrix)
	n := len(m)
	var most int64
	for _, r := range m {
		for _, v := range r {
			most = max(most, v)
		}
	}
	if n == 0 || most == 0 {
		return ""
	}
	side := 24.0
	switch {
	case n > 32:
		side = 12
	case n > 16:
		side = 16
	}
	const left, top = 64.0, 46.0
	d := &drawing{}
	w, h := left+side*float64(n)+4, top+side*float64(n)+4
	fmt.Fprintf(&d.b, `<svg class="matrix" role="img" aria-label="Steals by thief and victim" width="%s" height="%s" viewBox="0 0 %[1]s %[2]s">`, px(w), px(h))
	every := max(1, int(math.Ceil(22/side)))
	for i := 0; i < n; i += every {
		at := side*float64(i) + side/2
		fmt.Fprintf(&d.b, `<text x="%s" y="%s" text-anchor="end">%s</text>`, px(left-5), px(top+at+4), names[i])
		if len(matrix) == n {
			fmt.Fprintf(&d.b, `<text x="%s" y="%s" text-anchor="middle">%s</text>`, px(left+at), px(top-7), names[i])
		}
	}
	d.b.WriteString(`<text x="2" y="14">thief ↓ &#160; victim →</text>`)
	if n > 24 { // too many for an element each: one path per shade
		paths := make([]strings.Builder, levels+1)
		for y, r := range m {
			for x, v := range r {
				fmt.Fprintf(&paths[shade(float64(v), float64(most))], "M%s %sh%sv%[3]sh-%[3]sz", px(left+side*float64(x)), px(top+side*float64(y)), px(side-1))
			}
		}
		for l := range paths {
			class := "f-cell0"
			if l > 0 {
				class = fmt.Sprintf("f-heat%d", l)
			}
			fmt.Fprintf(&d.b, `<path class="%s" d="%s"/>`, class, paths[l].String())
		}
		return d.end()
	}
	for y, r := range m {
		for x, v := range r {
			at := fmt.Sprintf(`x="%s" y="%s" width="%s" height="%[3]s"`, px(left+side*float64(x)), px(top+side*float64(y)), px(side-1))
			if v == 0 {
				fmt.Fprintf(&d.b, `<rect class="f-cell0" %s/>`, at)
				continue
			}
			fmt.Fprintf(&d.b, `<rect class="f-heat%d" %s><title>%s stole from %s: %s</title></rect>`, shade(float64(v), float64(most)), at, names[y], names[x], quantity.Count(v))
		}
	}
	return d.end()
}

// line is a curve of a chart over time.
type line struct {
	Key    string
	Title  string
	Values []float64
}

// timeLines are the curves that the chart over time shows.
func timeLines(t timeline.Result, n int) []line {
	local := make([]float32, 0, t.Bins)
	for _, l := range t.Lanes {
		if len(local) < len(l.Queue.Mean) {
			local = append(local, make([]float32, len(l.Queue.Mean)-len(local))...)
		}
		for i, v := range l.Queue.Mean {
			local[i] += v
		}
	}
	ns := recorded(&t)
	out := []line{
		{"line1", "runnable goroutines", rebin(t.Runnable.Mean, ns, n)},
		{"line2", "in the global queue", rebin(t.Global.Mean, ns, n)},
		{"line3", "in local queues", rebin(local, ns, n)},
		{"line4", "idle Ps", rebin(t.IdleP.Mean, ns, n)},
		{"line5", "idle Ps while work was queued", rebin(t.Missed, ns, n)},
	}
	return slices.DeleteFunc(out, func(l line) bool { return len(l.Values) == 0 })
}

// linesSVG draws curves over time, and where nothing is recorded.
func linesSVG(ls []line, s scale, t *timeline.Result) template.HTML {
	if s.top == 0 {
		return ""
	}
	const top, height = 8.0, 170.0
	d := newDrawing("chart", "Runnable goroutines, queues and idle Ps over time", 206)
	for _, at := range s.ticks() {
		y := top + height*(1-s.place(at))
		d.rect("f-grid", leftMargin, plotWidth, y, 1, "")
		d.text(leftMargin-0.008, y+4, "end", quantity.Number(at))
	}
	whole := t.EndNs - t.FromNs
	for _, g := range t.NotRecorded {
		x, to := quantity.Ratio(g.From-t.FromNs, whole), quantity.Ratio(g.To-t.FromNs, whole)
		d.rect("f-gap", leftMargin+plotWidth*x, plotWidth*(to-x), top, height, fmt.Sprintf("not recorded: %s from %s on", quantity.Duration(g.To-g.From), quantity.Instant(g.From)))
	}
	d.plot(top, height, 1000, 1000)
	for _, l := range ls {
		open := false
		for i, v := range l.Values {
			at := (float64(i) + 0.5) / float64(len(l.Values))
			ns := t.FromNs + int64(at*float64(whole))
			switch {
			case slices.ContainsFunc(t.NotRecorded, func(g timeline.Span) bool { return g.From <= ns && ns < g.To }):
				if open {
					d.b.WriteString(`"/>`)
				}
				open = false
				continue
			case open:
				d.b.WriteByte(' ')
			default:
				fmt.Fprintf(&d.b, `<polyline class="l-%s" points="`, l.Key)
				open = true
			}
			fmt.Fprintf(&d.b, "%d,%d", int(at*1000), int(1000-s.place(v)*1000))
		}
		if open {
			d.b.WriteString(`"/>`)
		}
	}
	d.closePlot()
	timeAxis(d, top+height+18, t)
	return d.end()
}

// lanesSVG draws the timeline's overview: what each P did, stacked in columns.
func lanesSVG(t timeline.Result) template.HTML {
	if len(t.Lanes) == 0 || t.Bins == 0 {
		return ""
	}
	const cols = 200
	lanes := t.Lanes[:min(len(t.Lanes), 64)]
	h := 22.0
	switch {
	case len(lanes) > 32:
		h = 10
	case len(lanes) > 12:
		h = 15
	}
	d := newDrawing("chart", "What each P did over time", int(h)*len(lanes)+24)
	d.plot(0, h*float64(len(lanes)), cols*4, len(lanes)*20)
	fmt.Fprintf(&d.b, `<rect class="f-idle" width="%d" height="%d"/>`, cols*4, len(lanes)*20)
	keys := []string{"user", "system", "gc", "syscall", "sched", "stopped", "gap"}
	paths := make([]strings.Builder, len(keys))
	for y, l := range lanes {
		series := [][]uint8{l.User, l.System, l.GC, l.Syscall, l.Sched, l.Stopped, l.NotRecorded}
		n := min(cols, max(len(l.User), 1))
		w := float64(cols*4) / float64(n)
		for x := range n {
			base := 0.0
			for k, s := range series {
				a, b := x*len(s)/n, (x+1)*len(s)/n
				if b <= a {
					continue
				}
				sum := 0
				for _, v := range s[a:b] {
					sum += int(v)
				}
				f := math.Min(float64(sum)/float64(b-a)/255*18, 18-base)
				if f < 0.3 {
					continue
				}
				fmt.Fprintf(&paths[k], "M%s %sh%sv-%sh-%sz", px1(float64(x)*w), px1(float64(y*20)+18-base), px1(w), px1(f), px1(w))
				base += f
			}
		}
	}
	for k := range paths {
		if paths[k].Len() > 0 {
			fmt.Fprintf(&d.b, `<path class="f-%s" d="%s"/>`, keys[k], paths[k].String())
		}
	}
	fmt.Fprintf(&d.b, `<path class="f-bg" d="`)
	for y := range lanes {
		fmt.Fprintf(&d.b, "M0 %dh%dv2h-%dz", y*20+18, cols*4, cols*4)
	}
	d.b.WriteString(`"/>`)
	d.closePlot()
	every := max(1, int(math.Ceil(14/h)))
	for i := 0; i < len(lanes); i += every {
		d.text(leftMargin-0.008, h*float64(i)+h/2+4, "end", fmt.Sprintf("P%d", lanes[i].P))
	}
	timeAxis(d, h*float64(len(lanes))+16, &t)
	return d.end()
}

func px1(f float64) string { return strconv.FormatFloat(math.Round(f*10)/10, 'f', -1, 64) }

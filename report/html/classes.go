package html

import (
	"fmt"
	"html/template"
	"math"
	"sort"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/fairness"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

type classesView struct {
	Lead   string
	Legend []legendItem
	Rows   []classRow
	More   int
}

type classRow struct {
	ID      int32
	Name    Name
	Creator Name
	System  bool
	Cells   []cell
	Bar     template.HTML
	Ants    []aheadRow
	Held    []heldRow
	Worst   []place
	Tasks   string // types of user tasks
	Regions string
	Stacks  string   // link to where it had stopped before it waited
	Text    string   // what the filter looks at
	Woken   []string // by whom, and what they were blocked on before
}

// place is a link into the timeline.
type place struct{ Text, Href string }

type fairView struct {
	Lead     string
	Facts    []row
	Classes  []row
	Pressure []row
	Windows  []row
	Deciles  []row
	Age      template.HTML
	AgeLead  string
	More     int
}

// className is what a class is called; the trace does not always show its
// start function.
func className(s string, names *words.Names) Name {
	if s == "" {
		return Name{Short: words.Unknown}
	}
	return name(s, names)
}

func creatorName(s string, names *words.Names) Name {
	if s == "" {
		return Name{}
	}
	return name(s, names)
}

func newClasses(r *analyze.Result, names *words.Names) *classesView {
	v := &classesView{}
	fair := map[int32]fairness.Class{}
	for _, c := range r.Fairness.Classes {
		fair[c.ID] = c
	}
	cs := append([]waits.Class(nil), r.Waits.Classes...)
	sort.SliceStable(cs, func(i, j int) bool { return cs[i].Waits.TotalNs > cs[j].Waits.TotalNs })
	for _, c := range waits.Causes() {
		v.Legend = append(v.Legend, legendItem{causeKey(c), words.Cause(c)})
	}
	v.Lead = fmt.Sprintf("%s of goroutines: those with the same start function and creator. The bar shows why they waited.", quantity.Plural(int64(len(cs)), "class", "classes"))
	for i, c := range cs {
		if i == maxClasses {
			v.More = len(cs) - i
			break
		}
		o := classRow{ID: c.ID, Name: className(c.Name, names), Creator: creatorName(c.Creator, names), System: c.System, Stacks: stacksHref(r, c.ID)}
		w := c.Waits
		causes := classCauses(c)
		main := cell{Text: "–"}
		if by := words.BySize(causes); len(by) > 0 {
			main = cell{Text: words.Cause(by[0].Cause), Key: causeKey(by[0].Cause), More: quantity.Part(by[0].Ns, w.TotalNs)}
		}
		o.Bar = bar(causeSegments(causes, w.TotalNs), max(sumCauses(causes), 1), 10, "waiting by cause")
		o.Tasks, o.Regions = types(c.Tasks), types(c.Regions)
		o.Cells = []cell{
			intCell(quantity.Count(c.Goroutines), c.Goroutines), intCell(quantity.Count(c.Starts), c.Starts), intCell(quantity.Duration(c.RunningNs), c.RunningNs),
			intCell(quantity.Duration(w.TotalNs), w.TotalNs), intCell(quantity.Duration(w.P50), w.P50), intCell(quantity.Duration(w.P99), w.P99), intCell(quantity.Duration(w.MaxNs), w.MaxNs), main,
		}
		if f, ok := fair[c.ID]; ok && f.N > 1 {
			o.Cells = append(o.Cells, floatCell(quantity.Index(f.Jain), f.Jain))
		} else {
			o.Cells = append(o.Cells, cell{Text: "–", Sort: "2"})
		}
		for _, s := range []string{names.WokenBy(&c, maxWakers), words.BlockedBefore(&c, maxWakers)} {
			if s != "" {
				o.Woken = append(o.Woken, words.Sentence(s)+".")
			}
		}
		for j, a := range c.Antagonists {
			if j == maxAntagonists {
				break
			}
			o.Ants = append(o.Ants, aheadRow{Name: className(a.Name, names), Ns: quantity.Duration(a.Ns), Runs: quantity.Part(a.Ns, w.SeenNs())})
		}
		for j, h := range c.Held {
			if j == maxAntagonists {
				break
			}
			o.Held = append(o.Held, heldWords(h, names))
		}
		for j, s := range c.Worst {
			if j == 3 {
				break
			}
			o.Worst = append(o.Worst, place{fmt.Sprintf("%s at %s", quantity.Duration(s.WaitNs), quantity.Instant(s.FromNs)), waitWindow(&s)})
		}
		o.Text = strings.ToLower(words.Cut(words.Visible(strings.Join([]string{c.Name, c.Creator, main.Text, o.Tasks, o.Regions}, " ")), 1500))
		v.Rows = append(v.Rows, o)
	}
	return v
}

// types lists types of tasks or regions.
func types(all []string) string {
	const shown = 8
	var out []string
	for i, s := range all {
		if i == shown {
			out = append(out, fmt.Sprintf("%d more", len(all)-i))
			break
		}
		out = append(out, words.Cut(words.Visible(s), 60))
	}
	return strings.Join(out, ", ")
}

func newFair(r *analyze.Result, names *words.Names) *fairView {
	f, p := r.Fairness, r.Pressure
	v := &fairView{}
	measured := f.Jain > 0
	word := "evenly"
	switch {
	case f.Jain < 0.7:
		word = "very unevenly"
	case f.Jain < 0.9:
		word = "unevenly"
	}
	v.Lead = fmt.Sprintf("Measured against perfectly even sharing, running time was given out %s: Jain's index is %s, and at worst one goroutine was owed %s.",
		word, quantity.Index(f.Jain), quantity.Duration(f.MaxLagNs))
	if !measured {
		v.Lead = "Fairness was not measured: there was too little to share, or the trace does not show enough."
	}
	slowdown, bypass, span := measure("fairness.slowdown", quantity.Times(f.Slowdown.Mean)), measure("fairness.bypass", quantity.Count(f.Bypass.P99)), measure("span.parallelism", quantity.Number(r.Span.Parallelism))
	slowdown.Label += ", mean"
	bypass.Label += ", p99"
	bypass.Help += " The most: " + quantity.Count(f.Bypass.Max) + "."
	span.Help += " The critical path: " + quantity.Duration(r.Span.SpanNs) + "."
	v.Facts = []row{
		measure("fairness.jain", quantity.Index(f.Jain)),
		measure("fairness.max_lag_ns", quantity.Duration(f.MaxLagNs)),
		measure("fairness.p99_lag_ns", quantity.Duration(f.P99LagNs)),
		slowdown,
		{Label: "slowdown, p50", Cells: []cell{{Text: quantity.Times(f.Slowdown.P50)}}},
		{Label: "slowdown, p99", Cells: []cell{{Text: quantity.Times(f.Slowdown.P99)}}},
		{Label: "slowdown, largest", Cells: []cell{{Text: quantity.Times(f.Slowdown.Max)}}},
		bypass,
		measure("fairness.bypass.inversions", quantity.Percent(f.Bypass.Inversions)),
		span,
		measure("span.efficiency", quantity.Percent(r.Span.Efficiency)),
		measure("little_error", quantity.Percent(math.Abs(finite(f.LittleError)))),
	}
	v.Pressure = []row{
		measure("pressure.some", quantity.Percent(p.Some)),
		measure("pressure.full", quantity.Percent(p.Full)),
		measure("pressure.unclaimed_idle", quantity.Percent(p.UnclaimedIdle)),
	}
	for i, key := range []string{"behind", "stopped", "missed"} {
		v.Pressure[i].Key = key
	}
	for _, w := range p.Windows {
		v.Windows = append(v.Windows, row{Label: quantity.Duration(w.LengthNs), Cells: []cell{
			intCell(quantity.Count(w.N), w.N), {Text: quantity.Percent(w.Some.P50)}, {Text: quantity.Percent(w.Some.P99)}, {Text: quantity.Percent(w.Some.Max), More: "at " + quantity.Instant(w.Some.AtNs)},
			{Text: quantity.Percent(w.Full.P99)}, {Text: quantity.Percent(w.Full.Max), More: "at " + quantity.Instant(w.Full.AtNs)},
		}})
	}
	for _, d := range f.Slowdown.ByService {
		v.Deciles = append(v.Deciles, row{Label: quantity.Duration(d.FromNs) + " to " + quantity.Duration(d.ToNs), Cells: []cell{
			intCell(quantity.Count(d.N), d.N), floatCell(quantity.Number(d.Mean)+"×", d.Mean), floatCell(quantity.Number(d.Max)+"×", d.Max),
		}})
	}
	if a := p.Age; a.MaxNs > 0 && r.EndNs() > 0 && len(a.Bins) > 1 {
		values := make([]float64, max(len(a.Bins), int(min(r.EndNs()/max(1, a.BinNs), 512))))
		for i, ns := range a.Bins {
			values[i] = float64(ns)
		}
		v.AgeLead = fmt.Sprintf("The most was %s, at %s.", quantity.Duration(a.MaxNs), quantity.Instant(a.AtNs))
		ls, age := []line{{"line1", "age", values}}, func(ns float64) string { return quantity.Duration(int64(ns)) }
		s := scaleOf(ls)
		if note := s.note(age); note != "" {
			v.AgeLead += " " + note
		}
		v.Age = linesSVG(ls, s, axis{0, r.EndNs()}, r.Timeline.NotRecorded, "How long the goroutine had waited that waited longest, over time", age)
	}
	for i, c := range f.Classes {
		if i == 40 {
			v.More = len(f.Classes) - i
			break
		}
		n := className(c.Name, names)
		v.Classes = append(v.Classes, row{Cells: []cell{{Name: &n}, intCell(quantity.Count(c.N), c.N),
			floatCell(quantity.Index(c.Jain), c.Jain), floatCell(quantity.Index(c.Gini), c.Gini),
			floatCell(quantity.Index(c.MinMax), c.MinMax), intCell(quantity.Duration(c.MaxLagNs), c.MaxLagNs)}})
	}
	return v
}

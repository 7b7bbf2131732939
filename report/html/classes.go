package html

import (
	"fmt"
	"html/template"
	"sort"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/fairness"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report"
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
	Group   string
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
		v.Legend = append(v.Legend, legendItem{report.CauseKey(c), words.Cause(c)})
	}
	v.Lead = fmt.Sprintf("%s of goroutines: those with the same start function and creator. The bar shows why they waited.", quantity.Plural(int64(len(cs)), "class", "classes"))
	for i, c := range cs {
		if i == maxClasses {
			v.More = len(cs) - i
			break
		}
		o := classRow{ID: c.ID, Group: words.Visible(c.Name), Name: className(c.Name, names), Creator: creatorName(c.Creator, names), System: c.System, Stacks: stacksHref(r, c.ID)}
		w := c.Waits
		causes := classCauses(c)
		main := cell{Text: "–"}
		if by := words.BySize(causes); len(by) > 0 {
			main = cell{Text: words.Cause(by[0].Cause), Key: report.CauseKey(by[0].Cause), More: quantity.Part(by[0].Ns, w.TotalNs)}
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

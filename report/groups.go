package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/fairness"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// Bounds on what is shown of goroutine groups.
const (
	textClasses = 15
	pageClasses = 400
	textWakers  = 8 // groups of which text names them
	mostWakers  = 3 // of a group
	mostHeld    = 6 // of what kept the Ps
	mostWorst   = 3 // waits of a group
	mostTypes   = 8 // of tasks, and of regions
)

// GroupsSection returns the section about how long the goroutines of each class waited, why, and
// what ran instead; nil without classes.
func GroupsSection(r *analyze.Result, names *words.Names) *doc.Section {
	cs := slices.Clone(r.Waits.Classes)
	if len(cs) == 0 {
		return nil
	}
	slices.SortStableFunc(cs, func(a, b waits.Class) int { return cmp.Compare(b.Waits.TotalNs, a.Waits.TotalNs) })
	fair := map[int32]fairness.Class{}
	for _, c := range r.Fairness.Classes {
		fair[c.ID] = c
	}
	t := doc.Table{ID: "class-table", Filter: "function, creator, cause, task, region", Most: textClasses, More: max(0, len(cs)-pageClasses), One: "more group", Many: "more groups",
		Columns: []doc.Column{{Title: "start function", Left: true, Cut: 26}}}
	for _, name := range []string{"classes.goroutines", "classes.starts", "classes.running_ns", "waits.total_ns", "waits.p50_ns", "waits.p99_ns", "waits.max_ns", "", "fairness.jain"} {
		c := doc.Column{Title: "chief cause", Left: true}
		if m, ok := vocabulary.Lookup(vocabulary.Metric, name); ok {
			c = doc.Column{Title: m.Column, Help: m.Short, Most: name == "waits.total_ns"}
		}
		if name == "classes.starts" || name == "fairness.jain" {
			c.Where = doc.Page
		}
		t.Columns = append(t.Columns, c)
	}
	var legend doc.Legend
	for _, c := range waits.Causes() {
		legend = append(legend, doc.Part{Key: CauseKey(c), Title: words.Cause(c)})
	}
	for i := range cs[:min(len(cs), pageClasses)] {
		c := &cs[i]
		jain, w := doc.Cell{Text: "-", Value: 2, Sorts: true}, &c.Waits
		chief := chiefCause(w.Causes, w.TotalNs)
		head := doc.Cell{Name: cmp.Or(c.Name, words.Unknown), Note: groupNote(names, c), Fold: groupFold(r, names, c), Bars: causeBar(w.Causes)}
		if f, ok := fair[c.ID]; ok && f.Judged > 1 {
			jain = doc.Number(quantity.Index(f.Jain), f.Jain)
		}
		t.Rows = append(t.Rows, doc.Row{Dim: c.System, Selects: fmt.Sprintf("g%d", c.ID), Group: c.Name,
			Find:  strings.ToLower(words.Cut(words.Visible(strings.Join([]string{c.Name, c.Creator, chief.Text, head.Note}, " ")), 1500)),
			Cells: []doc.Cell{head, doc.Count(c.Goroutines), doc.Count(c.Starts), doc.Duration(c.RunningNs), doc.Duration(w.TotalNs), doc.Duration(w.P50), doc.Duration(w.P99), doc.Duration(w.MaxNs), chief, jain}})
	}
	return &doc.Section{ID: "classes", Title: "Goroutine groups", Blocks: []doc.Block{
		doc.Para{Where: doc.Page, Text: quantity.Plural(int64(len(cs)), "group", "groups") + " of goroutines with the same start function and creator. The bar shows why they waited."},
		legend, t, doc.List{Title: "Who made them runnable", Where: doc.Text, Items: wakers(r, names)},
	}}
}

// causeParts are the causes of a wait, in the order in which they are always shown.
func causeParts(cs []waits.CauseTime) (out []doc.Part) {
	for _, c := range waits.Causes() {
		if ns := waits.CauseNs(cs, c); ns > 0 {
			out = append(out, doc.Part{Key: CauseKey(c), Title: words.Cause(c), Ns: ns})
		}
	}
	return out
}

// chiefCause is the cause of most of the waiting; a dash if there is none.
func chiefCause(cs []waits.CauseTime, whole int64) doc.Cell {
	by := words.BySize(cs)
	if len(by) == 0 {
		return doc.Cell{Text: "-"}
	}
	return doc.Cell{Text: words.Cause(by[0].Cause), Key: CauseKey(by[0].Cause), Note: quantity.Part(by[0].Ns, whole)}
}

// causeBar is a bar for a cell; none if there was no waiting.
func causeBar(cs []waits.CauseTime) [][]doc.Part {
	if parts := causeParts(cs); len(parts) > 0 {
		return [][]doc.Part{parts}
	}
	return nil
}

// groupNote reports who created the goroutines of a group, and their tasks and regions.
func groupNote(names *words.Names, c *waits.Class) string {
	var parts []string
	if c.System {
		parts = append(parts, "of the runtime")
	}
	if c.Creator != "" {
		parts = append(parts, "created by "+names.Class(c.Creator))
	}
	for _, x := range []struct {
		what string
		all  []string
	}{{"tasks: ", c.Tasks}, {"regions: ", c.Regions}} {
		if list := words.First(x.all, mostTypes, 60, "%d more"); len(list) > 0 {
			parts = append(parts, x.what+strings.Join(list, ", "))
		}
	}
	return strings.Join(parts, "; ")
}

// groupFold is what a group shows when it is opened.
func groupFold(r *analyze.Result, names *words.Names, c *waits.Class) *doc.Fold {
	f := &doc.Fold{Title: "More"}
	if len(c.Antagonists) > 0 {
		f.Title = "What ran instead"
		var items []string
		for _, a := range c.Antagonists[:min(len(c.Antagonists), mostHeld)] {
			items = append(items, fmt.Sprintf("%s: %s (%s)", names.Class(cmp.Or(a.Name, words.Unknown)), quantity.Duration(a.Ns), quantity.Part(a.Ns, c.Waits.SeenNs())))
		}
		f.Blocks = append(f.Blocks, doc.List{Items: items})
	}
	for i := range c.Worst[:min(len(c.Worst), mostWorst)] {
		w := &c.Worst[i]
		f.Blocks = append(f.Blocks, doc.Para{Text: fmt.Sprintf("G%d waited %s at %s", w.G, quantity.Duration(w.WaitNs), quantity.Instant(w.FromNs)), Href: WaitHref(w)})
	}
	for _, s := range []string{wokenBy(r, names, c), words.BlockedBefore(c, mostHeld)} {
		if s != "" {
			f.Blocks = append(f.Blocks, doc.Para{Text: words.Sentence(s) + "."})
		}
	}
	f.Blocks = append(f.Blocks, held(names, c.Held)...)
	if href := stacksHref(r, c.ID); href != "" {
		f.Blocks = append(f.Blocks, doc.Para{Text: "Where they had stopped before they waited", Href: href})
	}
	if c.Name != "" && names.Function(c.Name) != c.Name {
		f.Blocks = append(f.Blocks, doc.Para{Text: words.Cut(words.Visible(c.Name), 600), Small: true})
	}
	if len(f.Blocks) == 0 {
		return nil
	}
	return f
}

// held reports what else kept the Ps.
func held(names *words.Names, all []waits.PHold) []doc.Block {
	var items []string
	for _, h := range all[:min(len(all), mostHeld)] {
		items = append(items, quantity.Duration(h.Ns)+": "+names.Held(h))
	}
	if len(items) == 0 {
		return nil
	}
	return []doc.Block{doc.List{Title: "What else kept the Ps", Items: items}}
}

// wakers reports who made the goroutines runnable that waited most, and what they were blocked on before.
func wakers(r *analyze.Result, names *words.Names) (items []string) {
	for i := range r.Waits.Classes {
		c := &r.Waits.Classes[i]
		by := wokenBy(r, names, c)
		if c.System || by == "" || len(items) == textWakers {
			continue
		}
		if before := words.BlockedBefore(c, 2); before != "" {
			by += "; " + before
		}
		items = append(items, names.Shortened(cmp.Or(c.Name, words.Unknown), 120)+": "+by+".")
	}
	return items
}

// wokenBy reports who made the goroutines of a class runnable, and where most of their waiting
// began so; "" if nobody did.
func wokenBy(r *analyze.Result, names *words.Names, c *waits.Class) string {
	by := names.WokenBy(c, mostWakers)
	for i := range r.Stacks.Woken {
		if w := &r.Stacks.Woken[i]; by != "" && w.Class == c.ID && w.WaitNs > 0 {
			return by + ", most at " + names.Where(r.Stacks.Of(w.Stack))
		}
	}
	return by
}

// WaitHref returns the link to a wait in the timeline; "" if it took no time.
func WaitHref(s *waits.WaitDetail) string {
	if s.ToNs <= s.FromNs {
		return ""
	}
	return fmt.Sprintf("#frame=%d-%d-%d", s.FromNs, s.ToNs, s.G)
}

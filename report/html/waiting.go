package html

import (
	"fmt"
	"html/template"
	"sort"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

type waitsView struct {
	Lead       string
	Bars       []causeBar
	Legend     []legendItem
	Causes     []row
	BehindLong string
	Quantiles  []row
	Why        string
	Tail       string
	Open       string
	DistSVG    template.HTML
	DistN      string
	Longest    []waitView // in full
	Folded     []waitView // folded
	MoreWaits  int
	ClassBars  []causeBar
	ClassN     string
	OverTime   template.HTML
	OverTimeN  string
	Ants       *antagonists
}

type causeBar struct {
	Label, Note, Total string
	Name               *Name // instead of Label
	Bar                template.HTML
}

type waitView struct {
	ID     string
	Head   string
	Name   Name
	Text   []string
	Steps  []step
	Ahead  []aheadRow
	Held   []heldRow
	Runs   []runRow
	Bar    template.HTML
	Legend []legendItem
	Href   string
	Basis  string
	// MoreRuns is how many run intervals are not in Runs.
	MoreRuns int
}

type step struct{ At, Text string }

type aheadRow struct {
	Name Name
	Ns   string
	Runs string
}

func causeSegments(cs []waits.CauseTime, total int64) []segment {
	var out []segment
	for _, c := range ordered(cs) {
		out = append(out, segment{causeKey(c.Cause), c.Ns, fmt.Sprintf("%s: %s, %s", words.Cause(c.Cause), quantity.Duration(c.Ns), quantity.Part(c.Ns, total))})
	}
	return out
}

// ordered returns the causes in the order in which they are always shown.
func ordered(cs []waits.CauseTime) []waits.CauseTime {
	rank := map[waits.Cause]int{}
	for i, c := range waits.Causes() {
		rank[c] = i
	}
	out := append([]waits.CauseTime(nil), cs...)
	sort.SliceStable(out, func(i, j int) bool {
		a, aok := rank[out[i].Cause]
		b, bok := rank[out[j].Cause]
		if aok != bok {
			return aok
		}
		return a < b
	})
	return out
}

func sumCauses(cs []waits.CauseTime) (n int64) {
	for _, c := range cs {
		n += c.Ns
	}
	return n
}

func newWaits(r *analyze.Result, names *words.Names) *waitsView {
	v := &waitsView{Lead: waitsLead(r)}
	v.causes(r)
	v.quantiles(r)
	v.distribution(r)
	v.longest(r, names)
	v.classBars(r.Waits.Classes, names)
	u, all := r.Waits.User, r.Waits.All
	if all.OpenCount > 0 {
		v.Open = fmt.Sprintf("%s still open when the trace ended (%s so far); they are not counted above.", quantity.Plural(all.OpenCount, "wait was", "waits were"), quantity.Duration(all.OpenNs))
	}
	v.OverTime = stackSVG(causeLines(r), r.Waits.OverTime.BinNs, axis{r.BeginNs(), r.EndNs()}, r.Timeline.NotRecorded, "How many goroutines waited for what, over time")
	v.OverTimeN = fmt.Sprintf("n = %s, in steps of %s", quantity.Plural(u.Count, "wait", "waits"), quantity.Duration(r.Waits.OverTime.BinNs))
	v.Ants = newAntagonists(r.Waits.Classes, names)
	return v
}

// waitsLead sums up how long the program waited, and for what.
func waitsLead(r *analyze.Result) string {
	u := r.Waits.User
	if u.Count == 0 {
		return "No goroutine of the program had to wait for a processor while the trace was recorded."
	}
	lead := fmt.Sprintf("Goroutines of the program became ready to run %s and then waited %s in all: %s.",
		quantity.Plural(u.Count, "time", "times"), quantity.Duration(u.TotalNs), ofTime(u.TotalNs, r.RecordedNs()))
	if by := words.BySize(u.Causes); len(by) > 0 {
		top := by[0]
		lead += fmt.Sprintf(" The largest part, %s, was “%s”. %s", quantity.Part(top.Ns, u.TotalNs), words.Cause(top.Cause), words.Meaning(vocabulary.Cause, string(top.Cause)))
	}
	return lead
}

// causes fills in the bars and the table of causes.
func (v *waitsView) causes(r *analyze.Result) {
	u, self, sys := r.Waits.User, r.Waits.Self, r.Waits.System
	most := max(u.TotalNs, self.TotalNs, sys.TotalNs)
	for _, b := range []struct {
		label, note string
		s           waits.Summary
	}{
		{"Program", "goroutines of the program", u},
		{"Self-inflicted", "after runtime.Gosched: they asked for it", self},
		{"Runtime and tracer", "their own goroutines", sys},
	} {
		v.Bars = append(v.Bars, causeBar{
			Label: b.label, Note: fmt.Sprintf("%s · %s", b.note, quantity.Plural(b.s.Count, "wait", "waits")), Total: quantity.Duration(b.s.TotalNs),
			Bar: bar(causeSegments(b.s.Causes, b.s.TotalNs), max(most, 1), 26, b.label+": waiting by cause"),
		})
	}
	for _, c := range waits.Causes() {
		un, sn, yn := waits.CauseNs(u.Causes, c), waits.CauseNs(self.Causes, c), waits.CauseNs(sys.Causes, c)
		v.Legend = append(v.Legend, legendItem{causeKey(c), words.Cause(c)})
		v.Causes = append(v.Causes, row{Key: causeKey(c), Label: words.Cause(c), Link: termID(vocabulary.Cause, string(c)), Help: words.Meaning(vocabulary.Cause, string(c)), Cells: []cell{
			intCell(quantity.Duration(un), un), intCell(quantity.Part(un, u.TotalNs), un), intCell(quantity.Duration(sn), sn), intCell(quantity.Duration(yn), yn)}})
	}
	if u.BehindLongNs > 0 {
		v.BehindLong = fmt.Sprintf("Of “queueing” and “overtaken”, %s (%s of the program's waiting) was spent behind a single run longer than a time slice.",
			quantity.Duration(u.BehindLongNs), quantity.Part(u.BehindLongNs, u.SeenNs()))
	}
}

// quantiles fills in the table of percentiles, and what it says.
func (v *waitsView) quantiles(r *analyze.Result) {
	u := r.Waits.User
	q := func(label, help string, f func(waits.Summary) int64) {
		row := row{Label: label, Help: help, Link: termID(vocabulary.Word, "percentile")}
		for _, s := range []waits.Summary{u, r.Waits.Self, r.Waits.System, r.Waits.All} {
			if s.Count == 0 {
				row.Cells = append(row.Cells, cell{Text: "–"})
				continue
			}
			row.Cells = append(row.Cells, intCell(quantity.Duration(f(s)), f(s)))
		}
		v.Quantiles = append(v.Quantiles, row)
	}
	q("p50", "half of the waits are shorter", func(s waits.Summary) int64 { return s.P50 })
	q("p90", "", func(s waits.Summary) int64 { return s.P90 })
	q("p99", "", func(s waits.Summary) int64 { return s.P99 })
	q("p99.9", "", func(s waits.Summary) int64 { return s.P999 })
	q("longest", "", func(s waits.Summary) int64 { return s.MaxNs })
	q("p50 by time", "half of the waiting is in longer waits", func(s waits.Summary) int64 { return s.TimeWeighted.P50 })
	q("p90 by time", "", func(s waits.Summary) int64 { return s.TimeWeighted.P90 })
	q("p99 by time", "", func(s waits.Summary) int64 { return s.TimeWeighted.P99 })
	if u.Count > 0 {
		v.Why = fmt.Sprintf("Counted wait by wait, half are under %s: short waits are many. Weighted by time, half of the waiting happens in waits over %s: long waits are where the time goes. A goroutine that is waiting right now is most likely in one of those.", quantity.Duration(u.P50), quantity.Duration(u.TimeWeighted.P50))
		if u.TimeWeighted.P50 < 3*u.P50 {
			v.Why = fmt.Sprintf("Counted wait by wait, half are under %s; weighted by time, half of the waiting happens in waits over %s. The two are close: no few long waits dominate.", quantity.Duration(u.P50), quantity.Duration(u.TimeWeighted.P50))
		}
	}
	if m := u.TailMass; len(m) > 0 {
		v.Tail = fmt.Sprintf("%s of the waiting time is in waits longer than 1 ms, %s in waits longer than 10 ms.", quantity.Percent(m["1ms"]), quantity.Percent(m["10ms"]))
	}
}

// distribution draws how long the waits are: those of the program, or, if it has
// none, all.
func (v *waitsView) distribution(r *analyze.Result) {
	h := r.Waits.User.Histogram
	if len(h) == 0 {
		h = r.Waits.All.Histogram
	}
	v.DistSVG = histogramSVG(h)
	n := int64(0)
	for _, b := range h {
		n += b.Count
	}
	v.DistN = quantity.Plural(n, "wait", "waits")
}

// longest fills in the longest waits.
func (v *waitsView) longest(r *analyze.Result, names *words.Names) {
	longest := r.Waits.LongestWaits()
	for i, s := range longest {
		if i == maxLongWaits {
			v.MoreWaits = len(longest) - i
			break
		}
		o := newWaitView(s.WaitDetail, names)
		o.ID = fmt.Sprintf("story-%d", i+1)
		if s.Like > 0 {
			o.Text = append(o.Text, quantity.Plural(int64(s.Like), "more long wait", "more long waits")+" of this class at the same time had much the same story.")
		}
		if i < openLongWaits {
			v.Longest = append(v.Longest, o)
		} else {
			v.Folded = append(v.Folded, o)
		}
	}
}

// classBars fills in the causes of the classes that waited most.
func (v *waitsView) classBars(cs []waits.Class, names *words.Names) {
	charted := chartedClasses(cs)
	for _, c := range charted {
		n := className(c.Name, names)
		v.ClassBars = append(v.ClassBars, causeBar{
			Name: &n, Note: quantity.Plural(c.Waits.Count, "wait", "waits"), Total: quantity.Duration(c.Waits.TotalNs),
			Bar: bar(causeSegments(classCauses(c), c.Waits.TotalNs), max(charted[0].Waits.TotalNs, 1), 16, "waiting by cause"),
		})
	}
	v.ClassN = quantity.Plural(int64(len(charted)), "class", "classes")
	if len(cs) > len(charted) {
		v.ClassN += " of " + quantity.Count(int64(len(cs)))
	}
}

// chartedClasses are those that the chart of causes shows.
func chartedClasses(cs []waits.Class) []waits.Class {
	var out []waits.Class
	for _, c := range cs {
		if c.Waits.TotalNs > 0 {
			out = append(out, c)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Waits.TotalNs > out[j].Waits.TotalNs })
	return out[:min(len(out), chartClasses)]
}

// classCauses are the causes of a class's waits.
func classCauses(c waits.Class) []waits.CauseTime {
	if len(c.Causes) > 0 {
		return c.Causes
	}
	return c.Waits.Causes
}

package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// Bounds on what is shown of waits in run queues.
const (
	periods    = 8 // of the trace
	causesOver = 4 // whose shares are shown period by period
	textPairs  = 8
	pagePairs  = 20
)

// causeKeys are the colours of the causes; they are those of the states of a P where the two
// speak of the same thing.
var causeKeys = map[waits.Cause]string{
	waits.CauseSTW: "stopped", waits.CauseUnavailable: "syscall", waits.CauseGC: "gc", waits.CausePWakingUp: "waking",
	waits.CauseIdlePAvailable: "missed", waits.CauseQueueing: "behind", waits.CauseOvertaken: "overtaken", waits.CauseTracer: "tracer",
	waits.CauseOverhead: "sched",
}

// CauseKey returns the key by which the page colours a cause of waiting.
func CauseKey(c waits.Cause) string { return cmp.Or(causeKeys[c], "sched") }

// WaitingSection returns the section about the causes for which runnable goroutines waited.
func WaitingSection(r *analyze.Result) *doc.Section {
	s := &doc.Section{ID: "waiting", Title: "Waiting in run queues"}
	w := &r.Waits
	if w.All.Count == 0 {
		s.Blocks = []doc.Block{doc.Para{Text: "No goroutine was runnable without running."}}
		return s
	}
	u := &w.User
	lead := "No goroutine of the program was runnable without running."
	if u.Count > 0 {
		lead = fmt.Sprintf("Goroutines of the program became runnable %s and then waited for a P for %s in all: %s.",
			quantity.Plural(u.Count, "time", "times"), quantity.Duration(u.TotalNs), onAverage(u.TotalNs, r.RecordedNs()))
	}
	if u.BehindLongNs > 0 {
		lead += fmt.Sprintf(" Of it, %s (%s) was behind a single run longer than a time slice.", quantity.Duration(u.BehindLongNs), quantity.Part(u.BehindLongNs, u.SeenNs()))
	}
	s.Blocks = append(s.Blocks, doc.Para{Text: lead}, causesTable(w))
	if t, ok := overTime(r); ok {
		s.Blocks = append(s.Blocks, doc.Chart{ID: "chart_causetime", Caption: "How many goroutines of the program waited, on average, and for what. Inside one wait its causes are spread evenly.", Blocks: []doc.Block{t}})
	}
	s.Blocks = append(s.Blocks, doc.Fold{Title: "How long is a wait?", Blocks: lengths(w)})
	if t := antagonists(w.Classes); len(t.Rows) > 0 {
		s.Blocks = append(s.Blocks, doc.Fold{Title: "What ran while others were queued", Blocks: []doc.Block{t}})
	}
	return s
}

// onAverage reports how many goroutines waited on average.
func onAverage(ns, dur int64) string {
	mean := quantity.Ratio(ns, dur)
	if mean < 0.005 {
		return "almost none at any time, on average"
	}
	return quantity.Number(mean) + " at any time, on average"
}

func causesTable(w *waits.Result) doc.Table {
	t := doc.Table{Columns: []doc.Column{{Title: "cause", Left: true}, {Title: "program"}, {Title: "share"}, {Title: "Gosched", Help: "after runtime.Gosched: the goroutine asked for it"}, {Title: "runtime", Help: "goroutines of the runtime and the tracer"}}}
	for _, c := range waits.Causes() {
		un, sn, yn := waits.CauseNs(w.User.Causes, c), waits.CauseNs(w.Self.Causes, c), waits.CauseNs(w.System.Causes, c)
		if un+sn+yn > 0 {
			t.Rows = append(t.Rows, doc.Row{Cells: []doc.Cell{{Text: words.Cause(c), Key: CauseKey(c), Term: doc.Term{string(vocabulary.Cause), string(c)}}, doc.Duration(un), doc.Share(un, w.User.TotalNs), doc.Duration(sn), doc.Duration(yn)}})
		}
	}
	all := doc.Row{Cells: []doc.Cell{{Text: "all"}, doc.Duration(w.User.TotalNs), doc.Share(w.User.TotalNs, w.User.TotalNs), doc.Duration(w.Self.TotalNs), doc.Duration(w.System.TotalNs)}}
	t.Rows = append(t.Rows, all)
	return t
}

// overTime shows the causes of waiting period by period.
func overTime(r *analyze.Result) (doc.Table, bool) {
	o, end := r.Waits.OverTime, r.EndNs()
	if len(o.Causes) == 0 || len(o.Causes[0].Ns) < periods || o.BinNs <= 0 {
		return doc.Table{}, false
	}
	total := func(ns []int64) int64 { return quantity.Sum(ns, func(n *int64) int64 { return *n }) }
	chief := slices.Clone(o.Causes)
	slices.SortStableFunc(chief, func(a, b waits.CauseSeries) int { return cmp.Compare(total(b.Ns), total(a.Ns)) })
	chief = chief[:min(len(chief), causesOver)]
	t := doc.Table{Columns: []doc.Column{{Title: "from", Left: true}, {Title: "waiting"}}}
	for _, c := range chief {
		t.Columns = append(t.Columns, doc.Column{Title: words.Cause(c.Cause)})
	}
	bins := len(o.Causes[0].Ns)
	for i := range periods {
		from, to := i*bins/periods, (i+1)*bins/periods
		all := quantity.Sum(o.Causes, func(c *waits.CauseSeries) int64 { return total(c.Ns[from:to]) })
		fromNs, toNs := o.FromNs+int64(from)*o.BinNs, min(o.FromNs+int64(to)*o.BinNs, end)
		recorded := r.Timeline.RecordedNs(fromNs, toNs)
		mean := quantity.Ratio(all, max(1, recorded))
		row := []doc.Cell{{Text: quantity.Instant(fromNs)}, doc.Number(quantity.Number(mean), mean)}
		if recorded == 0 && toNs > fromNs {
			row[1] = doc.Cell{Text: "not recorded"}
		}
		for _, c := range chief {
			if all == 0 {
				row = append(row, doc.Cell{Text: "-"})
				continue
			}
			row = append(row, doc.Share(total(c.Ns[from:to]), all))
		}
		t.Rows = append(t.Rows, doc.Row{Cells: row})
	}
	return t, true
}

// lengths reports how long waits are, by number and by time.
func lengths(w *waits.Result) []doc.Block {
	t := doc.Table{Columns: []doc.Column{{Title: "wait", Left: true}, {Title: "program"}, {Title: "Gosched"}, {Title: "runtime"}, {Title: "all"}}}
	row := func(label string, f func(waits.Summary) doc.Cell) {
		cells := []doc.Cell{{Text: label}}
		for _, s := range []waits.Summary{w.User, w.Self, w.System, w.All} {
			if s.Count == 0 {
				cells = append(cells, doc.Cell{Text: "-"})
				continue
			}
			cells = append(cells, f(s))
		}
		t.Rows = append(t.Rows, doc.Row{Cells: cells})
	}
	row("number", func(s waits.Summary) doc.Cell { return doc.Count(s.Count) })
	for _, e := range []struct {
		label string
		ns    func(waits.Summary) int64
	}{
		{"p50 by number", func(s waits.Summary) int64 { return s.P50 }},
		{"p90 by number", func(s waits.Summary) int64 { return s.P90 }},
		{"p99 by number", func(s waits.Summary) int64 { return s.P99 }},
		{"p99.9 by number", func(s waits.Summary) int64 { return s.P999 }},
		{"longest", func(s waits.Summary) int64 { return s.MaxNs }},
		{"p50 by time", func(s waits.Summary) int64 { return s.TimeWeighted.P50 }},
		{"p90 by time", func(s waits.Summary) int64 { return s.TimeWeighted.P90 }},
		{"p99 by time", func(s waits.Summary) int64 { return s.TimeWeighted.P99 }},
	} {
		row(e.label, func(s waits.Summary) doc.Cell { return doc.Duration(e.ns(s)) })
	}
	for _, e := range []struct{ label, key string }{{"time in waits over 1 ms", "1ms"}, {"time in waits over 10 ms", "10ms"}} {
		row(e.label, func(s waits.Summary) doc.Cell {
			return doc.Number(quantity.Percent(s.TailMass[e.key]), s.TailMass[e.key])
		})
	}
	note := "By number, each wait counts once; by time, each nanosecond of waiting: what a goroutine lives through that is waiting now. Gosched: waits after runtime.Gosched, which the goroutine asked for; runtime: the runtime's and the tracer's own goroutines."
	if o := &w.All; o.OpenCount > 0 {
		note += fmt.Sprintf(" Not counted: %s still open when the trace ended (%s so far).", quantity.Plural(o.OpenCount, "wait was", "waits were"), quantity.Duration(o.OpenNs))
	}
	return []doc.Block{t, doc.Para{Text: note, Small: true}}
}

// antagonists lists what ran on the P while others stood in its queue.
func antagonists(classes []waits.Class) doc.Table {
	t := doc.Table{Most: textPairs, One: "more pair", Many: "more pairs", Columns: []doc.Column{{Title: "queued", Left: true, Cut: 30}, {Title: "what ran meanwhile", Left: true, Cut: 30}, {Title: "for"}, {Title: "of its time in queues"}}}
	for i := range classes {
		c := &classes[i]
		if c.System {
			continue
		}
		all := quantity.Sum(c.Antagonists, func(a *waits.Antagonist) int64 { return a.Ns })
		for _, a := range c.Antagonists {
			ran := doc.Cell{Name: cmp.Or(a.Name, words.Unknown)}
			if a.Class == c.ID {
				ran = doc.Cell{Text: "others of the same group"}
			}
			t.Rows = append(t.Rows, doc.Row{Cells: []doc.Cell{{Name: cmp.Or(c.Name, words.Unknown)}, ran, doc.Duration(a.Ns), doc.Share(a.Ns, all)}})
		}
	}
	slices.SortStableFunc(t.Rows, func(a, b doc.Row) int { return cmp.Compare(b.Cells[2].Value, a.Cells[2].Value) })
	t.More = max(0, len(t.Rows)-pagePairs)
	t.Rows = t.Rows[:min(len(t.Rows), pagePairs)]
	return t
}

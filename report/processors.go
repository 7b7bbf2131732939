package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// Bounds on the Ps that are shown: in text, and on the page.
const (
	textPs = 32
	pagePs = 512
)

// StateKeys are the keys by which the page colours the states of a P, in the order of the
// vocabulary.
var StateKeys = [...]string{"user", "system", "gc", "tracer", "syscall", "sched", "stopped", "idle", "unused", "gap"}

// PStates returns a P's times by state, in ns, in the order of [StateKeys].
func PStates(p *procs.Proc) [len(StateKeys)]int64 {
	return [...]int64{p.RunningNs, p.SystemNs, p.GCNs, p.TracerNs, p.SyscallNs, p.SchedNs, p.StoppedNs, p.IdleNs, p.UnusedNs, p.NotRecordedNs}
}

// AllPs returns the sums of the times, starts and parks of some Ps.
func AllPs(ps []procs.Proc) (all procs.Proc) {
	for i := range ps {
		p := &ps[i]
		all.LifetimeNs += p.LifetimeNs
		all.UnusedNs += p.UnusedNs
		all.NotRecordedNs += p.NotRecordedNs
		all.RunningNs += p.RunningNs
		all.SystemNs += p.SystemNs
		all.GCNs += p.GCNs
		all.TracerNs += p.TracerNs
		all.SyscallNs += p.SyscallNs
		all.SchedNs += p.SchedNs
		all.StoppedNs += p.StoppedNs
		all.IdleNs += p.IdleNs
		all.Starts += p.Starts
		all.Parks += p.Parks
	}
	return all
}

// ProcessorsSection returns the section about the Ps, and how work moved between them; nil if no P is known.
func ProcessorsSection(r *analyze.Result) *doc.Section {
	ps := r.Procs.Ps
	if len(ps) == 0 {
		return nil
	}
	all := AllPs(ps)
	states := vocabulary.Of(vocabulary.State)
	bar := func(p *procs.Proc) (parts []doc.Part) {
		for i, ns := range PStates(p) {
			if ns > 0 {
				parts = append(parts, doc.Part{Key: StateKeys[i], Title: states[i].Title, Ns: ns})
			}
		}
		return parts
	}
	t := doc.Table{Most: textPs + 1, More: max(0, len(ps)-pagePs), One: "more P", Many: "more Ps", Columns: []doc.Column{{Title: "P", Left: true}}}
	for i, s := range states {
		// Shares exclude unused and unrecorded time.
		c := doc.Column{Title: s.Column, Help: s.Short}
		if StateKeys[i] == "unused" {
			c.Where = doc.Page
		}
		if StateKeys[i] != "gap" || all.NotRecordedNs > 0 {
			t.Columns = append(t.Columns, c)
		}
	}
	for _, name := range []string{"ps.starts", "ps.parks", "ps.queue_mean", "ps.queue_max"} {
		m, _ := vocabulary.Lookup(vocabulary.Metric, name)
		c := doc.Column{Title: m.Column}
		if name == "ps.parks" {
			c.Where = doc.Page
		}
		t.Columns = append(t.Columns, c)
	}
	row := func(label string, p *procs.Proc, mean, most doc.Cell) {
		cells := []doc.Cell{{Text: label, Bars: [][]doc.Part{bar(p)}, Whole: max(p.LifetimeNs, 1)}}
		for i, ns := range PStates(p) {
			switch {
			case StateKeys[i] == "unused", StateKeys[i] == "gap" && all.NotRecordedNs > 0:
				cells = append(cells, doc.Duration(ns))
			case StateKeys[i] != "gap":
				cells = append(cells, doc.Share(ns, p.UsableNs()))
			}
		}
		selects := ""
		if p != &all {
			selects = strings.ToLower(label)
		}
		t.Rows = append(t.Rows, doc.Row{Selects: selects, Cells: append(cells, doc.Count(p.Starts), doc.Count(p.Parks), mean, most)})
	}
	none := doc.Cell{Text: "-"}
	row("all", &all, none, none)
	for i := range ps[:min(len(ps), pagePs)] {
		mean, most := doc.Number(quantity.Number(ps[i].QueueMean), ps[i].QueueMean), doc.Count(int64(ps[i].QueueMax))
		if r.Trace.Reduced {
			mean, most = none, none
		}
		row(fmt.Sprintf("P%d", ps[i].P), &ps[i], mean, most)
	}
	s := &doc.Section{ID: "ps", Title: "What the Ps did", Blocks: []doc.Block{
		doc.Para{Where: doc.Page, Text: fmt.Sprintf("Of CPU capacity (Ps × time), %s ran the program, %s the garbage collector, %s was idle.", quantity.Part(all.RunningNs, all.UsableNs()), quantity.Part(all.GCNs, all.UsableNs()), quantity.Part(all.IdleNs, all.UsableNs()))},
		doc.Fold{Title: "Each P", Blocks: []doc.Block{doc.Legend(bar(&all)), t}},
	}}
	if r.Trace.Reduced {
		s.Blocks = append(s.Blocks, moves("Preemptions", "a running goroutine is made to stop", r.Procs.Preemptions))
		return s
	}
	q := r.Procs.Queues
	heat := doc.Chart{ID: "chart_queues", Rows: min(len(ps), pagePs), Caption: "Local queues over time. A row is a P; the stronger the colour, the more goroutines stood in its queue.", Blocks: []doc.Block{doc.Para{Text: fmt.Sprintf(
		"Queue lengths over time: all runnable goroutines %s on average, %s at most; global queue %s and %s; local queues together %s on average.",
		quantity.Number(q.RunnableMean), quantity.Count(q.RunnableMax), quantity.Number(q.GlobalMean), quantity.Count(int64(q.GlobalMax)), quantity.Number(q.LocalMean))}}}
	if t := queueTable(&r.Timeline); len(t.Rows) > 0 {
		heat.Blocks = append(heat.Blocks, t)
	}
	s.Blocks = append(s.Blocks, heat)
	moved := doc.Fold{Title: "How work moved", Blocks: []doc.Block{doc.Para{Text: stolen(&r.Procs)}}}
	if r.Procs.Steals.Count > 0 {
		moved.Blocks = append(moved.Blocks, doc.Matrix{Caption: "Who stole from whom: a row is a thief, a column its victim.", N: r.Procs.Steals.Matrix})
	}
	moved.Blocks = append(moved.Blocks, moves("Handoffs", "a P that was given up or retaken is given to another thread", r.Procs.Handoffs),
		moves("Retakes", "a P is taken from a thread in a system call", r.Procs.Retakes), moves("Preemptions", "a running goroutine is made to stop", r.Procs.Preemptions))
	s.Blocks = append(s.Blocks, moved)
	return s
}

// queueTable is how many goroutines stood in the local queue of each P, the longest queues first, in stretches
// of equal length.
func queueTable(t *timeline.Result) doc.Table {
	const stretches = 8
	out := doc.Table{Where: doc.Page, Caption: "Mean length of local queues, from", Columns: []doc.Column{{Title: "P", Left: true}}, One: "more P", Many: "more Ps"}
	n := min(stretches, t.Bins)
	at := func(i int) int { return i * t.Bins / n } // the bin with which stretch i begins
	recorded := make([]float64, t.Bins)
	for i := range recorded {
		from := t.FromNs + int64(i)*t.BinNs
		recorded[i] = float64(t.RecordedNs(from, min(from+t.BinNs, t.EndNs)))
	}
	for i := range n {
		out.Columns = append(out.Columns, doc.Column{Title: quantity.Instant(t.FromNs + int64(at(i))*t.BinNs)})
	}
	type lane struct {
		sum float64
		row doc.Row
	}
	var lanes []lane
	for _, l := range t.Lanes {
		x := lane{row: doc.Row{Cells: []doc.Cell{{Text: fmt.Sprintf("P%d", l.P)}}}}
		for i := range n {
			sum, ns := 0.0, 0.0
			for bin := at(i); bin < min(at(i+1), len(l.Queue.Mean)); bin++ {
				sum, ns = sum+float64(l.Queue.Mean[bin])*recorded[bin], ns+recorded[bin]
			}
			mean := sum / max(ns, 1)
			x.sum += mean
			x.row.Cells = append(x.row.Cells, doc.Number(quantity.Number(mean), mean))
		}
		if x.sum > 0 {
			lanes = append(lanes, x)
		}
	}
	slices.SortStableFunc(lanes, func(x, y lane) int { return cmp.Compare(y.sum, x.sum) })
	out.More = max(0, len(lanes)-pagePs)
	for _, x := range lanes[:len(lanes)-out.More] {
		out.Rows = append(out.Rows, x.row)
	}
	return out
}

// stolen reports how work moved between the Ps.
func stolen(p *procs.Result) string {
	s := quantity.Plural(p.Steals.Count, "steal", "steals")
	if p.Steals.Count > 0 {
		s += fmt.Sprintf(" of %s", quantity.Plural(p.Steals.Moved, "goroutine", "goroutines"))
		if v := mostStolen(p.Steals); v != "" {
			s += "; " + v
		}
	}
	return s + fmt.Sprintf(". %s of a local queue, %s from the global queue.", quantity.Plural(p.Overflows, "overflow", "overflows"), quantity.Plural(p.GlobalTakes, "dequeue", "dequeues"))
}

// mostStolen reports from whom and by whom most was stolen.
func mostStolen(s procs.Steals) string {
	n := len(s.Matrix)
	if n == 0 {
		return ""
	}
	by, from := make([]int64, n), make([]int64, n)
	for thief, row := range s.Matrix {
		for victim, k := range row {
			by[thief] += k
			if victim < n {
				from[victim] += k
			}
		}
	}
	v, w := slices.Index(from, slices.Max(from)), slices.Index(by, slices.Max(by))
	return fmt.Sprintf("most often from P%d (%s), by P%d (%s)", v, quantity.Count(from[v]), w, quantity.Count(by[w]))
}

// moves reports how often something happened, and why.
func moves(title, help string, c procs.Counts) doc.Para {
	var parts []string
	for _, cause := range slices.SortedFunc(maps.Keys(c.ByCause), func(a, b string) int {
		return cmp.Or(cmp.Compare(c.ByCause[b], c.ByCause[a]), cmp.Compare(a, b))
	}) {
		if n := c.ByCause[cause]; n != 0 {
			parts = append(parts, fmt.Sprintf("%s %s", words.Phrase(vocabulary.Reason, cause), quantity.Count(n)))
		}
	}
	s := fmt.Sprintf("%s (%s): %s", title, help, quantity.Count(c.Count))
	if len(parts) > 0 {
		s += ": " + words.List(parts)
	}
	return doc.Para{Text: s + "."}
}

package html

import (
	"fmt"
	"html/template"
	"slices"
	"sort"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

type psView struct {
	Lead     string
	Legend   []legendItem
	Rows     []psRow
	More     int
	HeatSVG  template.HTML
	HeatNote string
	StealSVG template.HTML
	Steals   string
	HasSteal bool
	Causes   []countTable
	Queues   []row
}

type psRow struct {
	P     string
	Bar   template.HTML
	Cells []cell
}

type countTable struct {
	Title, Help, Total string
	Rows               []row
}

func newPs(r *analyze.Result) *psView {
	p := r.Procs
	v := &psView{}
	var tot [len(stateKeys)]int64
	life := int64(0)
	for _, q := range p.Ps {
		for i, n := range parts(q) {
			tot[i] += n
		}
		life += q.LifetimeNs - q.NotRecordedNs
	}
	v.Lead = fmt.Sprintf("Of all P-time, %s ran the program, %s the garbage collector, %s was idle.",
		quantity.Part(tot[0], life), quantity.Part(tot[2], life), quantity.Part(tot[7], life))
	states := len(stateKeys)
	if !notRecorded(r) {
		states--
	}
	for i, s := range procStates[:states] {
		v.Legend = append(v.Legend, legendItem{stateKeys[i], s.Title})
	}
	for i, q := range p.Ps {
		if i == maxPs {
			v.More = len(p.Ps) - i
			break
		}
		v.Rows = append(v.Rows, newPRow(fmt.Sprintf("P%d", q.P), q, states))
	}
	v.HeatSVG, v.HeatNote = heatSVG(r.Timeline)
	v.Steals = fmt.Sprintf("%s, moving %s. Overflows of a full local queue: %s. Dequeues from the global queue: %s.",
		quantity.Plural(p.Steals.Count, "steal", "steals"), quantity.Plural(p.Steals.Moved, "goroutine", "goroutines"), quantity.Count(p.Overflows), quantity.Count(p.GlobalTakes))
	v.StealSVG = matrixSVG(p.Steals.Matrix)
	v.HasSteal = p.Steals.Count > 0 && len(p.Steals.Matrix) > 0
	for _, c := range []struct {
		title, help string
		c           procs.Counts
	}{
		{"Handoffs", "a P that was given up or retaken is given to another thread", p.Handoffs},
		{"Retakes", "a P is taken from a thread in a system call", p.Retakes},
		{"Preemptions", "a running goroutine is made to stop", p.Preemptions},
	} {
		v.Causes = append(v.Causes, newCounts(c.title, c.help, c.c))
	}
	q := p.Queues
	v.Queues = []row{
		{Label: "global queue", Help: "shared by all Ps", Cells: []cell{floatCell(quantity.Number(q.GlobalMean), q.GlobalMean), intCell(quantity.Count(int64(q.GlobalMax)), int64(q.GlobalMax))}},
		{Label: "local queues together", Help: "runnext slots included", Cells: []cell{floatCell(quantity.Number(q.LocalMean), q.LocalMean), {Text: "–"}}},
		{Label: "all runnable goroutines", Help: "in queues or on the way", Cells: []cell{floatCell(quantity.Number(q.RunnableMean), q.RunnableMean), intCell(quantity.Count(q.RunnableMax), q.RunnableMax)}},
	}
	if r.Trace.Reduced {
		v.HeatSVG, v.HeatNote, v.Queues = "", "", nil
		v.Steals = "Queues, and with them steals, cannot be rebuilt from a trace of this format."
	}
	return v
}

// parts are a P's times in the order of stateKeys.
func parts(q procs.Proc) [len(stateKeys)]int64 {
	return [...]int64{q.RunningNs, q.SystemNs, q.GCNs, q.TracerNs, q.SyscallNs, q.SchedNs, q.StoppedNs, q.IdleNs, q.UnusedNs, q.NotRecordedNs}
}

// notRecorded reports whether the trace does not show what the Ps did all the time.
func notRecorded(r *analyze.Result) bool {
	return slices.ContainsFunc(r.Procs.Ps, func(p procs.Proc) bool { return p.NotRecordedNs > 0 })
}

// newPRow describes the first states of a P. Shares are of what is recorded; the rest is a
// length of time.
func newPRow(label string, q procs.Proc, states int) psRow {
	out := psRow{P: label}
	var segs []segment
	ns := parts(q)
	for i, s := range procStates[:states] {
		seg := segment{stateKeys[i], ns[i], fmt.Sprintf("%s: %s", s.Title, quantity.Duration(ns[i]))}
		if stateKeys[i] == "gap" {
			out.Cells = append(out.Cells, intCell(quantity.Duration(ns[i]), ns[i]))
		} else {
			part := quantity.Part(ns[i], q.LifetimeNs-q.NotRecordedNs)
			seg.Title += ", " + part
			out.Cells = append(out.Cells, intCell(part, ns[i]))
		}
		segs = append(segs, seg)
	}
	out.Bar = bar(segs, max(q.LifetimeNs, 1), 16, label+": what it did")
	out.Cells = append(out.Cells, intCell(quantity.Duration(q.LifetimeNs), q.LifetimeNs), intCell(quantity.Count(q.Starts), q.Starts), intCell(quantity.Count(q.Parks), q.Parks),
		floatCell(quantity.Number(q.QueueMean), q.QueueMean), intCell(quantity.Count(int64(q.QueueMax)), int64(q.QueueMax)))
	return out
}

func newCounts(title, help string, c procs.Counts) countTable {
	t := countTable{Title: title, Help: help, Total: quantity.Count(c.Count)}
	keys := make([]string, 0, len(c.ByCause))
	for k := range c.ByCause {
		if c.ByCause[k] != 0 {
			keys = append(keys, k)
		}
	}
	sort.Slice(keys, func(i, j int) bool {
		a, b := c.ByCause[keys[i]], c.ByCause[keys[j]]
		return a > b || a == b && keys[i] < keys[j]
	})
	for _, k := range keys {
		n := c.ByCause[k]
		t.Rows = append(t.Rows, row{Label: words.Phrase(vocabulary.Reason, k), Cells: []cell{intCell(quantity.Count(n), n), {Text: quantity.Part(n, c.Count)}}})
	}
	return t
}

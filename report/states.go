package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/internal/jsondoc"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// BlockedFor is the time for which goroutines were blocked for one reason.
type BlockedFor struct {
	Reason breakdown.Reason // what they waited for
	Ns     int64            // time blocked, summed over goroutines, ns
}

// BlockedBySize returns the reasons for blocking with their times, longest first.
func BlockedBySize(s *breakdown.TimeByState) []BlockedFor {
	var out []BlockedFor
	for r, ns := range s.BlockedNs {
		out = append(out, BlockedFor{breakdown.Reason(r), ns})
	}
	return words.Largest(out, func(b BlockedFor) int64 { return b.Ns })
}

// BlockedKey returns the key by which the page colours a reason for blocking.
func BlockedKey(reason string) string { return cmp.Or(blockedKeys[reason], "notknown") }

var blockedKeys = map[string]string{
	breakdown.ReasonNetwork.String():     "network",
	breakdown.ReasonSelect.String():      "channel",
	breakdown.ReasonChanReceive.String(): "channel",
	breakdown.ReasonChanSend.String():    "channel",
	breakdown.ReasonForever.String():     "channel",
	breakdown.ReasonCoroutine.String():   "channel",
	breakdown.ReasonSync.String():        "lock",
	breakdown.ReasonCond.String():        "sync",
	breakdown.ReasonSleep.String():       "sleep",
	breakdown.ReasonAssist.String():      "gc",
	breakdown.ReasonGCEnds.String():      "gc",
	breakdown.ReasonSuspended.String():   "gc",
}

// StatesSection returns the section about the time in each state, by class; nil if unknown.
func StatesSection(r *analyze.Result) *doc.Section {
	// The program's before the runtime's, by waiting for a P.
	cs := slices.DeleteFunc(slices.Clone(r.Breakdown.Classes), func(c breakdown.Class) bool { return c.LifeNs() == 0 })
	slices.SortStableFunc(cs, func(x, y breakdown.Class) int {
		return cmp.Or(quantity.TrueFirst(!x.Runtime, !y.Runtime), cmp.Compare(y.RunnableNs, x.RunnableNs))
	})
	if len(cs) == 0 {
		return nil
	}
	t := doc.Table{Most: textClasses, More: max(0, len(cs)-pageClasses), One: "more group", Many: "more groups", Columns: []doc.Column{
		{Title: "goroutine group", Left: true, Cut: 24}, {Title: "lifetime"}, {Title: "running"}, {Title: "runnable"}, {Title: "blocked"}, {Title: "syscall"}, {Title: "unknown"}, {Title: "most blocked for", Left: true}}}
	states := func(s *breakdown.TimeByState) []doc.Part {
		return []doc.Part{{Key: "user", Title: "running", Ns: s.RunningNs}, {Key: "runnable", Title: "runnable", Ns: s.RunnableNs}, {Key: "idle", Title: "blocked", Ns: s.Blocked()},
			{Key: "syscall", Title: "system call", Ns: s.SyscallNs}, {Key: "unused", Title: "unknown", Ns: s.UnknownNs}}
	}
	for i := range cs[:min(len(cs), pageClasses)] {
		c := &cs[i]
		whole, by := c.LifeNs(), states(&c.TimeByState)
		row := doc.Row{Dim: c.Runtime, Cells: []doc.Cell{{Name: cmp.Or(c.Name, words.Unknown), Bars: [][]doc.Part{by}, Whole: whole}, doc.Duration(whole)}}
		for _, p := range by {
			row.Cells = append(row.Cells, doc.Share(p.Ns, whole))
		}
		most := doc.Cell{Text: "-"}
		if by := BlockedBySize(&c.TimeByState); len(by) > 0 {
			most.Text = words.Title(vocabulary.Blocked, by[0].Reason.String()) + " " + quantity.Part(by[0].Ns, whole)
		}
		row.Cells = append(row.Cells, most)
		t.Rows = append(t.Rows, row)
	}
	return &doc.Section{ID: "lives", Title: "Time breakdown", Blocks: []doc.Block{doc.Para{Text: statesLead(r)}, doc.Fold{Title: "By goroutine group", Note: quantity.Count(int64(len(cs))),
		Blocks: []doc.Block{doc.Legend(states(&breakdown.TimeByState{})), t}}}}
}

// statesLead reports for which share of their life goroutines of the program waited for a P.
func statesLead(r *analyze.Result) string {
	s := &r.Breakdown.Program
	if s.LifeNs() == 0 {
		return "The trace does not show what goroutines of the program did."
	}
	lead := fmt.Sprintf("Of %s that goroutines of the program existed, they were runnable, without a P, for %s (%s): that is scheduling. They ran %s, were blocked %s, and in system calls %s.",
		quantity.Duration(s.LifeNs()), quantity.Duration(s.RunnableNs), quantity.Part(s.RunnableNs, s.LifeNs()),
		quantity.Part(s.RunningNs, s.LifeNs()), quantity.Part(s.Blocked(), s.LifeNs()), quantity.Part(s.SyscallNs, s.LifeNs()))
	if s.UnknownNs > 0 {
		lead += fmt.Sprintf(" What they did in the remaining %s is not recorded.", quantity.Part(s.UnknownNs, s.LifeNs()))
	}
	return lead
}

// Shares of a life in the verdict.
const (
	minLifePart = 0.1 // from which on a part of it besides scheduling is shown
	mostParts   = 2   // how many of them at most
)

// lived reports what the class that the verdict is about did with its life: how much of it
// was scheduling, and what else there was.
func (w *wording) lived() string {
	if w.Victim == nil || w.Victim.Life == nil || w.Victim.Life.LifeNs() == 0 {
		return ""
	}
	c := w.Victim.Life
	type part struct {
		ns   int64
		what string
	}
	parts := []part{{c.RunningNs, "running"}, {c.SyscallNs, "in system calls"}, {c.UnknownNs, "not recorded"}}
	for _, b := range BlockedBySize(&c.TimeByState) {
		parts = append(parts, part{b.Ns, "blocked " + words.Phrase(vocabulary.Blocked, b.Reason.String())})
	}
	slices.SortStableFunc(parts, func(x, y part) int { return cmp.Compare(y.ns, x.ns) })
	list := []string{quantity.Part(c.RunnableNs, c.LifeNs()) + " runnable"}
	for _, p := range parts[:mostParts] {
		if quantity.Ratio(p.ns, c.LifeNs()) >= minLifePart {
			list = append(list, quantity.Part(p.ns, c.LifeNs())+" "+p.what)
		}
	}
	return fmt.Sprintf(" The lifetime of %s (%s, %s in all): %s.",
		w.class(c.Name), quantity.Plural(c.Goroutines, "goroutine", "goroutines"), quantity.Duration(c.LifeNs()), words.List(list))
}

func lifeOf(s *breakdown.TimeByState) *jsondoc.Life {
	out := &jsondoc.Life{
		LifeNs: s.LifeNs(), RunningNs: s.RunningNs, RunnableNs: s.RunnableNs, BlockedNs: s.Blocked(),
		Blocked: []jsondoc.Blocked{}, SyscallNs: s.SyscallNs, UnknownNs: s.UnknownNs,
	}
	for _, b := range BlockedBySize(s) {
		out.Blocked = append(out.Blocked, jsondoc.Blocked{Reason: b.Reason.String(), Ns: b.Ns})
	}
	return out
}

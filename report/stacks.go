package report

import (
	"cmp"
	"fmt"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/stacks"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// Bounds on the stacks in the table, on what is shown of each; the flame graph has all.
const (
	textStacks = 12
	pageStacks = 20
	frameName  = 240 // runes
)

// StacksSection returns the section about the stacks at which waiting goroutines had stopped; nil if unknown.
func StacksSection(r *analyze.Result, names *words.Names) *doc.Section {
	if len(r.Stacks.Rows) == 0 {
		return nil
	}
	classes := map[int32]*waits.Class{}
	for i := range r.Waits.Classes {
		classes[r.Waits.Classes[i].ID] = &r.Waits.Classes[i]
	}
	t := doc.Table{ID: "stack-table", Most: textStacks, One: "more stack", Many: "more stacks", Columns: []doc.Column{
		{Title: "where they had stopped", Left: true, Cut: 50}, {Title: "goroutine group", Left: true, Cut: 24}, {Title: "waited", Most: true}, {Title: "of its group"},
		{Title: "waits", Where: doc.Page}, {Title: "chief cause", Left: true, Where: doc.Page}, {Title: "blocked there", Where: doc.Page}}}
	for i := range r.Stacks.Rows {
		row := &r.Stacks.Rows[i]
		c := classes[row.Class]
		switch {
		case c == nil || c.System || row.WaitNs == 0 || row.Place == stacks.Others:
		case len(t.Rows) == pageStacks:
			t.More++
		default:
			frames, chief := r.Stacks.Of(row.Stack), chiefCause(row.Causes, row.WaitNs)
			head := doc.Cell{Text: words.Cut(names.Stack(row.Place, frames), frameName)}
			if len(frames) > 0 {
				head.Fold = &doc.Fold{Title: "Stack", Blocks: []doc.Block{doc.List{Items: frameLines(frames)}}}
			}
			t.Rows = append(t.Rows, doc.Row{Cells: []doc.Cell{head, {Name: cmp.Or(c.Name, words.Unknown)}, doc.Duration(row.WaitNs), doc.Share(row.WaitNs, c.Waits.TotalNs), doc.Count(row.Waits), chief, doc.Duration(row.BlockedNs)}})
		}
	}
	s := &doc.Section{ID: "stacks", Title: "Stacks before waits", Blocks: []doc.Block{
		doc.Para{Text: "Where in the program goroutines had stopped before they waited for a P. A goroutine that had not run yet is shown at the go statement that created it."}, doc.Flame{}}}
	if len(t.Rows) > 0 {
		s.Blocks = append(s.Blocks, doc.Fold{Title: "The stacks at which most of the waiting began", Blocks: []doc.Block{t}})
	}
	return s
}

func frameLines(frames []stacks.Frame) (out []string) {
	for _, f := range frames[:min(len(frames), MaxFrames)] {
		out = append(out, words.Cut(words.Visible(fmt.Sprintf("%s (%s:%d)", f.Function, f.File, f.Line)), frameName))
	}
	if more := len(frames) - MaxFrames; more > 0 {
		out = append(out, fmt.Sprintf("… %d more", more))
	}
	return out
}

// stacksHref returns a link to the stacks of one class; "" if there are none.
func stacksHref(r *analyze.Result, class int32) string {
	for i := range r.Stacks.Rows {
		if row := &r.Stacks.Rows[i]; row.Class == class && row.WaitNs > 0 {
			return fmt.Sprintf("#f=%d,all,waiting", class)
		}
	}
	return ""
}

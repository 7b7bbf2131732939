package html

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/stacks"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// maxStackRows bounds the table of stacks; the flame graph has all.
const maxStackRows = 20

// flameName is how long names in the flame graph, and in stacks, may be, in runes: there
// are thousands.
const flameName = 240

// stacksView shows where goroutines had stopped: a flame graph, which flame.js draws, and
// a table.
type stacksView struct {
	Lead   string
	Rows   []stackRow
	More   int
	Legend []legendItem
}

type stackRow struct {
	Class Name
	Where Name
	Stack []Name // the whole of it
	More  int
	Cells []cell
}

// newStacks returns nil where nothing is known.
func newStacks(r *analyze.Result, names *words.Names) *stacksView {
	if len(r.Stacks.Rows) == 0 {
		return nil
	}
	v := &stacksView{Legend: []legendItem{{"frame0", "function of the program"}, {"frame1", "of Go's library"}, {"frame2", "of the runtime"}, {"frame3", "no function"}}}
	classes := map[int32]*waits.Class{}
	for i := range r.Waits.Classes {
		classes[r.Waits.Classes[i].ID] = &r.Waits.Classes[i]
	}
	v.Lead = "Where in the program goroutines had stopped before they waited for a P. A goroutine that had not run yet is shown at the go statement that created it."
	for i := range r.Stacks.Rows {
		row := &r.Stacks.Rows[i]
		c := classes[row.Class]
		if c == nil || c.System || row.WaitNs == 0 || row.Place == stacks.Others {
			continue
		}
		if len(v.Rows) == maxStackRows {
			v.More++
			continue
		}
		v.Rows = append(v.Rows, newStackRow(&r.Stacks, row, c, names))
	}
	return v
}

func newStackRow(s *stacks.Result, row *stacks.Row, c *waits.Class, names *words.Names) stackRow {
	frames := s.Of(row.Stack)
	o := stackRow{Class: className(c.Name, names), Where: Name{Short: words.Cut(names.Stack(row.Place, frames), flameName)}}
	for i, f := range frames {
		if i == maxFrames {
			o.More = len(frames) - i
			break
		}
		o.Stack = append(o.Stack, Name{Short: words.Cut(words.Visible(fmt.Sprintf("%s (%s:%d)", f.Function, f.File, f.Line)), flameName)})
	}
	chief := cell{Text: "–"}
	if by := words.BySize(row.Causes); len(by) > 0 {
		chief = cell{Text: words.Cause(by[0].Cause), Key: report.CauseKey(by[0].Cause), More: quantity.Part(by[0].Ns, row.WaitNs)}
	}
	o.Cells = []cell{
		intCell(quantity.Duration(row.WaitNs), row.WaitNs), {Text: quantity.Part(row.WaitNs, c.Waits.TotalNs)},
		intCell(quantity.Count(row.Waits), row.Waits), chief, intCell(quantity.Duration(row.BlockedNs), row.BlockedNs),
	}
	return o
}

// flame is the island for flame.js.
type flame struct {
	Frames  []flameFrame `json:"frames"`
	Classes []flameClass `json:"classes"` // by their waiting, most first
	Causes  [][2]string  `json:"causes"`  // name and title
	Rows    []flameRow   `json:"rows"`
}

type flameFrame struct {
	Short string `json:"s"`
	Full  string `json:"f,omitempty"` // where Short is not the whole name
	Line  string `json:"l"`           // file and line
	Kind  int    `json:"k"`           // as words.Owner
}

type flameClass struct {
	ID     int32  `json:"id"`
	Name   string `json:"n"`
	System bool   `json:"sys,omitempty"`
}

type flameRow struct {
	Class   int32    `json:"c"`
	Place   string   `json:"p"`
	Stack   []int32  `json:"s"` // innermost first
	Waits   int64    `json:"n"`
	Blocked int64    `json:"b,omitempty"` // ns
	Causes  [][2]any `json:"w"`           // name of a cause, and ns
}

// newFlame returns nil where nothing is known.
func newFlame(r *analyze.Result, names *words.Names) *flame {
	if len(r.Stacks.Rows) == 0 {
		return nil
	}
	out := &flame{Frames: []flameFrame{}, Classes: []flameClass{}}
	for _, f := range r.Stacks.Frames {
		out.Frames = append(out.Frames, newFlameFrame(f, names))
	}
	for _, c := range waits.Causes() {
		out.Causes = append(out.Causes, [2]string{string(c), words.Cause(c)})
	}
	has := map[int32]bool{}
	for _, row := range r.Stacks.Rows {
		has[row.Class] = true
		o := flameRow{Class: row.Class, Place: string(row.Place), Stack: append([]int32{}, row.Stack...), Waits: row.Waits, Blocked: row.BlockedNs, Causes: [][2]any{}}
		for _, c := range row.Causes {
			o.Causes = append(o.Causes, [2]any{c.Cause, c.Ns})
		}
		out.Rows = append(out.Rows, o)
	}
	for _, c := range r.Waits.Classes {
		if has[c.ID] {
			out.Classes = append(out.Classes, flameClass{c.ID, className(c.Name, names).Short, c.System})
		}
	}
	return out
}

func newFlameFrame(f stacks.Frame, names *words.Names) flameFrame {
	n := name(f.Function, names)
	return flameFrame{
		Short: n.Short, Full: words.Cut(n.Full, flameName), Line: words.Cut(words.Visible(fmt.Sprintf("%s:%d", f.File, f.Line)), flameName),
		Kind: int(words.OwnerOf(f.Function)),
	}
}

// stacksHref links to the stacks of one class; "" if there are none.
func stacksHref(r *analyze.Result, class int32) string {
	for i := range r.Stacks.Rows {
		if row := &r.Stacks.Rows[i]; row.Class == class && row.WaitNs > 0 {
			return fmt.Sprintf("#f=%d,all,waiting", class)
		}
	}
	return ""
}

// actorStacks links to the stacks of the class of an actor; "" if there are none.
func actorStacks(r *analyze.Result, a *findings.Actor) string {
	if c := words.ClassOf(r, a); c != nil {
		return stacksHref(r, c.ID)
	}
	return ""
}

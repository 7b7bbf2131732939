package html

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// flameName is how long names in the flame graph may be, in runes: there are thousands.
const flameName = 240

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
		n := name(f.Function, names)
		out.Frames = append(out.Frames, flameFrame{
			Short: n.Short, Full: words.Cut(n.Full, flameName), Line: words.Cut(words.Visible(fmt.Sprintf("%s:%d", f.File, f.Line)), flameName),
			Kind: int(words.OwnerOf(f.Function)),
		})
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

package report

import (
	"cmp"
	"fmt"

	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// section draws a section; nil is none.
func (t *text) section(s *doc.Section) {
	if s == nil {
		return
	}
	t.head(s.Title)
	t.blocks(s.Blocks)
}

func (t *text) blocks(bs []doc.Block) {
	drawn := false
	for i, b := range bs {
		was := drawn
		drawn = true
		switch b := b.(type) {
		case doc.Para:
			if b.Where == doc.Page || b.Href != "" {
				drawn = was
				continue
			}
			if _, follows := bs[max(i-1, 0)].(doc.Para); !follows {
				t.line("")
			}
			t.para(2, b.Text)
		case doc.List:
			if b.Where == doc.Page || len(b.Items) == 0 {
				drawn = was
				continue
			}
			if b.Title != "" {
				t.line("")
				t.para(2, b.Title+":")
			}
			for _, item := range b.Items {
				t.hang("    - ", 6, item)
			}
		case doc.Facts:
			for _, f := range b {
				value := t.cell(f.Value, 400)
				if f.Value.Note != "" {
					value += "; " + f.Value.Note
				}
				t.hang(fmt.Sprintf("  %-12s", f.Term), 14, value)
			}
		case doc.Warning:
			t.para(2, b.Title+":")
			t.blocks([]doc.Block{doc.List{Items: b.Items}})
			t.line("")
		case doc.Code:
			t.line("    " + string(b))
		case doc.Chart:
			t.blocks(b.Blocks)
		case doc.Finding:
			if !t.o.AllFindings && (b.Severity == "note" || b.N > textFindings) {
				t.brief(&b)
				continue
			}
			if was {
				t.line("")
			}
			t.finding(&b)
		case doc.Outcomes:
			t.outcomes(&b)
		case doc.Table:
			if b.Where != doc.Page {
				if was {
					t.line("")
				}
				t.docTable(b)
			}
		case doc.Fold:
			if b.Where != doc.Page {
				t.line("")
				title := b.Title
				if b.ID == "notes" && !t.o.AllFindings {
					title += "; --full findings shows their evidence:"
				}
				t.para(2, title)
				t.blocks(b.Blocks)
			}
		default:
			drawn = was
		}
	}
}

// docTable draws a table.
func (t *text) docTable(d doc.Table) {
	if d.Caption != "" {
		t.para(2, d.Caption+":")
	}
	var shown []int // columns
	var head []string
	for i, c := range d.Columns {
		if c.Where != doc.Page {
			shown, head = append(shown, i), append(head, cmp.Or(c.Short, c.Title))
		}
	}
	tb := newTable(head...)
	for at, i := range shown {
		if d.Columns[i].Left {
			tb.alignLeft(at)
		}
	}
	rows := d.Rows
	if d.Most > 0 {
		rows = rows[:min(len(rows), d.Most)]
	}
	for _, r := range rows {
		cells := make([]string, 0, len(shown))
		for _, i := range shown {
			cells = append(cells, t.cell(r.Cells[i], d.Columns[i].Cut))
		}
		tb.add(cells...)
		tb.below[len(tb.rows)] = r.Command
	}
	t.table(2, tb)
	t.more(len(d.Rows)-len(rows)+d.More, d.One, d.Many)
}

// cell is what stands in a cell; cut is to how many runes a name is cut, if it is not 0.
func (t *text) cell(c doc.Cell, cut int) string {
	s := words.Visible(c.Text)
	switch {
	case c.Name == "":
	case c.Plain:
		s = words.Visible(c.Name)
	default:
		s = t.names.Function(c.Name)
	}
	if cut > 0 {
		s = t.names.Cut(s, cut)
	}
	return s
}

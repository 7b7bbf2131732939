package html

import (
	"cmp"
	"html/template"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// antagonists is a table of who waited in a queue (rows) and who ran on its P
// meanwhile (columns).
type antagonists struct {
	Heads []Name
	Rows  []antRow
	Rest  bool // the last column is all the others
	More  int  // rows left out
}

type antRow struct {
	Name  Name
	Note  string
	Total cell
	Cells []antCell
}

// antCell is empty where nothing was.
type antCell struct {
	Text, Sort string
	Self       bool // a class waited for its own
	Bar        template.HTML
}

const (
	antRows = 10
	antCols = 5
)

// newAntagonists makes the table; nil where nobody waited behind anybody.
func newAntagonists(cs []waits.Class, names *words.Names) *antagonists {
	type victim struct {
		waits.Class
		ns int64
	}
	var rows []victim
	for _, c := range cs {
		v := victim{Class: c}
		for _, a := range c.Antagonists {
			v.ns += a.Ns
		}
		if v.ns > 0 && !c.System {
			rows = append(rows, v)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	slices.SortStableFunc(rows, func(a, b victim) int { return cmp.Compare(b.ns, a.ns) })
	t := &antagonists{More: max(0, len(rows)-antRows)}
	rows = rows[:min(len(rows), antRows)]

	var cols []waits.Antagonist
	for _, v := range rows {
		for _, a := range v.Antagonists {
			if i := slices.IndexFunc(cols, func(c waits.Antagonist) bool { return c.Class == a.Class }); i >= 0 {
				cols[i].Ns += a.Ns
			} else {
				cols = append(cols, a)
			}
		}
	}
	slices.SortStableFunc(cols, func(a, b waits.Antagonist) int {
		return cmp.Or(cmp.Compare(b.Ns, a.Ns), cmp.Compare(a.Class, b.Class))
	})
	t.Rest = len(cols) > antCols
	cols = cols[:min(len(cols), antCols)]
	for _, c := range cols {
		t.Heads = append(t.Heads, className(c.Name, names))
	}
	most := int64(1)
	for _, v := range rows {
		for _, a := range v.Antagonists {
			most = max(most, a.Ns)
		}
	}
	for _, v := range rows {
		r := antRow{Name: className(v.Name, names), Note: quantity.Plural(v.Waits.Count, "wait", "waits"), Total: intCell(quantity.Duration(v.ns), v.ns)}
		left := v.ns
		add := func(ns int64, self bool) {
			if ns <= 0 {
				r.Cells = append(r.Cells, antCell{Text: "–", Sort: "0"})
				return
			}
			n := intCell(quantity.Duration(ns), ns)
			r.Cells = append(r.Cells, antCell{Text: n.Text, Sort: n.Sort, Self: self, Bar: bar([]segment{{"behind", ns, quantity.Part(ns, v.ns) + " of the row"}}, most, 5, quantity.Part(ns, v.ns)+" of the row")})
		}
		for _, c := range cols {
			ns := int64(0)
			for _, a := range v.Antagonists {
				if a.Class == c.Class {
					ns += a.Ns
				}
			}
			left -= ns
			add(ns, c.Class == v.ID)
		}
		if t.Rest {
			add(left, false)
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

package report

import (
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"

	"github.com/gmpscope/gmpscope/internal/quantity"
)

// table lays out rows in columns: the first column to the left, the others to
// the right unless named in left. Widths are in columns of a terminal.
type table struct {
	head  []string
	rows  [][]string
	left  map[int]bool   // columns to the left
	below map[int]string // lines below rows, by their number, from 1 on
}

func newTable(head ...string) *table {
	return &table{head: head, left: map[int]bool{0: true}, below: map[int]string{}}
}

func (t *table) alignLeft(cols ...int) *table {
	for _, c := range cols {
		t.left[c] = true
	}
	return t
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// gap separates columns.
const gap = "  "

// lines renders the table, each line without spaces at its end. The first one is the head.
func (t *table) lines() []string {
	width := make([]int, len(t.head))
	all := append([][]string{t.head}, t.rows...)
	for _, r := range all {
		for i, c := range r {
			width[i] = max(width[i], textWidth.StringWidth(c))
		}
	}
	out := make([]string, 0, len(all))
	for _, r := range all {
		var b strings.Builder
		for i, c := range r {
			if i > 0 {
				b.WriteString(gap)
			}
			pad := strings.Repeat(" ", width[i]-textWidth.StringWidth(c))
			if t.left[i] {
				b.WriteString(c + pad)
			} else {
				b.WriteString(pad + c)
			}
		}
		out = append(out, strings.TrimRight(b.String(), " "))
	}
	return out
}

// textWidth does not depend on the locale.
var textWidth = runewidth.Condition{}

// wrap breaks s into lines of at most width columns, at spaces, but not between a
// number and its unit. A longer word has a line of its own.
func wrap(s string, width int) []string {
	var out []string
	line, n := "", 0
	for w := range strings.FieldsFuncSeq(quantity.NoBreak(s), breakable) {
		w = strings.ReplaceAll(w, quantity.NBSP, " ")
		k := textWidth.StringWidth(w)
		switch {
		case n == 0:
			line, n = w, k
		case n+1+k <= width:
			line, n = line+" "+w, n+1+k
		default:
			out = append(out, line)
			line, n = w, k
		}
	}
	if n > 0 {
		out = append(out, line)
	}
	return out
}

// breakable reports whether a line may be broken at r.
func breakable(r rune) bool { return unicode.IsSpace(r) && string(r) != quantity.NBSP }

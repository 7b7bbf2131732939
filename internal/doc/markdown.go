package doc

import (
	"strings"

	"github.com/gmpscope/gmpscope/internal/term"
)

// Markdown returns a section in the Markdown of GitHub, for an issue or the summary of a job: what the page shows of it
// without scripts. Strings in it mean nothing but their characters. name returns what a function or class is called.
func Markdown(s *Section, name func(string) string) string {
	var parts []string
	add := func(text string) {
		if text != "" {
			parts = append(parts, text+"\n")
		}
	}
	cell := func(c Cell) string {
		text := plain(c.Text)
		if c.Name != "" && !c.Plain {
			c.Name = name(c.Name)
		}
		if c.Name != "" {
			text = "`" + strings.NewReplacer("`", "'", "|", `\|`).Replace(term.Visible(c.Name)) + "`"
		}
		if c.Note != "" {
			text += " (" + plain(c.Note) + ")"
		}
		return text
	}
	if s.Title != "" {
		add("**" + plain(s.Title) + "**")
	}
	for _, b := range s.Blocks {
		switch b := b.(type) {
		case Para:
			if b.Where != Text && b.Href == "" {
				add(plain(b.Text))
			}
		case Facts:
			var facts []string
			for _, f := range b {
				facts = append(facts, plain(f.Term)+": "+cell(f.Value))
			}
			add(strings.Join(facts, "; "))
		case Table:
			add(markdownTable(&b, cell))
		}
	}
	return strings.Join(parts, "\n")
}

func markdownTable(t *Table, cell func(Cell) string) string {
	var head, line []string
	for _, c := range t.Columns {
		head = append(head, plain(c.Title))
		if c.Left {
			line = append(line, "---")
		} else {
			line = append(line, "---:")
		}
	}
	rows := [][]string{head, line}
	for _, r := range t.Rows {
		var cells []string
		for _, c := range r.Cells {
			cells = append(cells, cell(c))
		}
		rows = append(rows, cells)
	}
	var out []string
	for _, cells := range rows {
		out = append(out, "| "+strings.Join(cells, " | ")+" |")
	}
	return strings.Join(out, "\n")
}

var marks = strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "`", "'", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "@", "&#64;")

// plain makes s one line of Markdown that means nothing but its characters.
func plain(s string) string { return marks.Replace(term.Visible(s)) }

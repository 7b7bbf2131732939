package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/term"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// Width is the number of columns, or characters, that lines of text are laid out for.
const Width = 100

// textFindings is how many findings text shows in full; notes and further ones take a line each.
const textFindings = 12

// TextOptions select what [WriteText] and the other writers of text show.
type TextOptions struct {
	// Color enables colours by the codes of ECMA-48, for terminals.
	Color bool
	// AllFindings shows each finding in full.
	AllFindings bool
	// Top, if not 0, limits the text of an analysis to the verdict, and a line for each of the
	// first Top kinds of work and Top findings.
	Top int
	// FullNames selects full names of functions in comparisons. For analyses, see Document.ShowFullNames.
	FullNames bool
}

// WriteText writes d for people, in the order of the HTML page. Equal input gives equal bytes.
func WriteText(w io.Writer, d *Document, o TextOptions) error {
	if d == nil || d.Result == nil {
		return fmt.Errorf("text: no result")
	}
	t := &text{w: lineWriter(w), o: o, names: d.names}
	if o.Top > 0 {
		t.top(d)
		return t.w.Flush()
	}
	t.verdict(d)
	first, further := Sections(d, "")
	for _, s := range slices.Concat(first, further) {
		t.section(s)
	}
	t.elsewhere(d.Result)
	return t.w.Flush()
}

// top writes the headline, what to try, and the first kinds of work and findings.
func (t *text) top(d *Document) {
	d.Verdict.Lines = slices.DeleteFunc([]string{d.Verdict.Try}, func(s string) bool { return s == "" })
	t.verdict(d)
	if s := WorkSection(d.Result, d.names, ""); s != nil {
		kinds := s.Blocks[0].(doc.Table)
		kinds.Most = t.o.Top
		t.section(&doc.Section{Title: s.Title, Blocks: []doc.Block{kinds}})
	}
	t.head("Findings")
	found := d.Result.Findings
	for i := range found[:min(len(found), t.o.Top)] {
		f := d.finding(i)
		t.brief(&f)
	}
	t.more(len(found)-t.o.Top, "more finding", "more findings")
	if len(found) == 0 {
		t.line("  None.")
	}
}

// lineWriter returns a writer of text to w: all that is written to be read by people, or
// by tools line by line, passes through it.
func lineWriter(w io.Writer) *bufio.Writer { return bufio.NewWriter(term.Lines(w)) }

// text is a page being written. Write errors stay in w until it is flushed.
type text struct {
	w     *bufio.Writer
	o     TextOptions
	names *words.Names
}

// style is an attribute of a stretch of text.
type style string

// The styles.
const (
	plain  style = ""
	bold   style = "1"
	faint  style = "2"
	red    style = "1;31"
	yellow style = "1;33"
	green  style = "1;32"
	blue   style = "1;34"
)

// in returns s in a style, where there is colour.
func (t *text) in(st style, s string) string {
	if !t.o.Color || st == plain || s == "" {
		return s
	}
	return "\x1b[" + string(st) + "m" + s + "\x1b[0m"
}

func (t *text) line(s string) {
	t.w.WriteString(s)
	t.w.WriteByte('\n')
}

// more writes how many are left out, if any are.
func (t *text) more(n int, one, many string) {
	if n > 0 {
		t.line(fmt.Sprintf("  … and %s.", quantity.Plural(int64(n), one, many)))
	}
}

// styled writes a paragraph in a style.
func (t *text) styled(st style, s string) {
	for _, l := range wrap(s, Width) {
		t.line(t.in(st, l))
	}
}

// head begins a section.
func (t *text) head(title string) {
	t.line("")
	t.line(t.in(bold, strings.ToUpper(title)))
}

// para writes a paragraph with that indent.
func (t *text) para(indent int, s string) { t.hang(strings.Repeat(" ", indent), indent, s) }

// hang writes a paragraph whose first line begins with lead and whose others are indented.
func (t *text) hang(lead string, indent int, s string) {
	in := strings.Repeat(" ", indent)
	for i, l := range wrap(s, Width-indent) {
		if i == 0 {
			t.line(lead + l)
		} else {
			t.line(in + l)
		}
	}
}

// table writes a table, its head faint.
func (t *text) table(indent int, tb *table) {
	in := strings.Repeat(" ", indent)
	for i, l := range tb.lines() {
		if i == 0 {
			l = t.in(faint, l)
		}
		t.line(in + l)
		if s := tb.below[i]; s != "" {
			t.line(in + "  " + s)
		}
	}
}

var statusStyle = map[string]style{"ok": green, "note": blue, "warning": yellow, "critical": red}

func (t *text) verdict(d *Document) {
	v := d.Verdict
	status, _ := vocabulary.Lookup(vocabulary.Severity, v.Status)
	t.line(t.in(statusStyle[v.Status], cmp.Or(v.Label, status.Title)))
	t.styled(bold, v.Headline)
	if len(v.Lines) > 0 {
		t.line("")
	}
	for _, l := range v.Lines {
		t.hang("  - ", 4, l)
	}
}

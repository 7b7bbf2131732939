package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/gmpscope/gmpscope/internal/term"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// Width is the number of columns that the text is laid out for.
const Width = 100

// Bounds on what the text shows; what is left out is said.
const (
	textLongWaits = 5
	textClasses   = 15
	textFindings  = 12 // in full; notes and further ones take a line each
	pageClasses   = 400
)

// TextOptions are the choices of WriteText.
type TextOptions struct {
	// Color sets colours by the codes of ECMA-48, for terminals.
	Color bool
	// AllFindings shows each finding in full.
	AllFindings bool
	// FullNames has comparisons call functions by their full names. For analyses, see
	// Document.ShowFullNames.
	FullNames bool
}

// WriteText writes doc for people, in the order of the HTML page. Equal input
// gives equal bytes.
func WriteText(w io.Writer, doc *Document, o TextOptions) error {
	if doc == nil || doc.Result == nil {
		return fmt.Errorf("text: no result")
	}
	t := &text{w: lineWriter(w), o: o, names: doc.names}
	t.verdict(doc)
	t.section(WorkSection(doc.Result, doc.names, ""))
	t.findings(doc.Result, doc.Split)
	t.section(WaitingSection(doc.Result))
	t.longestWaits(doc.Result)
	t.section(ProcessorsSection(doc.Result))
	t.section(MachineSection(doc.Result))
	t.classes(doc.Result)
	t.wakers(doc.Result)
	t.section(StatesSection(doc.Result))
	t.stacks(doc.Result)
	t.section(FairnessSection(doc.Result))
	t.section(SplitSection(doc.Split))
	t.section(TraceSection(doc.Result))
	t.elsewhere(doc.Result)
	return t.w.Flush()
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
	plain   style = ""
	bold    style = "1"
	faint   style = "2"
	red     style = "1;31"
	yellow  style = "1;33"
	green   style = "1;32"
	blue    style = "1;34"
	noStyle       = plain
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

// head begins a section.
func (t *text) head(title string) {
	t.line("")
	t.line(t.in(bold, strings.ToUpper(title)))
}

// para writes a paragraph with that indent.
func (t *text) para(indent int, s string) { t.hang(strings.Repeat(" ", indent), indent, s) }

// hang writes a paragraph whose first line begins with lead and whose others
// are indented.
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
	}
}

var statusStyle = map[string]style{"ok": green, "note": blue, "warning": yellow, "critical": red}

func (t *text) verdict(doc *Document) {
	v := doc.Verdict
	status, _ := vocabulary.Lookup(vocabulary.Severity, v.Status)
	t.line(t.in(statusStyle[v.Status], cmp.Or(v.Label, status.Title)))
	for _, l := range wrap(v.Headline, Width) {
		t.line(t.in(bold, l))
	}
	if len(v.Lines) > 0 {
		t.line("")
	}
	for _, l := range v.Lines {
		t.hang("  - ", 4, l)
	}
}

// Package doc is a part of a report as a tree: what it shows, in which order and in which
// words. Text, HTML and [Markdown] only draw it.
package doc

import (
	"strings"

	"github.com/gmpscope/gmpscope/internal/quantity"
)

// A Section is a part of a report under a heading.
type Section struct {
	ID     string // fragment of its address on the page
	Title  string
	Blocks []Block
}

// A Block is a part of a section: a [Para], a [List], [Facts], a [Table], a [Fold], a [Finding], [Outcomes],
// a [Warning], [Code], a [Legend], a [Bar], a [Chart], a [Matrix], a [Waterfall] or a [Flame]. Text
// has none of the last six, but for what stands for a chart.
type Block interface{ block() }

func (Para) block()      {}
func (List) block()      {}
func (Facts) block()     {}
func (Table) block()     {}
func (Fold) block()      {}
func (Finding) block()   {}
func (Outcomes) block()  {}
func (Code) block()      {}
func (Legend) block()    {}
func (Warning) block()   {}
func (Bar) block()       {}
func (Chart) block()     {}
func (Matrix) block()    {}
func (Waterfall) block() {}
func (Flame) block()     {}

// Para is a paragraph of text.
type Para struct {
	Text  string
	Small bool   // a note: it explains what it follows
	Href  string // link, on the page, where it can do without scripts only what text can
	Where Where
}

// List is a list of sentences; nothing if it has none.
type List struct {
	Title string // above it; may be empty
	Items []string
	Where Where
}

// Warning is a list of reasons for which a result may be wrong or incomplete.
type Warning struct {
	ID    string // fragment of its address on the page; empty if it has none
	Title string
	Items []string
}

// Code is a command, or other text, that is shown as it is.
type Code string

// Facts is a list of terms and their values.
type Facts []Fact

// Fact is a term and its value, such as a property of the trace.
type Fact struct {
	Term  string
	Value Cell
}

// Where specifies in which kinds of reports something appears: text, the page, or both.
type Where uint8

// The kinds of reports.
const (
	Everywhere Where = iota // in text and HTML
	Page                    // HTML only
	Text                    // text only
)

// Table is a table. The first column names the rows.
type Table struct {
	ID      string // fragment of its address on the page; empty if it has none
	Filter  string // what its rows can be searched for on the page; empty if they cannot
	Caption string
	Columns []Column
	Rows    []Row
	Most    int    // rows that text shows; 0 for all
	One     string // what a row is, for what is left out
	Many    string
	More    int // rows that are left out of Rows
	Where   Where
}

// Column describes a column of a [Table].
type Column struct {
	Title string
	Short string // title in text; Title if empty
	Help  string // longer, on the page; empty if there is nothing to be said
	Left  bool   // holds words, not numbers
	Most  bool   // rows go by it, the largest first
	Cut   int    // to how many runes text cuts what stands in it; 0 for the whole of it
	Where Where
}

// Row is a row of a [Table].
type Row struct {
	Cells []Cell
	Dim   bool // of the runtime, not of the program
	// Selects is what a reader selects on the page by it: a kind (k1), a group (g3) or a P (p0);
	// Group is the goroutine group that it is about.
	Selects, Group string
	Find           string // what a filter of the table looks at, in lower case
	Command        string // that shows more of it; below the row
}

// Cell is what stands in one place of a table, or is the value of a [Fact].
type Cell struct {
	Text  string
	Name  string   // a function or class, instead of a text
	Plain bool     // Name is what it is called
	Value float64  // by which the column is sorted, if Sorts
	Sorts bool     // else it is sorted by Text
	Note  string   // small; text shows it of facts only
	Term  Term     // of the glossary that explains it, on the page
	Key   string   // colour of a mark before it, on the page
	Href  string   // link, on the page
	Bars  [][]Part // drawn below it, on the page, each as long as its parts of Whole
	Whole int64    // of which each of Bars shows its share; 0 for the sum of its parts
	Scale int64    // length of a bar that is as wide as there is room; 0 for Whole
	Fold  *Fold    // below it, on the page

	Ranges []Range // drawn below each other on one scale, on the page
	Status string  // better or worse, if the page colours it so
}

// Term names a word of the vocabulary: by its kind, then its name. A detector has the kind
// [Detector].
type Term [2]string

// Detector is the kind of a Term that names a detector.
const Detector = "detector"

// Count returns a cell with a whole number, by which the column is sorted.
func Count(n int64) Cell { return Number(quantity.Count(n), float64(n)) }

// Duration returns a cell with a duration, given in ns, by which the column is sorted.
func Duration(ns int64) Cell { return Number(quantity.Duration(ns), float64(ns)) }

// Share returns a cell with part as a percentage of whole, by which the column is sorted.
func Share(part, whole int64) Cell { return Number(quantity.Part(part, whole), float64(part)) }

// Number returns a cell that shows text and is sorted by f.
func Number(text string, f float64) Cell { return Cell{Text: text, Value: f, Sorts: true} }

// Part is a part of a [Bar], as long as Ns, or an entry of a [Legend].
type Part struct {
	Key   string // colour
	Title string // what it is, and how much
	Ns    int64  // length, in ns
}

// A Range is a value on a scale, with its interval if Lo is less than Hi.
type Range struct {
	Key, Title    string // as of Part
	Lo, Value, Hi float64
}

// A Legend explains colours, on the page.
type Legend []Part

// Fold is what the page shows on demand. In text its blocks follow its title.
type Fold struct {
	ID, Title      string
	Note           string
	Selects, Group string // as of Row
	FromNs, ToNs   int64  // when it was; 0 if it is about no time
	Blocks         []Block
	Open           bool // the page shows it without being asked
	Where          Where
}

// Finding is a finding of a detector, in the words of a report. Text and page show it whole,
// or its headline and the rest on demand. FromNs and ToNs are the window in which it is worst,
// in ns.
type Finding struct {
	N               int    // place among the findings, from 1 on
	Leads           bool   // the headline is about it
	ID              string // of the detector
	Severity        string // note, warning or critical
	Headline, Title string
	Cost, Part      string // what was lost, and which part of what; either may be empty
	Doubts          string // empty if there are none
	FromNs, ToNs    int64
	When, Basis     string      // When is empty if it is about no time
	Evidence        [][3]string // what, its value, and the threshold, which may be empty
	Actors          []Actor
	MoreActors      int // that are left out
	Advice          []Sentence
	Gain            []string // what the advice would give, simulated
}

// Outcomes is a list of findings in short, as of several traces.
type Outcomes struct {
	List []Outcome
	Most int // outcomes that text shows; 0 for all
	More int // outcomes that are left out of List
}

// Outcome is a finding in short, in a comparison or a report about several traces.
type Outcome struct {
	Change       string // what became of it; empty if that is not known
	Severity, ID string
	Class        string // class that it is about; may be empty
	Where, Cost  string // in which traces, and what was lost; Where may be empty
	Titles       []string
	Command      string // command that shows where it cost most; may be empty
}

// A Sentence is a sequence of phrases, of which some are terms.
type Sentence []Phrase

// Phrase is a part of a [Sentence], perhaps a term that the page explains.
type Phrase struct {
	Text string
	Term Term // term that the page links; empty if it is none
}

// String returns the whole sentence.
func (s Sentence) String() string {
	var b strings.Builder
	for _, p := range s {
		b.WriteString(p.Text)
	}
	return b.String()
}

// Actor is a goroutine, class or P that has a part in a finding, such as a victim.
type Actor struct {
	Role           string   // its part in the finding, in a word
	Class, Creator string   // functions; either may be empty
	Where          string   // the goroutine or P; may be empty
	G              int64    // the goroutine; 0 for none
	Stack          []string // lines with its frames, innermost first
	MoreFrames     int      // frames that are left out of Stack
	Stopped        string   // where its class had stopped before most of its waiting; may be empty
	Stacks         string   // link, on the page, to all of those
}

// Bar is one bar, divided into coloured parts, on the page.
type Bar struct {
	Label string // what is drawn, for those who do not see it
	Parts []Part
	Whole int64 // of which it shows the share; 0 for the sum of Parts
}

// Chart is an interactive chart, on the page. Its blocks stand for it in print, without scripts and in text.
type Chart struct {
	ID, Caption string
	Rows        int // by which its height goes; 0 for the usual height
	Blocks      []Block
}

// Matrix is a table, on the page, of how often each P stole from each other one.
type Matrix struct {
	Caption string
	N       [][]int64 // steals, indexed by the thief's P, then the victim's
}

// Waterfall is a drawing of one unit of work over time: a lane for its own goroutine, and one
// for each class that it waited for.
type Waterfall struct {
	Title        string
	Href         string // to it in the timeline
	FromNs, ToNs int64  // beginning and end of the unit, ns of the trace
	G            int64  // goroutine of the unit
	Lanes        []Lane
	More         int // classes that share the last lane
}

// Flame marks the place of the flame graph on the page, of which there is one.
type Flame struct{}

// Lane is what one goroutine, or the goroutines of a class, did over time, as a row of a
// [Waterfall].
type Lane struct {
	Name  string // of the class; empty if it is not known
	Spans []Span
}

// Span is what was done on a [Lane] from FromNs to ToNs, in ns of the trace. Key is its
// colour, Title what it was.
type Span struct {
	FromNs, ToNs int64
	Key, Title   string
}

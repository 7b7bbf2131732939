// Package report answers: how does a person see it? It makes one versioned [Document] from a
// result; the writers for HTML, text, Markdown and JSON render that and nothing else.
//
// The same analysis gives the same bytes. Strings from a trace, which may be hostile, are
// made harmless on their way out. Package gmpscope says what is stable, and docs/json.md
// describes the JSON, whose version is [Schema].
//
//  1. [Build] puts into words what package [github.com/gmpscope/gmpscope/analyze/diagnosis]
//     decides: document.go, verdict.go.
//  2. [WriteText] and [WriteJSON] write it for people and programs; package
//     [github.com/gmpscope/gmpscope/report/html] writes the page. [WriteBench] and
//     [WriteOpenMetrics] write the numbers for benchstat and for Prometheus.
//  3. [Dump] writes single decisions, beside the document, for
//     analyze.Options.OnDecision.
//  4. [WriteDiffText] and [WriteDiffJSON] write a comparison, [WriteReplayText] and
//     [WriteReplayJSON] a replay, and [NewCheck] makes a gate of findings and budgets.
package report

import (
	"cmp"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/diagnosis"
	"github.com/gmpscope/gmpscope/docs/schema"
	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/replay"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// Schema is the version of the JSON that the writers of this package write, its key "schema".
const Schema = schema.Version

// Document is a finished analysis, ready to be rendered. Its JSON is what [WriteJSON]
// writes, which docs/json.md describes, and not that of encoding/json.
type Document struct {
	Schema  int             // version of the JSON: the constant Schema
	Tool    string          // gmpscope and its version
	Verdict Verdict         // what is said first
	Result  *analyze.Result // the analysis
	// Split compares the waiting with simulated schedulers; nil if not requested, or
	// impossible for the trace.
	Split *replay.Decomposition

	names     *words.Names
	diagnosis *diagnosis.Diagnosis
}

// Verdict is what a [Document] says first: whether there is trouble, how bad it is, and what
// to try.
type Verdict struct {
	// Status is the severity of the trouble: "note", "warning" or "critical"; "ok" if there is none.
	Status string
	// Label is kind and degree of the trouble: "Scheduling delays: warning".
	Label string
	// Headline is the answer in some 90 characters.
	Headline string
	// Finding is the index in Result.Findings of the subject of the headline; -1 if none.
	Finding int
	// Blocking reports whether it is about what goroutines were blocked on, not about waits for a P.
	Blocking bool
	// Detail is the headline in full, and Try what to do first; both are among the Lines.
	// Either may be empty.
	Detail, Try string
	// Lines are sentences: the headline in full, what to try first, as what kind of program it was judged, what the waiting was
	// for, who suffers, who runs meanwhile, how sure this is. What is not known is left out.
	Lines []string
}

// Build returns the document of a result. tool is named in it: gmpscope with its version, or the program that
// embeds it; "" means "gmpscope". The document retains r, which must not change afterwards.
func Build(r *analyze.Result, tool string) *Document {
	tool = cmp.Or(tool, "gmpscope")
	d := &Document{Schema: Schema, Tool: tool, Result: r, diagnosis: diagnosis.Diagnose(r)}
	if r != nil {
		d.names = words.NewNames(words.ClassesOf(r), false)
	}
	d.phrase()
	return d
}

// ShowFullNames makes text, page and verdict use full names of functions, with the paths
// of their packages, instead of the shortest unique names.
func (d *Document) ShowFullNames() {
	d.names = d.names.Full()
	d.phrase()
}

// phrase puts the verdict into words.
func (d *Document) phrase() {
	w := wording{d.diagnosis, d.Result, d.names}
	d.Verdict = w.verdict()
}

// Names returns the names of functions in the document; nil for a nil document.
func (d *Document) Names() *words.Names {
	if d == nil {
		return nil
	}
	return d.names
}

// Sections returns what stands below the verdict, in order; some may be nil. The page has the timeline between
// the first ones and the further ones. link is that of [WorkSection].
func Sections(d *Document, link string) (first, further []*doc.Section) {
	r, names := d.Result, d.Names()
	return []*doc.Section{WorkSection(r, names, link), FindingsSection(d), WaitingSection(r), LongestSection(r, names), ProcessorsSection(r), MachineSection(r)},
		[]*doc.Section{GroupsSection(r, names), StatesSection(r), StacksSection(r, names), FairnessSection(r), SplitSection(d.Split), TraceSection(r)}
}

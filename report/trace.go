package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/diagnosis"
	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

const (
	maxWarnings = 20
	maxPhases   = 6 // values of GOMAXPROCS
)

// TraceSection returns the section about the trace, and how sure the result is.
func TraceSection(r *analyze.Result) *doc.Section {
	s := &doc.Section{ID: "trace", Title: "The trace"}
	if ws := r.Trace.Warnings; len(ws) > 0 {
		s.Blocks = append(s.Blocks, doc.Warning{Title: "What to keep in mind", Items: warnings(ws)})
	}
	s.Blocks = append(append(s.Blocks, TraceFacts(r)), rebuilt(r)...)
	return s
}

// warnings are the first of some warnings, and how many more there are.
func warnings(ws []string) []string { return words.First(ws, maxWarnings, 800, "… and %d more.") }

// TraceFacts returns what is known of the trace itself, such as its duration, as terms and
// their values.
func TraceFacts(r *analyze.Result) (facts doc.Facts) {
	t := &r.Trace
	add := func(term, value, note string) {
		if value != "" {
			facts = append(facts, doc.Fact{Term: term, Value: doc.Cell{Text: words.Visible(value), Note: words.Visible(note)}})
		}
	}
	for _, name := range []struct{ term, name string }{{"name", t.Name}, {"program", t.Program}} {
		if name.name != "" {
			facts = append(facts, doc.Fact{Term: name.term, Value: doc.Cell{Name: name.name, Plain: true}})
		}
	}
	add("Go", t.GoVersion, "trace format "+t.Format)
	release, how := words.Rules(t.Rules)
	add("rules", release, how)
	add("recorded", t.Wall, "")
	note := ""
	if t.LostNs > 0 {
		note = quantity.Duration(t.LostNs) + " of it was not recorded and is excluded from all shares"
	}
	add("duration", quantity.Duration(t.DurationNs), note)
	if f := r.Focus; f != nil {
		window, only := words.Focus(f)
		add("window", window, "waits, findings and pictures are about it")
		add("only", only, "waits, groups and findings are about these")
	}
	note = ""
	if n := len(r.Procs.Procs); n > 1 {
		var phases []string
		for _, p := range r.Procs.Procs[:min(n, maxPhases)] {
			phases = append(phases, fmt.Sprintf("%s from %s", quantity.Count(int64(p.N)), quantity.Instant(p.AtNs)))
		}
		if n -= maxPhases; n > 0 {
			phases = append(phases, quantity.Plural(int64(n), "more change", "more changes"))
		}
		note = "at most: " + strings.Join(phases, ", ")
	}
	add("GOMAXPROCS", quantity.Count(int64(t.GOMAXPROCS)), note)
	if used, of := r.Procs.InUse(); of > 0 {
		add("in use", quantity.Part(used, of), "of CPU capacity: Ps × time")
	}
	if t.CPUs > 0 {
		add("CPUs", quantity.Number(t.CPUs), "that the process had, by --cpus")
	}
	if m := t.Sidecar; m != nil {
		add("beside it", strings.Join(beside(m), ", "), "")
	}
	content := []string{quantity.Plural(t.Events, "event", "events"), quantity.Plural(t.Goroutines, "goroutine", "goroutines")}
	for _, e := range []struct {
		n         int64
		one, many string
	}{
		{t.Threads, "thread", "threads"}, {int64(t.Generations), "generation", "generations"}, {t.Samples, "CPU sample", "CPU samples"},
		{t.Tasks, "task", "tasks"}, {t.Regions, "region", "regions"}, {t.Logs, "log message", "log messages"},
	} {
		if e.n > 0 {
			content = append(content, quantity.Plural(e.n, e.one, e.many))
		}
	}
	add("holds", strings.Join(content, ", "), "")
	note = ""
	if t.Compression != "" {
		note = "was compressed with " + t.Compression
	}
	add("size", quantity.Size(t.Bytes), note)
	switch {
	case t.LostBytes > 0:
		add("lost", quantity.Size(t.LostBytes), quantity.Part(t.LostBytes, t.Bytes)+" of the trace could not be read")
	case t.Interrupted:
		add("lost", "unknown", "the analysis was interrupted: it is about a beginning of the trace")
	case t.Incomplete:
		add("lost", "unknown", "the trace stops short: its last part was never written")
	}
	if r.Focus == nil {
		add("tracer", quantity.Part(t.TracerNs, r.PTime()), "of CPU capacity went to its own goroutines")
	}
	return facts
}

// rebuilt reports how far the queues can be believed.
func rebuilt(r *analyze.Result) []doc.Block {
	c := &r.Reconstruction
	if r.Trace.Reduced {
		return []doc.Block{doc.Para{Text: "This old format (Go 1.21 or before) shows neither threads nor retakes: run queues were not rebuilt, and steals and handoffs are left out. Times of waiting are exact."}}
	}
	if c.Starts == 0 {
		return nil
	}
	s := fmt.Sprintf("How sure: a trace does not record run queues; they are rebuilt by the rules of the scheduler. Of %s, one rule explains %s; for %s several fit, or the model had to be corrected; %s remain unexplained.",
		quantity.Plural(c.Starts, "start", "starts"), quantity.Part(c.Explained, c.Starts), quantity.Part(c.Ambiguous, c.Starts), quantity.Part(c.Unexplained, c.Starts))
	if e := c.EitherTick(); e > 0 {
		s += " " + words.EitherTick(e, c.Starts, r.Trace.Rules)
	}
	switch u := quantity.Ratio(c.Unexplained, c.Starts); {
	case u > diagnosis.MostUnsure:
		s += " That is a lot: take queue lengths, steals and causes as indications."
	case u > diagnosis.ManyUnsure:
		s += " Queue lengths and steals are a little less certain than the times, which come straight from the trace."
	default:
		s += " Times of waiting come straight from the trace and need no model."
	}
	table := doc.Table{Columns: []doc.Column{{Title: "started from", Left: true}, {Title: "which is", Left: true, Where: doc.Page}, {Title: "starts"}, {Title: "share"}}}
	for _, source := range slices.SortedFunc(maps.Keys(c.BySource), func(a, b string) int { return cmp.Or(cmp.Compare(c.BySource[b], c.BySource[a]), cmp.Compare(a, b)) }) {
		if n := c.BySource[source]; n > 0 {
			table.Rows = append(table.Rows, doc.Row{Cells: []doc.Cell{{Text: words.Visible(source), Term: doc.Term{string(vocabulary.Source), source}}, {Text: words.Meaning(vocabulary.Source, source)}, doc.Count(n), doc.Share(n, c.Starts)}})
		}
	}
	return []doc.Block{doc.Para{Text: s}, doc.Fold{Title: "Where started goroutines came from", Blocks: []doc.Block{table}, Where: doc.Page}}
}

package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/sidecar"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/replay"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

var severityStyle = map[findings.Severity]style{findings.Note: blue, findings.Warning: yellow, findings.Critical: red}

func (t *text) findings(r *analyze.Result, split *replay.Decomposition) {
	t.head("Findings")
	if len(r.Findings) == 0 {
		t.line("  None.")
	}
	for _, d := range r.Doubts {
		t.para(2, fmt.Sprintf("Low confidence (%s): %s", words.Doubt(d.ID), t.names.Prose(d.Text)))
		t.line("")
	}
	var brief []findings.Finding
	for i, f := range r.Findings {
		if !t.o.AllFindings && (i >= textFindings || f.Severity == findings.Note) {
			brief = append(brief, f)
			continue
		}
		if i > 0 {
			t.line("")
		}
		t.finding(r, f)
		t.gain(split, i)
	}
	if len(brief) > 0 {
		if len(brief) < len(r.Findings) {
			t.line("")
		}
		t.line("  In brief (--full findings shows their evidence):")
		for i := range brief {
			t.brief(&brief[i])
		}
	}
	t.suppressed(r.Suppressed)
	if n := len(r.Detectors); n > 0 {
		var quiet, configured []string
		for _, d := range r.Detectors {
			if d.Found == 0 {
				quiet = append(quiet, words.Visible(d.ID))
			}
			if d.Configured {
				configured = append(configured, words.Visible(d.ID))
			}
		}
		t.line("")
		s := fmt.Sprintf("%s ran", quantity.Plural(int64(n), "detector", "detectors"))
		if len(quiet) > 0 {
			s += "; nothing was found by " + strings.Join(quiet, ", ")
		}
		s += "."
		if len(configured) > 0 {
			s += " The configuration sets thresholds of " + strings.Join(configured, ", ") + "."
		}
		t.para(2, s)
	}
}

// brief is a finding in a line.
func (t *text) brief(f *findings.Finding) {
	s := fmt.Sprintf("%s %s", words.Visible(string(f.Severity)), words.Visible(f.ID))
	if f.CostNs > 0 {
		s += ", costs " + quantity.Duration(f.CostNs)
	}
	t.hang("  - ", 4, s+": "+ended(words.Cut(t.names.Prose(f.Title), 300)))
}

// suppressed names the findings that the configuration accepts.
func (t *text) suppressed(list []findings.Suppressed) {
	line, items := t.names.Suppressed(list)
	if line == "" {
		return
	}
	t.line("")
	t.para(2, line)
	for _, s := range items {
		t.hang("  - ", 4, s)
	}
}

func (t *text) finding(r *analyze.Result, f findings.Finding) {
	head := fmt.Sprintf("%s  %s", t.in(severityStyle[f.Severity], words.Visible(string(f.Severity))), t.in(bold, words.Visible(f.ID)))
	if f.CostNs > 0 {
		head += "  costs " + quantity.Duration(f.CostNs)
		if part := words.CostPart(&f); part != "" {
			head += " (" + part + ")"
		}
	}
	if len(f.Doubts) > 0 {
		head += "  low confidence: " + words.Doubts(f.Doubts)
	}
	t.line("  " + head)
	t.para(4, ended(words.Cut(t.names.Prose(f.Title), 600)))
	tb := newTable("evidence", "value", "threshold")
	for _, e := range f.Evidence {
		limit := e.Limit
		if limit == "" {
			limit = "-"
		}
		tb.add(t.names.Cut(t.names.Prose(e.What), 46), words.Cut(words.Visible(e.Value), 20), words.Cut(words.Visible(limit), 24))
	}
	if len(tb.rows) > 0 {
		t.table(4, tb)
	}
	for i, a := range f.Actors {
		if i == 4 {
			t.line(fmt.Sprintf("    … and %s", quantity.Plural(int64(len(f.Actors)-i), "more", "more")))
			break
		}
		t.para(4, t.actor(a))
		if s := t.names.Stopped(r, &a); s != "" {
			t.para(6, s)
		}
	}
	if f.ToNs > f.FromNs {
		from, to := quantity.Window(f.FromNs, f.ToNs)
		t.para(4, fmt.Sprintf("when: %s to %s; how it is known: %s", from, to, words.Basis(f.Basis)))
	} else if f.Basis != "" {
		t.para(4, "how it is known: "+words.Basis(f.Basis))
	}
	for _, a := range f.Advice {
		t.hang("    > ", 6, t.names.Prose(a))
	}
}

func (t *text) actor(a findings.Actor) string {
	s := words.Visible(a.Role) + ":"
	if a.Class != "" {
		s += " " + t.names.Class(a.Class)
	}
	if a.G > 0 {
		s += fmt.Sprintf(" goroutine %d", a.G)
	}
	if a.Class == "" && a.G == 0 && a.P != nil {
		s += fmt.Sprintf(" P%d", *a.P)
	}
	if a.Creator != "" {
		s += ", created by " + t.names.Class(a.Creator)
	}
	if len(a.Stack) > 0 {
		s += ", in " + t.names.Class(a.Stack[0])
	}
	return s
}

func (t *text) elsewhere(r *analyze.Result) {
	t.head("Export")
	for _, x := range words.Exports(r) {
		t.line("  " + x.Commands[0])
	}
}

// columns are what the vocabulary calls metrics over narrow columns.
func columns(names ...string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		t, _ := vocabulary.Lookup(vocabulary.Metric, name)
		out[i] = t.Column
	}
	return out
}

// beside reports what the file beside the trace holds.
func beside(m *sidecar.Meta) (out []string) {
	if q := m.Quota; q != nil {
		c := q.Counted()
		out = append(out, fmt.Sprintf("a CPU quota of %s, used up in %s of %s", quantity.Amount(q.CPUs, "CPU", "CPUs"), quantity.Count(c.Throttled), quantity.Plural(c.Periods, "period", "periods")))
	}
	if m.CPUs > 0 {
		out = append(out, quantity.Plural(int64(m.CPUs), "CPU", "CPUs")+" allowed")
	}
	if m.MemoryMax > 0 {
		out = append(out, "at most "+quantity.Size(m.MemoryMax))
	}
	if b := m.Build; b != nil {
		out = append(out, strings.TrimSpace(b.Module+" "+b.Version+" "+b.Revision))
	}
	if r := m.Request; r != nil {
		took := fmt.Sprintf("%s took %s of the %s that it may", cmp.Or(r.Name, "a request"), quantity.Duration(r.Ns), quantity.Duration(r.LimitNs))
		if r.TraceID != "" {
			took += ", trace ID " + r.TraceID
		}
		out = append(out, took)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Labels)) {
		out = append(out, name+"="+m.Labels[name])
	}
	return out
}

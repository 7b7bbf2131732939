package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/sidecar"
	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// finding writes a finding in full.
func (t *text) finding(f *doc.Finding) {
	head := fmt.Sprintf("%s  %s", t.in(statusStyle[f.Severity], f.Severity), t.in(bold, f.ID))
	if f.Cost != "" {
		head += "  costs " + f.Cost
		if f.Part != "" {
			head += " (" + f.Part + ")"
		}
	}
	if f.Doubts != "" {
		head += "  low confidence: " + f.Doubts
	}
	t.line("  " + head)
	t.para(4, f.Title)
	tb := newTable("evidence", "value", "threshold")
	for _, e := range f.Evidence {
		tb.add(t.names.Cut(e[0], 46), words.Cut(e[1], 20), words.Cut(cmp.Or(e[2], "-"), 24))
	}
	if len(tb.rows) > 0 {
		t.table(4, tb)
	}
	for i := range f.Actors {
		if i == 4 {
			t.line(fmt.Sprintf("    … and %s", quantity.Plural(int64(len(f.Actors)+f.MoreActors-i), "more", "more")))
			break
		}
		t.para(4, t.actor(&f.Actors[i]))
		if s := f.Actors[i].Stopped; s != "" {
			t.para(6, s)
		}
	}
	if f.When != "" {
		t.para(4, fmt.Sprintf("when: %s; how it is known: %s", f.When, f.Basis))
	} else if f.Basis != "" {
		t.para(4, "how it is known: "+f.Basis)
	}
	for _, a := range f.Advice {
		t.hang("    > ", 6, a.String())
	}
	for _, l := range f.Gain {
		t.hang("    = ", 6, l)
	}
}

// brief writes a finding in a line.
func (t *text) brief(f *doc.Finding) {
	s := f.Severity + " " + f.ID
	if f.Cost != "" {
		s += ", costs " + f.Cost
	}
	t.hang("  - ", 4, s+": "+words.Ended(words.Cut(f.Title, 300)))
}

func (t *text) outcomes(b *doc.Outcomes) {
	list := b.List
	if b.Most > 0 {
		list = list[:min(len(list), b.Most)]
	}
	for _, x := range list {
		of := ""
		if x.Class != "" {
			of = " of " + t.names.Shortened(x.Class, 60)
		}
		t.hang("  "+t.in(bold, fmt.Sprintf("%-6s", x.Change))+"  ", 10, fmt.Sprintf("%s %s%s: %s; cost %s", x.Severity, t.in(bold, x.ID), of, x.Where, x.Cost))
		for _, l := range x.Titles {
			t.para(10, l)
		}
		if x.Command != "" {
			t.line("          " + x.Command)
		}
	}
	t.more(len(b.List)-len(list)+b.More, "more", "more")
}

func (t *text) actor(a *doc.Actor) string {
	s := a.Role + ":"
	if a.Class != "" {
		s += " " + t.names.Class(a.Class)
	}
	if a.Where != "" {
		s += " " + a.Where
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

package mcptools

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/focus"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report"
)

type openOut struct {
	Program    string   `json:"program,omitempty" jsonschema:"guessed from main.main, or the tested package"`
	Format     string   `json:"format"`
	Rules      string   `json:"rules" jsonschema:"of which Go release the rules of the scheduler were applied"`
	Duration   string   `json:"duration"`
	GOMAXPROCS int      `json:"gomaxprocs"`
	CPUs       float64  `json:"cpus,omitempty" jsonschema:"that the process had; absent if not known"`
	Events     int64    `json:"events"`
	Goroutines int64    `json:"goroutines"`
	Recorded   string   `json:"recorded,omitempty" jsonschema:"when, by the wall clock"`
	Queues     string   `json:"queues" jsonschema:"how far run queues, which no trace holds, could be rebuilt"`
	Missing    []string `json:"missing,omitempty" jsonschema:"what of the trace is missing or odd"`
	Holds      []holds  `json:"holds"`
}

// holds is something that a trace may hold, and the tool for it.
type holds struct {
	What  string `json:"what"`
	Count int64  `json:"count"`
	Basis string `json:"basis"`
	Tool  string `json:"tool,omitempty"`
}

func (s *Server) open(ctx context.Context, in trace) (out openOut, err error) {
	a, err := s.analyze(ctx, in.Trace, focus.Focus{})
	if err != nil {
		return out, err
	}
	r := a.doc.Result
	t := &r.Trace
	out = openOut{
		Program: marked(t.Program), Format: t.Format, Rules: "Go " + t.Rules.GoVersion, Duration: quantity.Duration(t.DurationNs), GOMAXPROCS: t.GOMAXPROCS,
		CPUs: t.CPUs, Events: t.Events, Goroutines: t.Goroutines, Recorded: t.Wall, Missing: a.sentences(t.Warnings[:min(len(t.Warnings), 10)]),
	}
	if c := r.Reconstruction; t.Reduced {
		out.Queues = "not at all: the trace is of Go 1.21 or older; waits are measured all the same"
	} else {
		out.Queues = fmt.Sprintf("no rule explains %s of %s starts; below 1 %% queues and steals can be believed, above 5 %% they are hints", quantity.Part(c.Unexplained, c.Starts), quantity.Count(c.Starts))
	}
	kinds, units := unitsOf(r)
	out.Holds = []holds{
		{"findings", int64(len(r.Findings)), "each has its own", "verdict"},
		{fmt.Sprintf("units of work, of %d kinds", kinds), units, "each kind has its own", "work"},
		{"finished waits for a P, of the program", r.Waits.User.Count, "observed", "waits"},
		{"tasks (runtime/trace.NewTask)", t.Tasks, "observed", "work"},
		{"CPU samples", t.Samples, "observed", ""},
	}
	return out, nil
}

// unitsOf counts the kinds of units of work, and the units.
func unitsOf(r *analyze.Result) (kinds int, units int64) {
	list := report.WorkKinds(&r.Work)
	for _, k := range list {
		units += k.Count
	}
	return len(list), units
}

type verdictOut struct {
	Status   string       `json:"status" jsonschema:"ok, note, warning or critical"`
	Headline string       `json:"headline"`
	Basis    string       `json:"basis" jsonschema:"of the finding that leads; observed if none does"`
	Lines    []string     `json:"lines" jsonschema:"who suffers, who causes it, what to try first, how sure that is"`
	Findings []findingRow `json:"findings" jsonschema:"by rank"`
	Doubts   []string     `json:"doubts,omitempty" jsonschema:"what holds for the whole trace and makes findings milder"`
	More     int          `json:"more_findings,omitempty"`
}

type findingRow struct {
	ID        string   `json:"id"`
	Severity  string   `json:"severity"`
	Basis     string   `json:"basis"`
	Headline  string   `json:"headline"`
	Cost      string   `json:"cost" jsonschema:"goroutine-time lost, and of what it is a part"`
	SymptomOf []string `json:"symptom_of,omitempty"`
}

const mostFindings = 10

func (s *Server) verdict(ctx context.Context, in scope) (out verdictOut, err error) {
	f, err := in.focus()
	if err != nil {
		return out, err
	}
	a, err := s.analyze(ctx, in.Trace, f)
	if err != nil {
		return out, err
	}
	r, v := a.doc.Result, a.doc.Verdict
	out = verdictOut{Status: v.Status, Headline: a.sentence(v.Headline), Basis: "observed", Lines: a.sentences(v.Lines), Findings: []findingRow{}}
	if v.Finding >= 0 {
		out.Basis = r.Findings[v.Finding].Basis
	}
	n := min(len(r.Findings), mostFindings)
	for i := range r.Findings[:n] {
		out.Findings = append(out.Findings, a.row(&r.Findings[i]))
	}
	out.More = len(r.Findings) - n
	for _, d := range r.Doubts {
		out.Doubts = append(out.Doubts, a.sentence(d.Text))
	}
	return out, nil
}

func (m *marker) row(f *findings.Finding) findingRow {
	cost := quantity.Duration(f.CostNs) + " of " + quantity.Duration(f.WholeNs) + " " + string(f.CostOf)
	return findingRow{f.ID, string(f.Severity), f.Basis, m.finding(f.Headline), cost, f.SymptomOf}
}

type findingIn struct {
	trace
	ID     string `json:"id" jsonschema:"as verdict has it"`
	Offset int    `json:"offset,omitempty" jsonschema:"the next of an answer, if there are several with that ID"`
}

type findingOut struct {
	Findings []findingDetail `json:"findings"`
	page
}

type findingDetail struct {
	findingRow
	Title    string   `json:"title"`
	From     string   `json:"from" jsonschema:"beginning of the window in which it shows worst"`
	To       string   `json:"to"`
	Evidence []string `json:"evidence" jsonschema:"measured, each with its threshold"`
	Actors   []actor  `json:"actors"`
	Advice   []string `json:"advice"`
	Doubts   []string `json:"doubts,omitempty"`
}

type actor struct {
	Role      string   `json:"role" jsonschema:"victim: waited; cause: made others wait"`
	Class     string   `json:"class,omitempty" jsonschema:"start function"`
	Creator   string   `json:"created_by,omitempty"`
	Goroutine int64    `json:"goroutine,omitempty"`
	P         *int32   `json:"p,omitempty"`
	Stack     []string `json:"stack,omitempty" jsonschema:"innermost first"`
}

const (
	mostActors = 8
	mostFrames = 8
)

func (s *Server) finding(ctx context.Context, in findingIn) (out findingOut, err error) {
	a, err := s.analyze(ctx, in.Trace, focus.Focus{})
	if err != nil {
		return out, err
	}
	var list []findingDetail
	var ids []string
	for i := range a.doc.Result.Findings {
		x := &a.doc.Result.Findings[i]
		if ids = append(ids, x.ID); x.ID != in.ID {
			continue
		}
		d := findingDetail{
			findingRow: a.row(x), Title: a.finding(x.Title), From: instantOf(x.FromNs), To: instantOf(x.ToNs), Advice: mapped(x.Advice, a.finding), Actors: []actor{},
		}
		for _, e := range x.Evidence {
			line := findings.Say("%s: %s", e.What, e.Value)
			if len(e.Limit) > 0 {
				line = findings.Say("%s (threshold: %s)", line, e.Limit)
			}
			d.Evidence = append(d.Evidence, a.finding(line))
		}
		for _, who := range x.Actors[:min(len(x.Actors), mostActors)] {
			d.Actors = append(d.Actors, actor{who.Role, a.class(who.Class), a.class(who.Creator), who.G, who.P, mapped(who.Stack[:min(len(who.Stack), mostFrames)], marked)})
		}
		for _, of := range a.doc.Result.Doubts {
			if slices.Contains(x.Doubts, of.ID) {
				d.Doubts = append(d.Doubts, a.sentence(of.Text))
			}
		}
		list = append(list, d)
	}
	if len(list) == 0 {
		slices.Sort(ids)
		return out, fmt.Errorf("there is no finding %q in it; there are %q", in.ID, slices.Compact(ids))
	}
	out.Findings, out.page, err = paged(list, in.Offset, maxAnswer)
	return out, err
}

// instantOf is an instant as the tools take it: exact to the µs.
func instantOf(ns int64) string { return fmt.Sprintf("%d.%06ds", ns/1e9, ns%1e9/1e3) }

type workIn struct {
	scope
	Offset int `json:"offset,omitempty" jsonschema:"the next of an answer"`
}

type workOut struct {
	Kinds  []kind `json:"kinds" jsonschema:"those that begin from outside first, then by time"`
	Reason string `json:"reason,omitempty" jsonschema:"why there is none"`
	page
	Lines []line `json:"lines,omitempty" jsonschema:"locks and pools for which goroutines stand in line, with who holds them"`
}

type kind struct {
	Kind        string   `json:"kind" jsonschema:"its name for slow_units"`
	Basis       string   `json:"basis"`
	FoundBy     string   `json:"found_by"`
	Entry       bool     `json:"entry,omitempty" jsonschema:"begins from outside; others are parts of units"`
	Count       int64    `json:"count"`
	PerS        string   `json:"per_s"`
	P50         string   `json:"p50"`
	P99         string   `json:"p99"`
	Max         string   `json:"max"`
	Slow        string   `json:"slow,omitempty"`
	Because     []string `json:"because,omitempty"`
	Alternative string   `json:"alternative,omitempty"`
}

type line struct {
	Where   string   `json:"where"`
	What    string   `json:"what"`
	Waited  string   `json:"waited"`
	Holders []string `json:"holders" jsonschema:"inferred from who ends waits"`
}

func (s *Server) work(ctx context.Context, in workIn) (out workOut, err error) {
	f, err := in.focus()
	if err != nil {
		return out, err
	}
	a, err := s.analyze(ctx, in.Trace, f)
	if err != nil {
		return out, err
	}
	w := &a.doc.Result.Work
	list := []kind{}
	for _, k := range report.WorkKinds(w) {
		l := &k.Latency
		x := kind{
			Kind: a.kindName(k), Basis: k.Basis, FoundBy: k.How, Entry: k.Entry, Count: k.Count, PerS: quantity.Number(k.PerS),
			P50: quantity.Duration(l.P50Ns), P99: quantity.Duration(l.P99Ns), Max: quantity.Duration(l.MaxNs), Alternative: k.Alternative,
		}
		if k.Entry {
			lead, items := report.SlowInWords(a.doc.Names(), k)
			x.Slow, x.Because = a.sentence(lead), a.sentences(items)
		}
		list = append(list, x)
	}
	if out.Kinds, out.page, err = paged(list, in.Offset, maxAnswer*3/4); err != nil {
		return out, err
	}
	if len(list) == 0 {
		out.Reason = cmp.Or(w.Reason, "too few of any kind")
	}
	if in.Offset == 0 {
		for _, x := range w.Resources[:min(len(w.Resources), 5)] {
			l := line{a.class(x.Site), x.What, fmt.Sprintf("%s in %s waits", quantity.Duration(x.WaitNs), quantity.Count(x.Waits)), []string{}}
			for _, h := range x.Holders[:min(len(x.Holders), 3)] {
				l.Holders = append(l.Holders, a.class(h.Who)+" for "+quantity.Duration(h.Ns))
			}
			out.Lines = append(out.Lines, l)
		}
	}
	return out, nil
}

// kindName is what a kind is called: the argument of tools.
func (m *marker) kindName(k *work.UnitKind) string { return marked(report.KindName(m.doc.Names(), k)) }

type slowIn struct {
	trace
	Kind   string `json:"kind" jsonschema:"as work has it"`
	Offset int    `json:"offset,omitempty" jsonschema:"the next of an answer"`
}

type slowOut struct {
	Basis   string  `json:"basis"`
	Slowest []unit  `json:"slowest"`
	Parts   []share `json:"parts" jsonschema:"what a unit's time consists of; typical: mean between p40 and p60; slow: mean above p95; largest difference first"`
	page
}

type unit struct {
	Unit      int      `json:"unit" jsonschema:"its number for unit_path"`
	Goroutine int64    `json:"goroutine"`
	From      string   `json:"from"`
	To        string   `json:"to"`
	Took      string   `json:"took"`
	Most      string   `json:"most" jsonschema:"its longest part"`
	Logs      []string `json:"logs,omitempty" jsonschema:"what the program logged for its task"`
}

type share struct {
	Part    string `json:"part"`
	Typical string `json:"typical"`
	Slow    string `json:"slow"`
}

func (s *Server) kind(ctx context.Context, name, of string) (*analysis, *work.UnitKind, error) {
	a, err := s.analyze(ctx, name, focus.Focus{})
	if err != nil {
		return nil, nil, err
	}
	var known []string
	kinds := report.WorkKinds(&a.doc.Result.Work)
	for _, k := range kinds {
		shownAs := a.kindName(k)
		if of == shownAs || of == k.Name || unmarked(of) == unmarked(shownAs) {
			return a, k, nil
		}
		known = append(known, shownAs)
	}
	return nil, nil, fmt.Errorf("there is no kind of units %q; there are, for example, %q", of, known[:min(len(known), 10)])
}

func (s *Server) slowUnits(ctx context.Context, in slowIn) (out slowOut, err error) {
	a, k, err := s.kind(ctx, in.Trace, in.Kind)
	if err != nil {
		return out, err
	}
	out.Basis, out.Slowest = k.Basis, []unit{}
	slowest := k.Slowest
	if in.Offset > 0 {
		slowest = nil // they were in the first answer
	}
	for i := range slowest {
		x := &slowest[i]
		u := unit{i, x.G, instantOf(x.BeginNs), instantOf(x.EndNs), quantity.Duration(x.EndNs - x.BeginNs), "", nil}
		var most *work.Segment
		for j := range x.Segments {
			if most == nil || x.Segments[j].Ns > most.Ns {
				most = &x.Segments[j]
			}
		}
		if most != nil {
			u.Most = quantity.Duration(most.Ns) + " " + a.part(most.Via, &most.Leaf)
		}
		for _, l := range x.Logs[:min(len(x.Logs), 3)] {
			u.Logs = append(u.Logs, marked(l.Text))
		}
		out.Slowest = append(out.Slowest, u)
	}
	parts := slices.Clone(k.Path)
	slices.SortStableFunc(parts, func(x, y work.TimePart) int {
		return cmp.Compare(max(y.SlowNs-y.TypicalNs, 0), max(x.SlowNs-x.TypicalNs, 0))
	})
	list := []share{}
	for i := range parts {
		p := &parts[i]
		list = append(list, share{a.part(p.Via, &p.Leaf), quantity.Duration(p.TypicalNs), quantity.Duration(p.SlowNs)})
	}
	out.Parts, out.page, err = paged(list, in.Offset, maxAnswer/2)
	return out, err
}

// part describes a part of the time of a unit.
func (m *marker) part(via *work.Via, l *work.Leaf) (text string) {
	text = l.What
	if l.Cause != "" {
		text += " (" + l.Cause + ")"
	}
	if l.Where != "" {
		text += " in " + m.class(l.Where)
	}
	if via == nil {
		return text
	}
	wait := "waits: " + via.What
	if via.Site != "" {
		wait += " in " + m.class(via.Site)
	}
	if l.Who != "" {
		text = m.class(l.Who) + ": " + text
	}
	return wait + "; meanwhile " + text
}

type pathIn struct {
	slowIn
	Unit int `json:"unit,omitempty" jsonschema:"as slow_units has it; 0 is the slowest"`
}

type pathOut struct {
	Basis    string    `json:"basis" jsonschema:"times are observed; who did what for it is inferred along wake-ups"`
	Segments []segment `json:"segments" jsonschema:"from begin to end"`
	page
}

type segment struct {
	At   string `json:"at"`
	For  string `json:"for"`
	What string `json:"what"`
}

func (s *Server) unitPath(ctx context.Context, in pathIn) (out pathOut, err error) {
	a, k, err := s.kind(ctx, in.Trace, in.Kind)
	if err != nil {
		return out, err
	}
	if in.Unit < 0 || in.Unit >= len(k.Slowest) {
		return out, fmt.Errorf("unit %d: the slowest %d are kept, from 0 on", in.Unit, len(k.Slowest))
	}
	x := &k.Slowest[in.Unit]
	at, list := x.BeginNs, []segment{}
	for i := range x.Segments {
		g := &x.Segments[i]
		list = append(list, segment{instantOf(at), quantity.Duration(g.Ns), a.part(g.Via, &g.Leaf)})
		at += g.Ns
	}
	out.Basis = "observed times; inferred causes"
	out.Segments, out.page, err = paged(list, in.Offset, maxAnswer)
	return out, err
}

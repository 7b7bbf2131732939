package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/fairness"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/sidecar"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/replay"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

func (t *text) trace(r *analyze.Result) {
	tr := r.Trace
	t.head("Trace")
	row := func(term, value string) {
		if value != "" {
			t.hang(fmt.Sprintf("  %-12s", term), 14, words.Visible(value))
		}
	}
	row("name", words.Cut(tr.Name, 400))
	row("program", words.Cut(tr.Program, 400))
	row("Go", tr.GoVersion+", trace format "+tr.Format)
	row("rules", words.AllRules([]analyze.RulesApplied{tr.Rules}))
	row("recorded", tr.Wall)
	length := quantity.Duration(tr.DurationNs)
	if tr.LostNs > 0 {
		length += ", of which " + quantity.Duration(tr.LostNs) + " were not recorded: no share is of them"
	}
	row("duration", length)
	if f := r.Focus; f != nil {
		window, only := words.Focus(f)
		row("window", window+"; what follows is about it")
		if only != "" {
			row("only", only+"; so are waits, classes and findings")
		}
	}
	ps := quantity.Count(int64(tr.GOMAXPROCS))
	if n := len(r.Procs.Procs); n > 1 {
		var parts []string
		for i, p := range r.Procs.Procs {
			if i == 6 {
				parts = append(parts, quantity.Plural(int64(n-i), "more change", "more changes"))
				break
			}
			parts = append(parts, fmt.Sprintf("%s from %s", quantity.Count(int64(p.N)), quantity.Instant(p.AtNs)))
		}
		ps += " at most: " + strings.Join(parts, ", ")
	}
	row("GOMAXPROCS", ps)
	if used, of := r.Procs.InUse(); of > 0 {
		row("in use", quantity.Part(used, of)+" of all P-time")
	}
	if tr.CPUs > 0 {
		row("CPUs", "the process had "+quantity.Amount(tr.CPUs, "CPU", "CPUs")+" (as told)")
	}
	if m := tr.Sidecar; m != nil {
		row("beside it", strings.Join(beside(m), ", "))
	}
	content := []string{
		quantity.Plural(tr.Events, "event", "events"),
		quantity.Plural(tr.Goroutines, "goroutine", "goroutines"),
	}
	for _, e := range []struct {
		n         int64
		one, many string
	}{
		{tr.Threads, "thread", "threads"}, {int64(tr.Generations), "generation", "generations"}, {tr.Samples, "CPU sample", "CPU samples"},
		{tr.Tasks, "task", "tasks"}, {tr.Regions, "region", "regions"}, {tr.Logs, "log message", "log messages"},
	} {
		if e.n > 0 {
			content = append(content, quantity.Plural(e.n, e.one, e.many))
		}
	}
	row("holds", strings.Join(content, ", "))
	sz := quantity.Size(tr.Bytes)
	if tr.Compression != "" {
		sz += " (was compressed with " + tr.Compression + ")"
	}
	if tr.LostBytes > 0 {
		sz += fmt.Sprintf("; %s could not be read (%s)", quantity.Size(tr.LostBytes), quantity.Part(tr.LostBytes, tr.Bytes))
	}
	row("size", sz)
	if r.Focus == nil {
		row("tracer", fmt.Sprintf("its own goroutines took %s of all P-time", quantity.Part(tr.TracerNs, r.PTime())))
	}
	if tr.Reduced {
		row("reduced", "this old format (Go 1.21 or before) shows neither threads nor retakes; queues, steals and handoffs are left out, times of waiting are exact")
	}
}

var severityStyle = map[findings.Severity]style{findings.Note: blue, findings.Warning: yellow, findings.Critical: red}

func (t *text) findings(r *analyze.Result, split *replay.Decomposition) {
	t.head("Findings")
	if len(r.Findings) == 0 {
		t.line("  None.")
	}
	for _, d := range r.Doubts {
		t.para(2, fmt.Sprintf("In doubt (%s): %s", words.Doubt(d.ID), t.names.Prose(d.Text)))
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
		t.line("  In brief (--all-findings shows their evidence):")
		for _, f := range brief {
			s := fmt.Sprintf("%s %s", words.Visible(string(f.Severity)), words.Visible(f.ID))
			if f.CostNs > 0 {
				s += ", costs " + quantity.Duration(f.CostNs)
			}
			t.hang("  - ", 4, s+": "+ended(words.Cut(t.names.Prose(f.Title), 300)))
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
		head += "  in doubt: " + words.Doubts(f.Doubts)
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

func (t *text) waiting(r *analyze.Result) {
	w := r.Waits
	t.head("Where the waiting went")
	if w.All.Count == 0 {
		t.line("  Nothing waited.")
		return
	}
	cause := newTable("cause", "program", "share", "Gosched", "runtime")
	for _, c := range waits.Causes() {
		un, sn, yn := waits.CauseNs(w.User.Causes, c), waits.CauseNs(w.Self.Causes, c), waits.CauseNs(w.System.Causes, c)
		if un+sn+yn == 0 {
			continue
		}
		cause.add(fmt.Sprintf("%s (%s)", words.Cause(c), c), quantity.Duration(un), quantity.Part(un, w.User.TotalNs), quantity.Duration(sn), quantity.Duration(yn))
	}
	cause.add("all", quantity.Duration(w.User.TotalNs), quantity.Part(w.User.TotalNs, w.User.TotalNs), quantity.Duration(w.Self.TotalNs), quantity.Duration(w.System.TotalNs))
	t.table(2, cause)
	t.line("")
	q := newTable("wait", "program", "Gosched", "runtime", "all")
	sums := []waits.Summary{w.User, w.Self, w.System, w.All}
	quantile := func(label string, f func(waits.Summary) string) {
		cells := []string{label}
		for _, s := range sums {
			if s.Count == 0 {
				cells = append(cells, "-")
				continue
			}
			cells = append(cells, f(s))
		}
		q.add(cells...)
	}
	quantile("number", func(s waits.Summary) string { return quantity.Count(s.Count) })
	for _, e := range []struct {
		label string
		ns    func(waits.Summary) int64
	}{
		{"p50 by number", func(s waits.Summary) int64 { return s.P50 }},
		{"p90 by number", func(s waits.Summary) int64 { return s.P90 }},
		{"p99 by number", func(s waits.Summary) int64 { return s.P99 }},
		{"p99.9 by number", func(s waits.Summary) int64 { return s.P999 }},
		{"longest", func(s waits.Summary) int64 { return s.MaxNs }},
		{"p50 by time", func(s waits.Summary) int64 { return s.TimeWeighted.P50 }},
		{"p90 by time", func(s waits.Summary) int64 { return s.TimeWeighted.P90 }},
		{"p99 by time", func(s waits.Summary) int64 { return s.TimeWeighted.P99 }},
	} {
		quantile(e.label, func(s waits.Summary) string { return quantity.Duration(e.ns(s)) })
	}
	quantile("time in waits over 1 ms", func(s waits.Summary) string { return quantity.Percent(s.TailMass["1ms"]) })
	quantile("time in waits over 10 ms", func(s waits.Summary) string { return quantity.Percent(s.TailMass["10ms"]) })
	t.table(2, q)
	t.line("")
	t.para(2, "By number, each wait counts once; by time, each nanosecond of waiting: what a goroutine lives through that is waiting now. Gosched: waits after runtime.Gosched, which the goroutine asked for; runtime: the runtime's and the tracer's own goroutines.")
	if w.User.BehindLongNs > 0 {
		t.para(2, fmt.Sprintf("%s of the program's waiting (%s) was behind a single run longer than a time slice.",
			quantity.Duration(w.User.BehindLongNs), quantity.Part(w.User.BehindLongNs, w.User.SeenNs())))
	}
	t.overTime(r)
	t.antagonists(r)
}

// Bounds on the two tables.
const (
	textPeriods = 8
	textPairs   = 8
	textCauses  = 4
)

// overTime shows the causes of waiting period by period.
func (t *text) overTime(r *analyze.Result) {
	o, end := r.Waits.OverTime, r.EndNs()
	if len(o.Causes) == 0 || len(o.Causes[0].Ns) < textPeriods || o.BinNs <= 0 {
		return
	}
	chief := slices.Clone(o.Causes)
	slices.SortStableFunc(chief, func(a, b waits.CauseSeries) int { return cmp.Compare(total(b.Ns), total(a.Ns)) })
	chief = chief[:min(len(chief), textCauses)]
	head := []string{"from", "waiting"}
	for _, c := range chief {
		head = append(head, words.Cause(c.Cause))
	}
	tb := newTable(head...)
	bins := len(o.Causes[0].Ns)
	for i := range textPeriods {
		from, to := i*bins/textPeriods, (i+1)*bins/textPeriods
		all := int64(0)
		for _, c := range o.Causes {
			all += total(c.Ns[from:to])
		}
		fromNs, toNs := o.FromNs+int64(from)*o.BinNs, min(o.FromNs+int64(to)*o.BinNs, end)
		recorded := r.Timeline.RecordedNs(fromNs, toNs)
		row := []string{quantity.Instant(fromNs), quantity.Number(quantity.Ratio(all, max(1, recorded)))}
		if recorded == 0 && toNs > fromNs {
			row[1] = "not recorded"
		}
		for _, c := range chief {
			if all == 0 {
				row = append(row, "-")
				continue
			}
			row = append(row, quantity.Part(total(c.Ns[from:to]), all))
		}
		tb.add(row...)
	}
	t.line("")
	t.table(2, tb)
	t.para(2, "Over time: how many goroutines of the program waited, on average, and the shares of their chief causes. Inside one wait its causes are spread evenly.")
}

func total(ns []int64) (sum int64) {
	for _, n := range ns {
		sum += n
	}
	return sum
}

// antagonists lists who ran on the P while others stood in its queue.
func (t *text) antagonists(r *analyze.Result) {
	type pair struct {
		waited, ran string
		ns, all     int64
	}
	var pairs []pair
	for _, c := range r.Waits.Classes {
		if c.System {
			continue
		}
		all := int64(0)
		for _, a := range c.Antagonists {
			all += a.Ns
		}
		for _, a := range c.Antagonists {
			ran := t.names.Shortened(cmp.Or(a.Name, words.Unknown), 30)
			if a.Class == c.ID {
				ran = "others of the same class"
			}
			pairs = append(pairs, pair{t.names.Shortened(cmp.Or(c.Name, words.Unknown), 30), ran, a.Ns, all})
		}
	}
	if len(pairs) == 0 {
		return
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(b.ns, a.ns) })
	tb := newTable("stood in line", "who ran meanwhile", "for", "of its time in line").alignLeft(1)
	for _, p := range pairs[:min(len(pairs), textPairs)] {
		tb.add(p.waited, p.ran, quantity.Duration(p.ns), quantity.Part(p.ns, p.all))
	}
	t.line("")
	t.table(2, tb)
	if n := len(pairs) - textPairs; n > 0 {
		t.line(fmt.Sprintf("  … and %s.", quantity.Plural(int64(n), "more pair", "more pairs")))
	}
}

func (t *text) longestWaits(r *analyze.Result) {
	longest := r.Waits.LongestWaits()
	if len(longest) == 0 {
		return
	}
	t.head("The longest waits")
	for i, s := range longest[:min(len(longest), textLongWaits)] {
		text := t.waitText(s.WaitDetail)
		if s.Like > 0 {
			text += fmt.Sprintf(" %s at the same time much the same.", quantity.Plural(int64(s.Like), "more long wait was", "more long waits were"))
		}
		t.hang(fmt.Sprintf("  %d. ", i+1), 5, text)
	}
}

// storyOf tells one wait in sentences.
func (t *text) waitText(s waits.WaitDetail) string {
	name := ", " + t.names.Class(s.Name) + ","
	if s.Name == "" {
		name = ""
	}
	return fmt.Sprintf("Goroutine %d%s waited %s. %s", s.G, name, quantity.Duration(s.WaitNs), strings.Join(t.names.WaitSentences(s), " "))
}

func (t *text) processors(r *analyze.Result) {
	ps := r.Procs.Ps
	if len(ps) == 0 {
		return
	}
	t.head("What the Ps did")
	head := []string{"P"}
	gaps := slices.ContainsFunc(ps, func(p procs.Proc) bool { return p.NotRecordedNs > 0 })
	for _, s := range vocabulary.Of(vocabulary.State) {
		// What is unused or not recorded the shares are not of.
		if s.Name == "ps.not_recorded_ns" && gaps || s.Name != "ps.not_recorded_ns" && s.Name != "ps.unused_ns" {
			head = append(head, s.Column)
		}
	}
	tb := newTable(append(head, columns("ps.starts", "ps.queue_mean", "ps.queue_max")...)...)
	row := func(label string, p procs.Proc, queue, top string) {
		part := func(ns int64) string { return quantity.Part(ns, p.UsableNs()) }
		cells := []string{label, part(p.RunningNs), part(p.SystemNs), part(p.GCNs), part(p.TracerNs), part(p.SyscallNs),
			part(p.SchedNs), part(p.StoppedNs), part(p.IdleNs)}
		if gaps {
			cells = append(cells, quantity.Duration(p.NotRecordedNs))
		}
		tb.add(append(cells, quantity.Count(p.Starts), queue, top)...)
	}
	var all procs.Proc
	for i, p := range ps {
		all.LifetimeNs += p.LifetimeNs
		all.UnusedNs += p.UnusedNs
		all.NotRecordedNs += p.NotRecordedNs
		all.RunningNs += p.RunningNs
		all.SystemNs += p.SystemNs
		all.GCNs += p.GCNs
		all.TracerNs += p.TracerNs
		all.SyscallNs += p.SyscallNs
		all.SchedNs += p.SchedNs
		all.StoppedNs += p.StoppedNs
		all.IdleNs += p.IdleNs
		all.Starts += p.Starts
		if i < textPs {
			queue, top := quantity.Number(p.QueueMean), quantity.Count(int64(p.QueueMax))
			if r.Trace.Reduced {
				queue, top = "-", "-"
			}
			row(fmt.Sprintf("P%d", p.P), p, queue, top)
		}
	}
	row("all", all, "", "")
	t.table(2, tb)
	if n := len(ps) - textPs; n > 0 {
		t.line(fmt.Sprintf("  … and %s, counted under all.", quantity.Plural(int64(n), "more P", "more Ps")))
	}
	q := r.Procs.Queues
	if !r.Trace.Reduced {
		t.para(2, fmt.Sprintf("Queue lengths over time: all runnable goroutines %s on average, %s at most; global queue %s and %s; local queues together %s on average.",
			quantity.Number(q.RunnableMean), quantity.Count(q.RunnableMax), quantity.Number(q.GlobalMean), quantity.Count(int64(q.GlobalMax)), quantity.Number(q.LocalMean)))
	}
}

func (t *text) movements(r *analyze.Result) {
	p := r.Procs
	t.head("How work and Ps moved")
	if r.Trace.Reduced {
		t.counts("preemptions", p.Preemptions)
		return
	}
	s := quantity.Plural(p.Steals.Count, "steal", "steals")
	if p.Steals.Count > 0 {
		s += fmt.Sprintf(" of %s", quantity.Plural(p.Steals.Moved, "goroutine", "goroutines"))
		if v := mostStolen(p.Steals); v != "" {
			s += "; " + v
		}
	}
	s += fmt.Sprintf(". %s of a local queue, %s from the global queue.", quantity.Plural(p.Overflows, "overflow", "overflows"), quantity.Plural(p.GlobalTakes, "dequeue", "dequeues"))
	t.para(2, s)
	t.counts("handoffs", p.Handoffs)
	t.counts("retakes", p.Retakes)
	t.counts("preemptions", p.Preemptions)
}

// mostStolen reports from whom and by whom most was stolen.
func mostStolen(s procs.Steals) string {
	n := len(s.Matrix)
	if n == 0 {
		return ""
	}
	by, from := make([]int64, n), make([]int64, n)
	for thief, row := range s.Matrix {
		for victim, k := range row {
			by[thief] += k
			if victim < n {
				from[victim] += k
			}
		}
	}
	v, w := slices.Index(from, slices.Max(from)), slices.Index(by, slices.Max(by))
	return fmt.Sprintf("most often from P%d (%s), by P%d (%s)", v, quantity.Count(from[v]), w, quantity.Count(by[w]))
}

func (t *text) counts(title string, c procs.Counts) {
	keys := make([]string, 0, len(c.ByCause))
	for k, n := range c.ByCause {
		if n != 0 {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(cmp.Compare(c.ByCause[b], c.ByCause[a]), cmp.Compare(a, b))
	})
	for i, k := range keys {
		keys[i] = fmt.Sprintf("%s %s", words.Phrase(vocabulary.Reason, k), quantity.Count(c.ByCause[k]))
	}
	s := fmt.Sprintf("%-12s %s", title, quantity.Count(c.Count))
	if len(keys) > 0 {
		s += ": " + strings.Join(keys, ", ")
	}
	t.hang("  "+fmt.Sprintf("%-12s ", title), 15, strings.TrimPrefix(s, fmt.Sprintf("%-12s ", title)))
}

func (t *text) classes(r *analyze.Result) {
	cs := slices.Clone(r.Waits.Classes)
	if len(cs) == 0 {
		return
	}
	slices.SortStableFunc(cs, func(a, b waits.Class) int { return cmp.Compare(b.Waits.TotalNs, a.Waits.TotalNs) })
	fair := map[int32]fairness.Class{}
	for _, c := range r.Fairness.Classes {
		fair[c.ID] = c
	}
	t.head("Classes of goroutines")
	tb := newTable(slices.Concat([]string{"start function"}, columns("classes.goroutines", "classes.running_ns", "waits.total_ns", "waits.p50_ns", "waits.p99_ns", "waits.max_ns"),
		[]string{"chief cause"}, columns("fairness.jain"))...).alignLeft(7)
	for i, c := range cs {
		if i == textClasses {
			break
		}
		chief, jain := "-", "-"
		if b := words.BySize(c.Waits.Causes); len(b) > 0 {
			chief = words.Cause(b[0].Cause)
		}
		if f, ok := fair[c.ID]; ok && f.Judged > 1 {
			jain = quantity.Index(f.Jain)
		}
		w := c.Waits
		tb.add(t.names.Shortened(cmp.Or(c.Name, words.Unknown), 26), quantity.Count(c.Goroutines), quantity.Duration(c.RunningNs), quantity.Duration(w.TotalNs),
			quantity.Duration(w.P50), quantity.Duration(w.P99), quantity.Duration(w.MaxNs), chief, jain)
	}
	t.table(2, tb)
	if n := len(cs) - textClasses; n > 0 {
		t.line(fmt.Sprintf("  … and %s.", quantity.Plural(int64(n), "more class", "more classes")))
	}
}

func (t *text) fairness(r *analyze.Result) {
	t.head("Fairness and pressure")
	if f := r.Fairness; f.Judged > 0 {
		t.para(2, fmt.Sprintf("Against ideal sharing of the Ps: Jain's index %s over %s (1 is even), largest debt of running time %s, for 99 of 100 no more than %s. Slowdown, (waiting + running) / running: %s on average, %s at p99, %s at most.",
			quantity.Index(f.Jain), quantity.Plural(f.Judged, "goroutine", "goroutines"), quantity.Duration(f.MaxLagNs), quantity.Duration(f.P99LagNs), quantity.Number(f.Slowdown.Mean), quantity.Number(f.Slowdown.P99), quantity.Number(f.Slowdown.Max)))
		if by := f.Slowdown.ByService; len(by) > 1 {
			first, last := by[0], by[len(by)-1]
			t.para(2, fmt.Sprintf("By length: the shortest (under %s) were slowed %s on average, the longest (from %s) %s.",
				quantity.Duration(first.ToNs), quantity.Amount(first.Mean, "time", "times"), quantity.Duration(last.FromNs), quantity.Amount(last.Mean, "time", "times")))
		}
		t.para(2, fmt.Sprintf("Order: half of the waits were bypassed by %s that became runnable later or fewer, 99 of 100 by %s or fewer, one by %s; %s of the starts not from runnext left an earlier one waiting.",
			quantity.Count(f.Bypass.P50), quantity.Count(f.Bypass.P99), quantity.Count(f.Bypass.Max), quantity.Percent(f.Bypass.Inversions)))
	} else {
		t.para(2, "Fairness was not measured: there was too little to share.")
	}
	if x := r.Span; x.SpanNs > 0 {
		s := fmt.Sprintf("Work and span: %s of work, of which a chain of %s had to be done one after the other: it could keep %s busy. Busy time %s; no scheduler could do it in less than %s (efficiency %s).",
			quantity.Duration(x.WorkNs), quantity.Duration(x.SpanNs), quantity.Amount(x.Parallelism, "P", "Ps"), quantity.Duration(x.BusyNs), quantity.Duration(x.BoundNs), quantity.Percent(x.Efficiency))
		if len(x.Path) > 0 {
			s += fmt.Sprintf(" Most of the chain: %s, %s", t.names.Class(x.Path[0].Name), quantity.Part(x.Path[0].Ns, x.SpanNs))
			if len(x.Path[0].Stack) > 0 {
				s += "; the longest part of that ended in " + t.names.Class(words.InProgram(x.Path[0].Stack))
			}
			s += "."
		}
		t.para(2, s)
	}
	t.para(2, fmt.Sprintf("Pressure: %s of the time some goroutine waited; %s of the time one waited and nothing of the program ran; %s of all P-time was idle while work was queued.",
		quantity.Percent(r.Pressure.Some), quantity.Percent(r.Pressure.Full), quantity.Percent(r.Pressure.UnclaimedIdle)))
	if len(r.Pressure.Windows) > 0 {
		var worst []string
		for _, w := range r.Pressure.Windows {
			worst = append(worst, fmt.Sprintf("of %s %s (median %s), at %s", quantity.Duration(w.LengthNs), quantity.Percent(w.Some.Max), quantity.Percent(w.Some.P50), quantity.Duration(w.Some.AtNs)))
		}
		t.para(2, "Somebody waited, in the worst window "+strings.Join(worst, "; ")+".")
	}
	if a := r.Pressure.Age; a.MaxNs > 0 {
		t.para(2, fmt.Sprintf("The one that had waited longest had waited %s, at %s.", quantity.Duration(a.MaxNs), quantity.Duration(a.AtNs)))
	}
}

func (t *text) confidence(r *analyze.Result) {
	t.head("How sure is this?")
	t.rebuilt(r)
	t.para(2, words.WhatIsAWait())
}

// rebuilt writes how far the queues can be believed.
func (t *text) rebuilt(r *analyze.Result) {
	c := r.Reconstruction
	if r.Trace.Reduced {
		t.para(2, "Times of waiting come from the trace itself. Queues were not rebuilt: this old format does not show enough.")
		return
	}
	s := fmt.Sprintf("A trace does not record run queues: they are rebuilt by the rules of the scheduler. Of %s, %s are explained by one rule, %s are ambiguous or corrected the model, %s are unexplained.",
		quantity.Plural(c.Starts, "start", "starts"), quantity.Part(c.Explained, c.Starts), quantity.Part(c.Ambiguous, c.Starts), quantity.Part(c.Unexplained, c.Starts))
	if e := c.EitherTick(); e > 0 {
		s += " " + words.EitherTick(e, c.Starts, r.Trace.Rules)
	}
	t.para(2, s)
	type kv struct {
		key string
		n   int64
	}
	var by []kv
	for k, n := range c.BySource {
		if n > 0 {
			by = append(by, kv{k, n})
		}
	}
	slices.SortFunc(by, func(a, b kv) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.key, b.key)) })
	var parts []string
	for _, e := range by {
		parts = append(parts, fmt.Sprintf("%s %s", words.Visible(e.key), quantity.Count(e.n)))
	}
	if len(parts) > 0 {
		t.para(2, "Started from: "+strings.Join(parts, ", ")+".")
	}
}

func (t *text) elsewhere(r *analyze.Result) {
	t.head("Take it elsewhere")
	for _, x := range words.Exports(r) {
		t.line("  " + x.Commands[0])
	}
}

func (t *text) warnings(r *analyze.Result) {
	ws := r.Trace.Warnings
	if len(ws) == 0 {
		return
	}
	t.head("Warnings")
	for i, w := range ws {
		if i == textWarnings {
			t.line(fmt.Sprintf("  … and %s.", quantity.Plural(int64(len(ws)-i), "more", "more")))
			break
		}
		t.hang("  - ", 4, words.Cut(words.Visible(w), 600))
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
	for _, name := range slices.Sorted(maps.Keys(m.Labels)) {
		out = append(out, name+"="+m.Labels[name])
	}
	return out
}

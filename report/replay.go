package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/internal/jsondoc"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/reference/sim"
	"github.com/gmpscope/gmpscope/replay"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// textDivergences bounds the divergences that the text shows of each verdict.
const textDivergences = 20

// WriteReplayJSON writes the result of a replay as one JSON object, a line for
// each key. docs/json.md describes every key. Equal input gives equal bytes.
func WriteReplayJSON(w io.Writer, r *replay.Result, tool string) error {
	if r == nil {
		return fmt.Errorf("json: no result")
	}
	return writeObject(w, &jsondoc.Replay{
		Schema: Schema, Tool: tool, Trace: withWarnings(r.Trace), Policy: r.Policy, GOMAXPROCS: r.GOMAXPROCS,
		Audit: r.Audit, Observed: r.Observed, Simulated: r.Simulated,
	})
}

// WriteReplayText writes the result of a replay for people. Equal input gives equal bytes.
func WriteReplayText(w io.Writer, r *replay.Result, o TextOptions) error {
	if r == nil {
		return fmt.Errorf("text: no result")
	}
	t := &text{w: lineWriter(w), o: o}
	t.whatIf(r.Simulated)
	t.replayVerdict(r)
	if g := r.Audit; g != nil {
		t.replayRules(g)
		t.replayRaces(g, r.Trace.Rules)
		t.replayPuts(g)
		t.replayViolations(g)
		t.replayDivergences(g)
	}
	t.replayObserved(r)
	t.replaySimulation(r)
	if ws := r.Trace.Warnings; len(ws) > 0 {
		t.section(&doc.Section{Title: "Warnings", Blocks: []doc.Block{doc.List{Items: warnings(ws)}}})
	}
	return t.w.Flush()
}

func (t *text) replayVerdict(r *replay.Result) {
	g := r.Audit
	if g == nil {
		t.line(t.in(bold, "There is nothing to replay."))
		t.para(2, "This old format (Go 1.21 or before) shows neither threads nor the causes that queues are rebuilt from, so no start can be held against a rule.")
		return
	}
	head := fmt.Sprintf("The rules of %s explain %s of %s; %s hold up to a race; %s are unexplained.", cmp.Or(sim.About(r.Policy), r.Policy),
		quantity.Part(g.Explained, g.Starts), quantity.Plural(g.Starts, "start", "starts"), quantity.Part(g.Ambiguous, g.Starts), quantity.Part(g.Unexplained, g.Starts))
	if g.Starts == 0 {
		head = "The trace has no starts."
	}
	t.styled(bold, head)
	if n := violations(g); n > 0 {
		t.styled(red, fmt.Sprintf("The rebuilt decisions contradict themselves %s: that is an error of gmpscope, not of the program.", quantity.Plural(n, "time", "times")))
	}
	t.line("")
	if c := r.Trace.CPUs; c > 0 {
		t.para(2, "The process had "+quantity.Amount(c, "CPU", "CPUs")+" (as told).")
	}
	t.para(2, fmt.Sprintf("Guided replay of %s: run queues are stepped along the rebuilt decisions, and every start is held against the rules of the scheduler, with GOMAXPROCS %d. Nothing is repaired on the way. The reconstruction corrected itself %s.",
		words.Cut(words.Visible(r.Trace.Name), 400), r.GOMAXPROCS, quantity.Plural(g.Corrections, "time", "times")))
}

func violations(g *replay.AuditResult) int64 {
	n := int64(0)
	for _, i := range replay.Invariants() {
		n += g.Violations[i]
	}
	return n
}

func (t *text) replayRules(g *replay.AuditResult) {
	t.head("Starts by rule")
	tb := newTable("taken from", "starts", "explained", "ambiguous", "unexplained")
	for _, s := range reference.Sources() {
		if r, ok := g.ByRule[s.String()]; ok {
			n := r.Explained + r.Ambiguous + r.Unexplained
			tb.add(s.String(), quantity.Count(n), quantity.Part(r.Explained, n), quantity.Part(r.Ambiguous, n), quantity.Part(r.Unexplained, n))
		}
	}
	tb.add("all", quantity.Count(g.Starts), quantity.Part(g.Explained, g.Starts), quantity.Part(g.Ambiguous, g.Starts), quantity.Part(g.Unexplained, g.Starts))
	t.table(2, tb)
}

// raceWords reports for people what makes a start ambiguous.
var raceWords = []struct {
	race  replay.Race
	words string
}{
	{replay.RacePutOrder, "two puts on the global queue were under way at once"},
	{replay.RacePut, "a put was under way when the queue was looked at"},
	{replay.RaceCorrected, "the reconstruction corrected itself: place in the queue not known"},
	{replay.RaceInitial, "runnable before the trace began: place in the queue not known"},
	{replay.RaceTick, "depends on when the P's %s is"}, // the tick by the trace's rules
}

func (t *text) replayRaces(g *replay.AuditResult, rules analyze.RulesApplied) {
	if g.Ambiguous == 0 {
		return
	}
	t.head("What makes starts ambiguous")
	tb := newTable("race", "starts", "").alignLeft(2)
	for _, r := range raceWords {
		if n := g.Races[r.race]; n > 0 {
			tb.add(string(r.race), quantity.Count(n), strings.Replace(r.words, "%s", words.Tick(rules), 1))
		}
	}
	t.table(2, tb)
}

func (t *text) replayPuts(g *replay.AuditResult) {
	if len(g.Puts) == 0 {
		return
	}
	t.head("Puts")
	tb := newTable("into", "puts", "as by the rules", "ambiguous", "not")
	for _, k := range []string{"runnext", "local", "global", "direct", "overflow", "initial", "unknown"} {
		if r, ok := g.Puts[k]; ok {
			tb.add(k, quantity.Count(r.Explained+r.Ambiguous+r.Unexplained), quantity.Count(r.Explained), quantity.Count(r.Ambiguous), quantity.Count(r.Unexplained))
		}
	}
	t.table(2, tb)
}

// invariantWords reports for people what breaks an invariant.
var invariantWords = map[replay.Invariant]string{
	replay.Malformed:     "a decision lacks what its kind needs",
	replay.TimeBack:      "a decision is older than the one before it",
	replay.TwoPlaces:     "a goroutine is queued, or runs, while it is somewhere else",
	replay.WrongQueue:    "a goroutine leaves a queue that it is not in",
	replay.NotRunnable:   "a goroutine starts, or is moved, that is not runnable",
	replay.NotRunning:    "a goroutine stops that does not run there",
	replay.TwoOnP:        "a goroutine starts on a P on which another one runs",
	replay.NoThread:      "a goroutine starts on a P that has no thread",
	replay.RingTooLong:   "a ring holds more than fit in",
	replay.BadLength:     "the length of a queue is negative",
	replay.LengthDiffers: "the length of a queue is not that of the decisions",
	replay.BrokenBatch:   "a steal, batch or overflow and its moves do not belong together",
	replay.IdleWithWork:  "a P finds no work although its own queue holds some",
	replay.TimeLost:      "the running time of a P is not the sum of its run intervals",
}

func (t *text) replayViolations(g *replay.AuditResult) {
	if violations(g) == 0 {
		return
	}
	t.head("Contradictions")
	tb := newTable("kind", "times", "").alignLeft(2)
	for _, i := range replay.Invariants() {
		if n := g.Violations[i]; n > 0 {
			tb.add(string(i), quantity.Count(n), invariantWords[i])
		}
	}
	t.table(2, tb)
}

func (t *text) replayDivergences(g *replay.AuditResult) {
	if len(g.Divergences) == 0 {
		return
	}
	t.head("Divergences")
	rank := map[replay.Verdict]int{replay.Violation: 0, replay.Unexplained: 1, replay.Ambiguous: 2}
	ds := slices.Clone(g.Divergences)
	slices.SortStableFunc(ds, func(a, b replay.Divergence) int {
		return cmp.Compare(rank[a.Verdict], rank[b.Verdict])
	})
	shown := map[replay.Verdict]int{}
	left := g.MoreDivergences
	for _, d := range ds {
		if shown[d.Verdict] == textDivergences {
			left++
			continue
		}
		shown[d.Verdict]++
		who := d.Kind
		if d.G >= 0 {
			who += fmt.Sprintf(" of goroutine %d", d.G)
		}
		if d.P >= 0 {
			who += fmt.Sprintf(" on P%d", d.P)
		}
		what := d.Rule
		if d.Race != "" {
			what += ", " + string(d.Race)
		}
		t.hang(fmt.Sprintf("  %-11s ", d.Verdict), 14, fmt.Sprintf("at %s, decision %s, %s (%s): expected %s; found %s.", quantity.Instant(d.Time), quantity.Count(d.N), who, what, d.Expected, d.Found))
	}
	t.more(int(left), "more", "more")
}

func (t *text) replayObserved(r *replay.Result) {
	o := r.Observed
	t.head("The run as observed")
	tb := newTable("makespan", "busy", "waits", "waited", "p50", "p99", "time-weighted p50", "steals")
	tb.left[0] = false
	steals := "-"
	if o.Steals != nil {
		steals = quantity.Count(*o.Steals)
	}
	tb.add(quantity.Duration(o.MakespanNs), quantity.Duration(o.BusyNs), quantity.Count(o.Waits.Count), quantity.Duration(o.Waits.TotalNs), quantity.Duration(o.Waits.P50), quantity.Duration(o.Waits.P99),
		quantity.Duration(o.Waits.TimeWeighted.P50), steals)
	t.table(2, tb)
	t.hang("  rules       ", 14, words.AllRules([]analyze.RulesApplied{r.Trace.Rules}))
}

// replaySimulation shows a simulation of the work: the trace's own scheduler first, which says
// how far to trust the rest.
func (t *text) replaySimulation(r *replay.Result) {
	f := r.Simulated
	if f == nil {
		return
	}
	t.head("Simulation of the work")
	w := f.Workload
	t.para(2, fmt.Sprintf("The work of the trace (%s, %s, %s from outside, %s of the garbage collector), scheduled by the model of %s with GOMAXPROCS %d; medians of %s.",
		quantity.Plural(int64(w.Goroutines), "goroutine", "goroutines"), quantity.Plural(int64(w.Steps), "step", "steps"), quantity.Plural(int64(w.Arrivals), "arrival", "arrivals"),
		quantity.Plural(int64(w.GCCycles), "cycle", "cycles"), r.Policy, w.GOMAXPROCS, quantity.Plural(int64(w.Seeds), "run", "runs")))
	if f.Untrusted != "" {
		t.para(2, words.Ended(words.Sentence(f.Untrusted)))
	}
	o, s, e := r.Observed, f.Simulated, f.Error
	lo, hi := f.Spread.Min, f.Spread.Max
	tb := newTable("", "observed", "simulated", "error", "spread")
	row := func(name string, observed, simulated, low, high int64, e *float64, show func(int64) string) {
		tb.add(name, show(observed), show(simulated), signed(e), between(low, high, show))
	}
	row("makespan", o.MakespanNs, s.MakespanNs, lo.MakespanNs, hi.MakespanNs, e.Makespan, quantity.Duration)
	row("busy", o.BusyNs, s.BusyNs, lo.BusyNs, hi.BusyNs, e.Busy, quantity.Duration)
	row("waits", o.Waits.Count, s.Waits.Count, lo.Waits.Count, hi.Waits.Count, e.Waits.Count, quantity.Count)
	row("waited", o.Waits.TotalNs, s.Waits.TotalNs, lo.Waits.TotalNs, hi.Waits.TotalNs, e.Waits.Total, quantity.Duration)
	row("p50", o.Waits.P50, s.Waits.P50, lo.Waits.P50, hi.Waits.P50, e.Waits.P50, quantity.Duration)
	row("p99", o.Waits.P99, s.Waits.P99, lo.Waits.P99, hi.Waits.P99, e.Waits.P99, quantity.Duration)
	row("time-weighted p50", o.Waits.TimeWeighted.P50, s.Waits.TimeWeighted.P50, lo.Waits.TimeWeighted.P50, hi.Waits.TimeWeighted.P50, e.Waits.WeightedP50, quantity.Duration)
	row("steals", *o.Steals, *s.Steals, *lo.Steals, *hi.Steals, e.Steals, quantity.Count)
	row("global dequeues", *o.GlobalTakes, *s.GlobalTakes, *lo.GlobalTakes, *hi.GlobalTakes, e.GlobalTakes, quantity.Count)
	t.table(2, tb)

	t.head("Why they waited")
	tb = newTable("cause", "observed", "simulated")
	for _, c := range f.Causes {
		tb.add(words.Cause(c.Cause), quantity.Duration(c.ObservedNs), quantity.Duration(c.SimulatedNs))
	}
	t.table(2, tb)

	if len(f.Classes) > 0 {
		t.head("Who waited")
		tb = newTable("class", "waits", "observed", "simulated", "error", "p99", "simulated")
		for _, c := range f.Classes[:min(len(f.Classes), textReplayClasses)] {
			name := words.Cut(words.Visible(cmp.Or(c.Name, "(unknown)")), 34)
			tb.add(name, quantity.Count(c.Observed.Count), quantity.Duration(c.Observed.TotalNs), quantity.Duration(c.Simulated.TotalNs), signed(c.Error), quantity.Duration(c.Observed.P99), quantity.Duration(c.Simulated.P99))
		}
		t.table(2, tb)
	}

	t.section(SplitSection(f.Decomposition))
	for _, n := range f.Notes {
		t.hang("  - ", 4, n)
	}
}

// whatIf answers what was asked: what each change would give.
func (t *text) whatIf(f *replay.Simulated) {
	if f == nil || len(f.WhatIf) == 0 {
		return
	}
	s, lo, hi, e := f.Simulated, f.Spread.Min, f.Spread.Max, f.Error
	t.head("What if")
	tb := newTable("", "makespan", "spread", "waited", "p50", "p99")
	add := func(name string, s replay.Run, lo, hi int64) {
		tb.add(name, quantity.Duration(s.MakespanNs), between(lo, hi, quantity.Duration), quantity.Duration(s.Waits.TotalNs), quantity.Duration(s.Waits.P50), quantity.Duration(s.Waits.P99))
	}
	bound := int64(0)
	add("as it was", s, lo.MakespanNs, hi.MakespanNs)
	for _, x := range f.WhatIf {
		bound = max(bound, x.LockBoundNs)
		add(words.Cut(words.Visible(x.Change), 30), x.Simulated, x.Spread.Min.MakespanNs, x.Spread.Max.MakespanNs)
	}
	t.table(2, tb)
	if bound > 0 {
		t.para(2, fmt.Sprintf("With more Ps, a mutex allows no makespan under about %s: see below.", quantity.Duration(bound)))
	}
	for _, x := range f.WhatIf {
		change := words.Cut(words.Visible(x.Change), 30)
		if x.Untrusted != "" && x.Untrusted != f.Untrusted {
			t.para(2, change+": "+words.Ended(x.Untrusted))
		}
		switch s := x.Sensitivity; {
		case x.UntrustedMakespan != "" && x.UntrustedMakespan != x.Untrusted && x.UntrustedMakespan != f.Untrusted:
			t.para(2, change+", makespan: "+words.Ended(x.UntrustedMakespan))
		case x.UntrustedMakespan == "" && x.Untrusted != "" && s != nil:
			t.para(2, fmt.Sprintf("%s: the makespan is not affected by that: %s if the work took %.2g times as long.", change, quantity.Duration(s.WorkNs), s.Work))
		}
	}
	t.para(2, fmt.Sprintf("Compare with “as it was”, not with the trace: the model itself is off: %s.", errorLine(e.Makespan, e.Waits.Total)))
}

// textReplayClasses is how many classes the text shows of a simulation.
const textReplayClasses = 8

// signed is a relative error for people.
func signed(e *float64) string {
	if e == nil {
		return "-"
	}
	return quantity.Change(1 + *e)
}

// between writes the ends of a range: once, where they read the same.
func between(lo, hi int64, show func(int64) string) string {
	a, b := show(lo), show(hi)
	if a == b {
		return a
	}
	return a + " to " + b
}

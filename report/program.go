package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/diagnosis"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// Bounds on what is said about the program.
const (
	longestTests = 5
	mostLegs     = 12        // benchmarks that have a line
	largePart    = 0.2       // share of the time of a test from which on it is said for what it was
	mostlyAlone  = 0.8       // share of the time in which one test runs
	noticed      = 1_000_000 // ns from which on it may matter what a unit spends its time on
	halfUsed     = 0.51      // share of the P-time in use up to which another test could run, too
	fewParked    = 10        // goroutines, blocked in one place all the time, that matter if hardly any run,
	manyParked   = 100       // and else
	oneBusy      = 1.1       // Ps in use, on average, up to which hardly more than one goroutine ran at a time
)

// program reports as what kind of program the trace was judged, and more about that in further
// lines, and, fit for a headline, what the program did; "" if that is not known.
func (w *wording) program() (lines []string, did string) {
	kind, u := w.r.Program, &w.r.Work
	used, of := w.r.Procs.InUse()
	as := "Judged as " + map[analyze.ProgramKind]string{
		analyze.Server: "a server", analyze.Tests: "tests", analyze.Benchmarks: "benchmarks", analyze.Idle: "a program that hardly uses its Ps", analyze.Wasm: "js/wasm",
	}[kind.Kind]
	switch kind.Kind {
	case analyze.Server:
		kinds := w.Awaited()
		if i := slices.IndexFunc(u.Kinds, func(k work.UnitKind) bool { return k.Entry && k.Count > 0 }); len(kinds) == 0 && i >= 0 {
			kinds = []*work.UnitKind{&u.Kinds[i]}
		}
		most := &work.UnitKind{}
		for _, k := range kinds {
			if k.TotalNs > most.TotalNs {
				most = k
			}
		}
		if most.Count > 0 {
			one, many := unitWords(most)
			did = fmt.Sprintf("%s of %s, p50 %s, p99 %s", quantity.Plural(most.Count, one, many), words.Visible(KindName(w.names, most)), quantity.Duration(most.Latency.P50Ns), quantity.Duration(most.Latency.P99Ns))
			if most.Latency.P99Ns >= noticed {
				did = inShort(did, w.spent(most))
			}
		}
	case analyze.Tests:
		lines, did = w.tests(used, of)
	case analyze.Benchmarks:
		lines, did = w.benchmarks()
	case analyze.Idle:
		did = quantity.Part(used, of) + " of the P-time was in use"
		if s := w.parked(fewParked); s != "" {
			did += "; " + s
		}
	case analyze.Batch, "":
		run, all := u.Run(), int64(0)
		as = "Judged by goroutines"
		if len(run) > 0 {
			as = "Judged as a batch job"
		}
		as += ": no units of work begin from outside regularly enough"
		for _, k := range run {
			all += k.TotalNs
		}
		c := w.Computing
		if all > 0 {
			did = inShort("The run took "+quantity.Duration(all), w.spentMost(run))
			if len(w.spent(run...)) == 0 && c != nil && 2*w.RanNs >= all { // too long ago to be known
				did += fmt.Sprintf(": goroutines ran for %s (%s)", quantity.Duration(w.RanNs), w.computingIn(c, ""))
			}
			for i := range w.r.Procs.Ps {
				used -= w.r.Procs.Ps[i].SchedNs // to look for work is none
			}
			if procs := w.r.Trace.GOMAXPROCS; procs > 1 && float64(used)*float64(procs) < oneBusy*float64(of) && work.RunningNs(run) > all/2 {
				lines = []string{fmt.Sprintf("One goroutine after the other ran, with %s of the P-time in use: what does not depend on each other may run in parallel.", quantity.Part(used, of))}
			}
		} else if c != nil {
			did = fmt.Sprintf("Goroutines ran for %s (%s)", quantity.Duration(w.RanNs), w.computingIn(c, ""))
		}
	}
	sure := " (inferred; --program overrules)."
	if kind.Basis == "assumed" {
		sure = " (as told by --program)."
	}
	return append([]string{as + sure}, lines...), did
}

// parked reports where most goroutines were blocked all the time, if they are so many.
func (w *wording) parked(many int64) string {
	if len(w.r.Parked) == 0 || w.r.Parked[0].N < many {
		return ""
	}
	p := &w.r.Parked[0]
	return fmt.Sprintf("%s were blocked all the time in %s%s", quantity.Plural(p.N, "goroutine", "goroutines"), words.Visible(w.names.Function(p.In)), calledBy(w.names, p.From))
}

// tests reports which tests took longest, and for what.
func (w *wording) tests(used, of int64) (lines []string, did string) {
	tests := w.r.Work.Tests()
	if len(tests) == 0 {
		return nil, ""
	}
	alone, all := 0.0, int64(0)
	for _, k := range tests {
		alone += k.Concurrency
		all += k.TotalNs
	}
	slices.SortStableFunc(tests, func(x, y *work.UnitKind) int { return cmp.Compare(y.TotalNs, x.TotalNs) })
	var each []string
	for _, k := range tests[:min(len(tests), longestTests)] {
		s := words.Visible(KindName(w.names, k)) + " " + quantity.Duration(k.TotalNs)
		if spent := w.spent(k); len(spent) > 0 {
			s += " (" + words.List(spent) + ")"
		}
		each = append(each, s)
	}
	s := "Longest tests: " + strings.Join(each, "; ") + "."
	if alone > mostlyAlone && alone < 2-mostlyAlone && w.r.Trace.GOMAXPROCS > 1 && float64(used) < halfUsed*float64(of) {
		s += fmt.Sprintf(" Most of the time one test ran alone, with %s of the P-time in use: t.Parallel may help.", quantity.Part(used, of))
	}
	return []string{s}, inShort(quantity.Plural(int64(len(tests)), "test", "tests")+", "+quantity.Duration(all)+" in all", w.spentMost(tests))
}

// benchmarks has a line for each benchmark: the timed part of its last trial.
func (w *wording) benchmarks() (lines []string, did string) {
	var timed, n int64
	all := w.r.Work.Benchmarks()
	for _, k := range all {
		timed += k.TotalNs
		if n++; n <= mostLegs {
			runs := ""
			if k.Count > 1 {
				runs = fmt.Sprintf(" in %d runs", k.Count)
			}
			name := words.Visible(KindName(w.names, k))
			if strings.HasPrefix(k.Name, "testing.") {
				name = "Benchmarks that no stack shows"
				if _, procs, ok := strings.Cut(k.Name, "-"); ok {
					name += ", with GOMAXPROCS " + procs
				}
			}
			lines = append(lines, strings.TrimSuffix(fmt.Sprintf("%s: timed for %s%s: %s", name, quantity.Duration(k.TotalNs), runs, words.List(w.spent(k))), ": ")+".")
		}
	}
	if n == 0 {
		return nil, ""
	}
	left := quantity.Duration(max(0, w.r.RecordedNs()-timed))
	return append([]string{"Not judged: set-up, trials before the last, and package testing, " + left + " in all."}, lines...),
		inShort(quantity.Plural(n, "benchmark", "benchmarks")+", timed for "+quantity.Duration(timed), w.spentMost(all))
}

// spentMost is what most of the time of all units was for. Where that is running, it names the function in
// which goroutines compute.
func (w *wording) spentMost(kinds []*work.UnitKind) []string {
	parts := w.spent(kinds...)
	if len(parts) > 0 && strings.HasSuffix(parts[0], " running") {
		if w.Computing != nil && !w.AboutComputing() {
			parts[0] += " (" + w.computingIn(w.Computing, "") + ")"
		}
	}
	return parts
}

// inShort is what was done, and what for: the first thing only, if all do not fit into a headline.
func inShort(what string, parts []string) string {
	if len(parts) == 0 {
		return what
	}
	if s := what + ": " + words.List(parts); utf8.RuneCountInString(s) <= longHeadline {
		return s
	}
	return what + ": " + parts[0]
}

// spent reports what most of the time of units of some kinds was for, as far as that is known.
func (w *wording) spent(kinds ...*work.UnitKind) (parts []string) {
	type thing struct{ what, where string }
	type caller struct {
		from string
		ns   int64
	}
	ns, others, callers := map[thing]int64{}, map[thing]int64{}, map[thing]caller{} // others wait for it; the caller with most
	var order []thing
	var total int64
	for _, k := range kinds {
		total += k.TotalNs
		for i := range k.Path {
			p := &k.Path[i]
			t := thing{p.What, p.Where}
			if p.What == "unknown" || p.What == "rest" {
				continue
			}
			if _, ok := ns[t]; !ok {
				order = append(order, t)
			}
			ns[t] += p.Ns
			if what, where := p.Own(); what != p.What || where != p.Where {
				others[t] += p.Ns
			}
			if p.Ns > callers[t].ns {
				callers[t] = caller{p.LedBy(), p.Ns}
			}
		}
	}
	slices.SortStableFunc(order, func(x, y thing) int { return cmp.Compare(ns[y], ns[x]) })
	for i, t := range order {
		if i == 2 || float64(ns[t]) < largePart*float64(total) {
			break
		}
		part := quantity.Part(ns[t], total) + " " + doingIn(w.names, t.what, t.where) + calledBy(w.names, callers[t].from)
		if t.what != "running" && 2*others[t] > ns[t] {
			part += ", in goroutines they wait for"
		}
		parts = append(parts, part)
	}
	return parts
}

// preempted reports where goroutines compute; "" if no function stands out, or a finding's headline names it.
func (w *wording) preempted(headline string) string {
	if w.Computing == nil || strings.Contains(headline, w.names.Function(w.Computing.Function)) {
		return ""
	}
	return "Where goroutines compute: " + w.computingIn(w.Computing, "were ") + "."
}

func (w *wording) computingIn(c *diagnosis.Computing, were string) string {
	return fmt.Sprintf("%s of %s %sin %s", quantity.Part(c.N, c.Of), quantity.Plural(c.Of, "preemption", "preemptions"), were, w.computingAt(c))
}

// computingAt is the function, and who calls it.
func (w *wording) computingAt(c *diagnosis.Computing) string {
	via := ""
	if c.Via != "" {
		via = ", in " + words.Visible(w.names.Function(c.Via))
	}
	return words.Visible(w.names.Function(c.Function)) + via + calledBy(w.names, c.From)
}

// leftOut reports what package testing did that no finding is about.
func (w *wording) leftOut() string {
	x := &w.r.LeftOut
	var parts []string
	for _, p := range []struct {
		n         int64
		one, many string
	}{
		{x.Collections, "garbage collection", "garbage collections"},
		{x.Statistics, "reading of memory statistics", "readings of memory statistics"},
	} {
		if p.n > 0 {
			parts = append(parts, quantity.Plural(p.n, p.one, p.many))
		}
	}
	s := words.List(parts)
	if s != "" {
		s += " by package testing"
	}
	if x.Findings > 0 {
		about := "it"
		if s == "" {
			about = "package testing"
		} else {
			s += ", and "
		}
		s += quantity.Plural(x.Findings, "finding", "findings") + " about " + about
	}
	if s == "" {
		return ""
	}
	return "Left out: " + s + "."
}

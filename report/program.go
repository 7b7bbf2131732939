package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// Bounds on what is said of the program.
const (
	longestTests = 5
	mostLegs     = 12   // benchmarks that are named
	largePart    = 0.2  // share of the time of a test from which on it is said for what it was
	mostlyAlone  = 0.8  // share of the time in which one test runs
	halfUsed     = 0.51 // share of the P-time in use up to which another test could run, too
)

// program reports what kind of program was judged, and what it did.
func (w *wording) program() []string {
	kind, u := w.r.Program, &w.r.Work
	sure := " (inferred; --program overrules)"
	if kind.Basis == "assumed" {
		sure = " (as told by --program)"
	}
	used, of := w.r.Procs.InUse()
	switch kind.Kind {
	case analyze.Server:
		if i := slices.IndexFunc(u.Kinds, func(k work.UnitKind) bool { return k.Entry && k.Count > 0 }); i >= 0 {
			k := &u.Kinds[i]
			return []string{fmt.Sprintf("Judged as a server%s: %s of %s, p50 %s, p99 %s.", sure, quantity.Plural(k.Count, "unit", "units"), words.Visible(KindName(w.names, k)),
				quantity.Duration(k.Latency.P50Ns), quantity.Duration(k.Latency.P99Ns))}
		}
	case analyze.Tests:
		return []string{"Judged as tests" + sure + w.longest(used, of)}
	case analyze.Benchmarks:
		return w.benchmarks("Judged as benchmarks" + sure)
	case analyze.Idle:
		return []string{fmt.Sprintf("Judged as a program at rest%s: %s of the P-time was in use.", sure, quantity.Part(used, of))}
	case analyze.Wasm:
		return []string{"Judged as js/wasm" + sure + ": one thread, which the host lends it; while that has control, the program is idle."}
	}
	s := "Judged as a batch job" + sure + ": no units of work begin from outside, so this is about goroutines"
	for i := range u.Kinds {
		if k := &u.Kinds[i]; k.How == work.Run.String() && k.Entry && k.Count == 1 {
			return []string{fmt.Sprintf("%s, and about the run: %s, %s.", s, quantity.Duration(k.TotalNs), words.List(w.spent(k)))}
		}
	}
	return []string{s + "."}
}

// longest reports which tests took longest, and for what.
func (w *wording) longest(used, of int64) string {
	var tests []*work.UnitKind
	alone := 0.0
	for i := range w.r.Work.Kinds {
		if k := &w.r.Work.Kinds[i]; k.How == work.Test.String() && k.Count > 0 && !strings.Contains(k.Name, ".func") && !strings.HasPrefix(k.Name, "testing.") {
			tests = append(tests, k)
			alone += k.Concurrency
		}
	}
	if len(tests) == 0 {
		return "."
	}
	slices.SortStableFunc(tests, func(x, y *work.UnitKind) int { return cmp.Compare(y.TotalNs, x.TotalNs) })
	var each []string
	for _, k := range tests[:min(len(tests), longestTests)] {
		each = append(each, fmt.Sprintf("%s %s (%s)", words.Visible(KindName(w.names, k)), quantity.Duration(k.TotalNs), words.List(w.spent(k))))
	}
	s := fmt.Sprintf(": %s; longest %s.", quantity.Plural(int64(len(tests)), "test", "tests"), strings.Join(each, "; "))
	if alone > mostlyAlone && alone < 2-mostlyAlone && w.r.Trace.GOMAXPROCS > 1 && float64(used) < halfUsed*float64(of) {
		s += fmt.Sprintf(" Most of the time one test ran alone, with %s of the P-time in use: t.Parallel may help.", quantity.Part(used, of))
	}
	return s
}

// benchmarks has a line for each benchmark: the timed part of its last trial.
func (w *wording) benchmarks(lead string) (lines []string) {
	var timed, other int64
	for i := range w.r.Work.Kinds {
		k := &w.r.Work.Kinds[i]
		if k.How != work.Benchmark.String() || k.Count == 0 {
			continue
		}
		timed += k.TotalNs
		if len(lines) < mostLegs {
			runs := ""
			if k.Count > 1 {
				runs = fmt.Sprintf(" in %d runs", k.Count)
			}
			lines = append(lines, fmt.Sprintf("%s: timed for %s%s: %s.", words.Visible(KindName(w.names, k)), quantity.Duration(k.TotalNs), runs, words.List(w.spent(k))))
		}
	}
	other = max(0, w.r.RecordedNs()-timed)
	return append([]string{fmt.Sprintf("%s: the last trial of each was timed, %s in all. Not judged are set-up, shorter trials and package testing: %s.", lead, quantity.Duration(timed), quantity.Duration(other))}, lines...)
}

// spent reports what most of the time of units of a kind was for.
func (w *wording) spent(k *work.UnitKind) (parts []string) {
	type thing struct{ what, where string }
	ns := map[thing]int64{}
	var order []thing
	for i := range k.Path {
		p := &k.Path[i]
		t := thing{p.What, p.Where}
		if _, ok := ns[t]; !ok {
			order = append(order, t)
		}
		ns[t] += p.Ns
	}
	slices.SortStableFunc(order, func(x, y thing) int { return cmp.Compare(ns[y], ns[x]) })
	for i, t := range order {
		if i == 2 || i > 0 && float64(ns[t]) < largePart*float64(k.TotalNs) {
			break
		}
		parts = append(parts, quantity.Part(ns[t], k.TotalNs)+" "+doingIn(w.names, t.what, t.where))
	}
	return parts
}

package gotest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/internal/jsondoc"
	"github.com/gmpscope/gmpscope/reference"
)

const (
	maxIntervals  = 1 << 18 // of a trace; of more, the longest
	longWait      = int64(5 * time.Millisecond)
	resumed       = int64(20 * time.Millisecond) // after which both have gone on that were paused together
	rounding      = int64(10 * time.Millisecond) // of how long a test took, by go test
	maxCompared   = 50                           // runs of a test that passed
	maxGoroutines = 1 << 20                      // of which the creator is kept
)

// watcher keeps of a trace what tests may have waited for.
type watcher struct {
	lookup  analyze.Lookup
	creator map[int64]int64
	timers  []wake
	waits   kept // for a P
	runs    kept // on a P
	units   []work.Unit

	running, runnable series // of all goroutines of the program
}

type span struct{ from, to int64 }

// wake is when a timer woke a goroutine.
type wake struct{ g, at int64 }

// interval is one of a goroutine of the program.
type interval struct {
	g int64
	span
	machine int64 // of a wait: ns for which a P was idle or its thread was late
	class   int32
}

// kept are intervals; of too many, the longest.
type kept struct {
	all     []interval // in the order of their ends
	least   int64      // length of those that are kept
	longest int64
}

func (k *kept) add(x interval) {
	if x.to-x.from < k.least {
		return
	}
	k.longest = max(k.longest, x.to-x.from)
	if k.all = append(k.all, x); len(k.all) == maxIntervals {
		for ; len(k.all) > maxIntervals/2; k.least = 2*k.least + 1000 {
			k.all = slices.DeleteFunc(k.all, func(x interval) bool { return x.to-x.from < k.least })
		}
	}
}

// within calls f for the intervals that lie in a time, or reach into it.
func (k *kept) within(from, to int64, f func(x *interval, ns int64)) {
	i, _ := slices.BinarySearchFunc(k.all, from, func(x interval, at int64) int { return cmp.Compare(x.to, at) })
	for ; i < len(k.all) && k.all[i].to-k.longest < to; i++ {
		if x := &k.all[i]; min(x.to, to) > max(x.from, from) {
			f(x, min(x.to, to)-max(x.from, from))
		}
	}
}

// Begin implements [analyze.Observer].
func (w *watcher) Begin(l analyze.Lookup) { w.lookup = l }

// Observe implements [analyze.Observer].
func (w *watcher) Observe(b *ledger.Block, ended []waits.EndedWait) error {
	for i := range b.Runs {
		r := &b.Runs[i]
		if !r.Flags.OfProgram() || int(r.At) == len(b.Decisions) {
			continue
		}
		x := span{r.From, r.To}
		w.running.add(x)
		w.runs.add(interval{g: r.G, span: x, class: b.Classes[r.Class]})
	}
	for i := range b.Notes {
		n := &b.Notes[i]
		if n.Changed&ledger.Turned == 0 || n.Now != ledger.Runnable {
			continue
		}
		switch d := &b.Decisions[i]; d.Why {
		case reference.WhyCreate:
			if len(w.creator) < maxGoroutines {
				w.creator[d.G] = d.By
			}
		case reference.WhyTimer:
			if len(w.timers) < maxIntervals && n.OfProgram() {
				w.timers = append(w.timers, wake{d.G, d.Time})
			}
		}
	}
	for i := range ended {
		x := &ended[i]
		if !b.Notes[x.At].OfProgram() {
			continue
		}
		d := &b.Decisions[x.At]
		e := interval{g: d.G, span: span{x.From, x.To}, class: d.Class}
		for j, c := range waits.Causes() {
			switch c {
			case waits.CausePWakingUp, waits.CauseIdlePAvailable, waits.CauseOverhead:
				e.machine += x.Causes[j]
			}
		}
		w.runnable.add(e.span)
		w.waits.add(e)
	}
	return nil
}

// unit keeps a unit of work.
func (w *watcher) unit(u work.Unit) {
	if u.How == work.Test || u.How == work.Benchmark {
		w.units = append(w.units, u)
	}
}

// root returns the goroutine of the test that a goroutine belongs to: its own, or that of the
// nearest one that created it, or who did; -1 if it is of no test, as those of TestMain.
func (w *watcher) root(g int64, tests map[int64]bool) int64 {
	for range 1000 {
		if tests[g] {
			return g
		}
		creator, ok := w.creator[g]
		if !ok {
			break
		}
		g = creator
	}
	return -1
}

// worksFor reports whether a goroutine may work for a test: those of no test work for any.
func (w *watcher) worksFor(g, test int64, tests map[int64]bool) bool {
	root := w.root(g, tests)
	return test < 0 || root < 0 || root == test
}

// Analyze determines what the tests of a package waited for, and judges failed ones.
func (p *Package) Analyze(ctx context.Context) {
	failed := map[string]int{}
	for _, t := range p.log.tests {
		p.Tests = append(p.Tests, &Judged{Test: t})
		if t.Outcome == "fail" {
			failed[t.Name] = maxCompared
		}
	}
	for _, t := range p.log.passed {
		if failed[t.Name]--; failed[t.Name] >= 0 {
			p.passed = append(p.passed, &Judged{Test: t})
		}
	}
	switch {
	case len(p.ran) == 0 && p.Failed:
		p.Problem = "no test of it ran: see what go test printed"
	case len(p.ran) > 0 && (len(p.Tests) > 0 || len(p.log.results) > 0):
		p.analyze(ctx, &p.ran[0])
	}
	tests, passed := byName(p.Tests), byName(p.passed)
	for name, runs := range tests {
		c := compare(runs, passed[name])
		for _, t := range runs {
			t.judge(c)
		}
	}
	slices.SortStableFunc(p.Tests, func(a, b *Judged) int { return cmp.Compare(rank(a), rank(b)) })
}

// byName returns the runs of each test.
func byName(tests []*Judged) map[string][]*Judged {
	out := map[string][]*Judged{}
	for _, t := range tests {
		out[t.Name] = append(out[t.Name], t)
	}
	return out
}

func (p *Package) analyze(ctx context.Context, r *ran) {
	w := &watcher{creator: map[int64]int64{}}
	res, err := analyze.File(ctx, r.Trace, analyze.Options{Observer: w, OnUnit: w.unit, NoTimeline: true})
	for _, t := range slices.Concat(p.Tests, p.passed) {
		t.Machine = between(r.Samples, r.Every, t.began.UnixNano(), t.ended.UnixNano())
		t.cpus = r.CPUs
	}
	switch {
	case errors.Is(err, analyze.ErrEmpty), errors.Is(err, analyze.ErrNoEvents):
		p.Problem = "its process ended, or the disk was full, before its trace was written"
		return
	case err != nil:
		p.Problem = fmt.Sprintf("its trace cannot be used: %v", err)
		return
	}
	if wall := res.Trace.Began; !wall.IsZero() {
		p.place(w, res, wall, r)
	} else {
		p.Problem = "its trace does not have the time of day: build with Go 1.25 or newer"
	}
	p.Benches = benches(w, res, p.log.results)
}

// rank sorts those that failed before those that were slow only.
func rank(t *Judged) int64 {
	if t.Verdict != "" {
		return math.MinInt64
	}
	return -t.Ns
}

// place finds the units of the tests and what they waited for.
func (p *Package) place(w *watcher, res *analyze.Result, wall time.Time, r *ran) {
	tests := map[int64]bool{}
	for _, u := range w.units {
		tests[u.G] = true
	}
	for _, t := range slices.Concat(p.Tests, p.passed) {
		from, to := int64(t.began.Sub(wall)), int64(t.ended.Sub(wall))
		u := w.unitOf(t.Test, from, to)
		if u != nil {
			from, to = u.From, u.To
			if t.paused {
				from = max(from, int64(t.began.Sub(wall)))
			}
			t.Path = pathOf(res, u)
			t.Machine = between(r.Samples, r.Every, wall.UnixNano()+from, wall.UnixNano()+to)
		}
		t.Ns = max(to-from, 1)
		t.Found = u != nil
		t.add(w, u, wall.UnixNano(), from, to, res.Trace.GOMAXPROCS, tests)
	}
}

// unitOf finds the unit of a test: of one at the top by how many of its name there were before, of
// others, which have no name in a trace, by the time.
func (w *watcher) unitOf(t *Test, from, to int64) *work.Unit {
	top, _, nested := strings.Cut(t.Name, "/")
	var best *work.Unit
	run := 0
	for i := range w.units {
		u := &w.units[i]
		if u.How != work.Test {
			continue
		}
		name := function(u.Kind)
		if !nested && name == top {
			if run == t.Run {
				return u
			}
			run++
		}
		if !nested || !strings.HasPrefix(name, top+".") {
			continue
		}
		both := min(to, u.To) - max(from, u.From)
		outside := (to - from) + (u.To - u.From) - 2*both
		if alike := abs(u.To-u.From-t.elapsed) < rounding; (alike || both > 0 && outside < both) && (best == nil || abs(u.To-to) < abs(best.To-to)) {
			best = u
		}
	}
	return best
}

func abs(x int64) int64 { return max(x, -x) }

// add sums up for how long goroutines of the test ran and were runnable, and how late timers of theirs
// were. zero is when the trace begins, ns since 1970.
func (t *Judged) add(w *watcher, u *work.Unit, zero, from, to int64, procs int, tests map[int64]bool) {
	test := int64(-1)
	if u != nil {
		test = u.G
	}
	by := map[int64]*jsondoc.TestWait{}
	var others []span // what other goroutines than the test's did
	w.waits.within(from, to, func(x *interval, ns int64) {
		if !w.worksFor(x.g, test, tests) {
			return
		}
		s := by[x.g]
		if s == nil {
			s = &jsondoc.TestWait{G: x.g, Who: w.lookup.Class(x.class)}
			by[x.g] = s
		}
		s.Ns += ns
		s.LongestNs = max(s.LongestNs, ns)
		s.MachineNs += x.machine * ns / max(x.to-x.from, 1)
		t.workNs += ns
		others = append(others, x.span)
	})
	for g, s := range by {
		if s.Ns > t.Wait.Ns || s.Ns == t.Wait.Ns && g < t.Wait.G {
			t.Wait = *s
		}
	}
	wait := span{to, to} // the last long one of the test's own goroutine
	ran := from
	var begun []int64 // when runs began
	w.runs.within(from, to, func(x *interval, ns int64) {
		if !w.worksFor(x.g, test, tests) {
			return
		}
		t.workNs += ns
		begun = append(begun, x.from)
		if x.g != test {
			others = append(others, x.span)
			return
		}
		if x.from-ran >= longWait {
			wait = span{ran, x.from}
		}
		ran = x.to
	})
	for _, p := range t.Machine.pauses {
		if slices.ContainsFunc(begun, func(at int64) bool { return max(at+zero-p.to, p.to-at-zero) < resumed }) {
			t.Machine.PausedNs += p.to - p.from
		}
	}
	// For how long was there nothing to do before that ended? What a timer calls begins right before.
	did := wait.from
	for _, x := range others {
		if x.from < wait.to-int64(time.Millisecond) {
			did = max(did, min(x.to, wait.to))
		}
	}
	if quiet := wait.to - did; w.running.between(did, wait.to) < quiet*int64(procs)/2 {
		t.quietNs = quiet
	}
	first, _ := slices.BinarySearchFunc(w.timers, from+1, func(x wake, at int64) int { return cmp.Compare(x.at, at) })
	for i := first; i < len(w.timers) && w.timers[i].at <= to; i++ {
		x := w.timers[i]
		if !w.worksFor(x.g, test, tests) {
			continue
		}
		t.Timed = true
		if w.root(x.g, tests) != test {
			continue
		}
		late := t.Machine.lateness(zero + x.at)
		if x.g != test {
			t.lateNs += late
			continue
		}
		t.lateNs += t.lastLateNs
		t.lastLateNs = late
	}
}

// pathOf is what the time of a unit consists of, the most first: of itself if it is among the slowest
// of its kind, else of the kind's.
func pathOf(res *analyze.Result, u *work.Unit) []jsondoc.TestPart {
	for i := range res.Work.Kinds {
		k := &res.Work.Kinds[i]
		if k.Name != u.Kind || k.How != u.How.String() {
			continue
		}
		for j := range k.Slowest {
			if u.How == work.Benchmark { // of which a row of segments shows the beginning only
				break
			}
			if s := &k.Slowest[j]; s.G == u.G && s.BeginNs == u.From {
				return partsOf(s.Segments)
			}
		}
		var all []work.Segment
		for j := range k.Path {
			x := &k.Path[j]
			all = append(all, work.Segment{Via: x.Via, Leaf: x.Leaf, Ns: x.Ns / max(k.Count, 1)})
		}
		return partsOf(all)
	}
	return []jsondoc.TestPart{}
}

func partsOf(segments []work.Segment) []jsondoc.TestPart {
	sums := map[jsondoc.TestPart]int64{}
	for _, s := range segments {
		x := jsondoc.TestPart{What: s.What, Who: s.Who, Where: s.Where}
		if s.Via != nil {
			x.Via, x.ViaWhere = s.Via.What, s.Via.Site
		}
		sums[x] += s.Ns
	}
	out := []jsondoc.TestPart{}
	for x, ns := range sums {
		x.Ns = ns
		out = append(out, x)
	}
	slices.SortFunc(out, func(a, b jsondoc.TestPart) int {
		return cmp.Or(cmp.Compare(b.Ns, a.Ns), strings.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	return out
}

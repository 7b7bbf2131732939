package diagnosis

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/stacks"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/analyze/work"
)

const ms = 1_000_000

// result is of a program that ran for 100 ms and waited for a P for some time, behind other
// goroutines.
func result(waited int64, list ...findings.Finding) *analyze.Result {
	r := &analyze.Result{Detectors: make([]analyze.Detector, 1), Findings: list}
	r.Procs.Ps = []procs.Proc{{LifetimeNs: 200 * ms, RunningNs: 100 * ms, IdleNs: 100 * ms}}
	r.Waits.User = waits.Summary{Count: 1, TotalNs: waited, MaxNs: waited, Causes: []waits.CauseTime{{Cause: waits.CauseQueueing, Ns: waited}}}
	return r
}

func cause(s findings.Severity, of findings.CostBase, cost int64) findings.Finding {
	return findings.Finding{ID: "x", Kind: findings.KindCause, Severity: s, CostOf: of, CostNs: cost, WholeNs: 1000 * ms}
}

// TestCases has a result for each case.
func TestCases(t *testing.T) {
	with := func(f findings.Finding, change func(*findings.Finding)) findings.Finding {
		change(&f)
		return f
	}
	changed := func(r *analyze.Result, change func(*analyze.Result)) *analyze.Result {
		change(r)
		return r
	}
	unjudged := func(r *analyze.Result) { r.Detectors = nil }
	idleP := func(r *analyze.Result) { r.Waits.User.Causes[0].Cause = waits.CauseIdlePAvailable }
	busy := func(r *analyze.Result) { r.Procs.Ps[0].LifetimeNs, r.Procs.Ps[0].IdleNs = 110*ms, 10*ms }
	asleep := func(r *analyze.Result) {
		r.Breakdown.Classes = []breakdown.Class{{Name: "main.beat", Goroutines: 1, TimeByState: breakdown.TimeByState{RunningNs: ms}}}
		r.Breakdown.Classes[0].BlockedNs[breakdown.ReasonSleep] = 1000 * ms
	}
	design := with(cause(findings.Note, findings.OfBlocked, 90*ms), func(f *findings.Finding) { f.MaybeMeant = true })
	sleeps := with(design, func(f *findings.Finding) { f.Actors = []findings.Actor{{Role: findings.Victim, Class: "main.beat"}} })
	machine := with(cause(findings.Note, findings.OfPTime, 90*ms), func(f *findings.Finding) { f.Kind = findings.KindMachine })
	inLine := with(cause(findings.Note, findings.OfWaiting, 60*ms), func(f *findings.Finding) { f.InLine = true })
	explained := with(cause(findings.Note, findings.OfWaiting, 50*ms), func(f *findings.Finding) { f.ID, f.Kind, f.SymptomOf = "y", findings.KindSymptom, []string{"x"} })
	churn := with(cause(findings.Note, findings.OfWaiting, 60*ms), func(f *findings.Finding) { f.Counted = true })
	const slowed = "Slow units of work: note"
	slow := func(what string, waiting int64) func(*analyze.Result) {
		return func(r *analyze.Result) {
			r.Program.Kind = analyze.Server
			r.Work.Kinds = []work.UnitKind{{How: "cycle", Entry: true, Count: 100, Path: []work.TimePart{
				{Leaf: work.Leaf{What: what, Where: "main.a"}, Ns: 1000 * ms, TypicalNs: ms, SlowNs: 90 * ms},
				{Leaf: work.Leaf{What: "runnable"}, Ns: ms, TypicalNs: ms, SlowNs: waiting},
			}}}
		}
	}
	inRow := func(waits, count int64) func(*analyze.Result) { // 100 ms in all units
		return func(r *analyze.Result) {
			r.Work.Kinds = []work.UnitKind{{How: "cycle", Entry: true, Count: count, TotalNs: 100 * ms, Path: []work.TimePart{
				{Via: &work.Via{What: "network", Site: "main.ask"}, Leaf: work.Leaf{What: "sleep"}, Waits: waits, Ns: 90 * ms, TypicalNs: 90 * ms / count, SlowNs: 90 * ms / count},
			}}}
		}
	}
	batch := func(r *analyze.Result) {
		r.Program.Kind, r.Work.Kinds[0].How = analyze.Batch, "run"
		r.Work.Kinds[0].Path[0].Via.What, r.Work.Kinds[0].Path[0].What = "pipe", "pipe"
	}
	roundTrips := func(waits int64) func(*analyze.Result) {
		return func(r *analyze.Result) {
			inRow(waits, 20)(r)
			r.Work.Kinds[0].Path[0].Via = &work.Via{What: "select", Site: "net/http.(*persistConn).roundTrip"}
		}
	}
	atOnce := func(r *analyze.Result) { // 20 requests of one
		batch(r)
		r.Work.Kinds[0].Path[0].Via = &work.Via{What: "select", Site: work.RoundTrip}
	}
	sleeping := func(program analyze.ProgramKind, how string, tested bool, ns int64) func(*analyze.Result) { // of 100 ms
		return func(r *analyze.Result) {
			r.Program.Kind = program
			r.Work.Kinds = []work.UnitKind{{Name: "shop.A", How: how, Count: 1, TotalNs: 100 * ms, Path: []work.TimePart{
				{Leaf: work.Leaf{What: "sleep", Where: "shop.retry"}, Ns: ns / 2, Tested: tested},
				{Via: &work.Via{What: "channel"}, Leaf: work.Leaf{What: "sleep", Where: "shop.retry"}, Ns: ns - ns/2, Tested: tested},
			}}}
		}
	}
	selects := func(program analyze.ProgramKind, ns int64) func(*analyze.Result) {
		return func(r *analyze.Result) {
			sleeping(program, map[bool]string{true: "test", false: "benchmark"}[program == analyze.Tests], true, ns)(r)
			r.Work.Kinds[0].Path[0].What, r.Work.Kinds[0].Path[1].What = "select", "select"
		}
	}
	serving := func(server bool, where string) func(*analyze.Result) {
		return func(r *analyze.Result) {
			sleeping(analyze.Server, "cycle", false, 99*ms)(r)
			k := &r.Work.Kinds[0]
			k.Entry, k.Server, k.Count, k.Path[0].Where, k.Path[1].Where = true, server, 50, where, where
		}
	}
	calling := func(ns int64) func(*analyze.Result) { // of 100 ms of 20 units
		return func(r *analyze.Result) {
			serving(true, "shop.sync")(r)
			k := &r.Work.Kinds[0]
			k.Count, k.Path[0].What, k.Path[1].What = 20, "syscall", "syscall"
			k.Path[0].Ns, k.Path[1].Ns = ns, 0
		}
	}
	computing := func(kind analyze.ProgramKind, file string, ns int64) func(*analyze.Result) { // all preemptions, and so much of 1 s
		return func(r *analyze.Result) {
			r.Program.Kind, r.Trace.DurationNs = kind, 1000*ms
			r.Stacks = stacks.Result{Frames: []stacks.Frame{{Function: "shop.price", File: file}}, Rows: []stacks.Row{{Place: stacks.Stopped, Stack: []int32{0}, Waits: 20}}}
			r.Work.Kinds = []work.UnitKind{{How: map[analyze.ProgramKind]string{analyze.Tests: "test", analyze.Batch: "run"}[kind], Entry: true, Count: 1, TotalNs: 1000 * ms,
				Path: []work.TimePart{{Leaf: work.Leaf{What: "running"}, Ns: ns}}}}
		}
	}
	lined := func(what string, ns int64) func(*analyze.Result) { // of 100 ms
		return func(r *analyze.Result) {
			r.Trace.DurationNs = 100 * ms
			r.Work.Resources = []work.Resource{{Site: "shop.put", What: what, LineNs: ns, WaitNs: 2 * ns}}
		}
	}
	children := func(what string) func(*analyze.Result) {
		return func(r *analyze.Result) {
			sleeping(analyze.Batch, "run", false, 90*ms)(r)
			k := &r.Work.Kinds[0]
			k.Entry, k.Path[0].What, k.Path[1].What = true, what, what
		}
	}
	awaits := with(cause(findings.Warning, findings.OfBlocked, 90*ms), func(f *findings.Finding) {
		f.Actors = []findings.Actor{{Role: findings.Cause, Stack: []string{"os.(*Process).Wait exec.go:1", "shop.build shop.go:1"}}}
	})
	entry := func(r *analyze.Result) { r.Work.Kinds[0].Entry = true }
	beside := func(r *analyze.Result) { // another benchmark, which is awake
		r.Work.Kinds = append(r.Work.Kinds, work.UnitKind{Name: "shop.B", How: "benchmark", Count: 1, TotalNs: 900 * ms})
	}
	slowest := func(n int64) func(*analyze.Result) {
		return func(r *analyze.Result) {
			r.Work.Kinds[0].Bins = []work.Bin{{FromNs: ms, ToNs: 2 * ms, Count: 100 - n}, {FromNs: 90 * ms, ToNs: 100 * ms, Count: n}}
		}
	}
	slowly := func(ns int64) func(*analyze.Result) {
		return func(r *analyze.Result) { r.Work.Kinds[0].Path[0].SlowNs = ns }
	}
	clients := func(slow int64) func(*analyze.Result) { // of those units, 100 of 100 ms and more
		return func(r *analyze.Result) {
			r.Work.Kinds = append(r.Work.Kinds, work.UnitKind{How: "cycle", Entry: true, Count: 100, TotalNs: 100 * ms, Path: []work.TimePart{
				{Leaf: work.Leaf{What: "network", Where: "main.a"}, Ns: 100 * ms, TypicalNs: ms, SlowNs: slow},
			}})
		}
	}
	home := func(r *analyze.Result) {
		r.Work.Kinds = []work.UnitKind{{How: "cycle", Class: "main.serve", Home: &work.Home{Function: "main.next"}}}
	}
	waits := func(in string) findings.Finding {
		return with(design, func(f *findings.Finding) {
			f.Actors = []findings.Actor{{Role: findings.Victim, Class: "main.serve", Stack: []string{"bufio.(*Reader).Peek bufio.go:1", in + " main.go:1", "main.next main.go:2"}}}
		})
	}
	reached := map[string]bool{}
	for _, c := range []struct {
		want, label string
		r           *analyze.Result
	}{
		{"no result", "No result", nil},
		{"decisions only", "Not measured", &analyze.Result{DecisionsOnly: true}},
		{"machine", "Trouble with the machine: critical", result(ms, with(cause(findings.Critical, findings.OfPTime, 90*ms), func(f *findings.Finding) { f.Kind = findings.KindMachine }))},
		{"blocking", "Blocking, not scheduling: warning", result(ms, cause(findings.Warning, findings.OfBlocked, 90*ms))},
		{"P-time", "P-time wasted: critical", result(ms, cause(findings.Critical, findings.OfPTime, 90*ms))},
		{"overhead", "Overhead: warning", result(ms, with(cause(findings.Warning, findings.OfWaiting, ms), func(f *findings.Finding) { f.Counted = true }))},
		{"delays", "Scheduling delays: warning", result(ms, cause(findings.Warning, findings.OfWaiting, ms))},
		{"P-time", "P-time wasted: note", result(ms, with(cause(findings.Critical, findings.OfWaiting, 20*ms), func(f *findings.Finding) { f.SymptomOf = []string{"y"} }),
			with(cause(findings.Note, findings.OfPTime, 90*ms), func(f *findings.Finding) { f.ID = "y" }))},
		{"by design", "Blocked, perhaps by design: note", result(ms, design)},
		{"only notes", "No serious problem found", changed(result(ms, sleeps), asleep)},
		{"only notes", "No serious problem found", result(ms, machine)},
		{"no fault", "No serious problem found", changed(result(90*ms, machine), idleP)},
		{"more work than Ps, by a cause", "More work than Ps", changed(result(90*ms, churn), busy)},
		{"more work than Ps, by a cause", "More work than Ps at times", result(90*ms, churn)},
		{"more work than Ps", "More work than Ps", changed(result(90*ms, inLine, explained), busy)},
		{"more work than Ps", "More work than Ps", changed(result(90*ms, cause(findings.Note, findings.OfWaiting, 60*ms)), busy)},
		{"suspected", "Suspected: note", result(ms, with(cause(findings.Note, findings.OfPTime, 20*ms), func(f *findings.Finding) { f.Basis = findings.Suspected }))},
		{"minor", "Note; act if it matters", result(ms, cause(findings.Note, findings.OfBlocked, 20*ms))},
		{"idle", "No serious problem found", changed(result(ms, cause(findings.Note, findings.OfBlocked, 20*ms)), func(r *analyze.Result) { r.Procs.Ps[0].IdleNs, r.Procs.Ps[0].LifetimeNs = 2000*ms, 2100*ms })},
		{"minor", "Note; act if it matters", changed(result(90*ms, cause(findings.Note, findings.OfWaiting, ms)), idleP)},
		{"not judged, no waits", "Not judged", &analyze.Result{}},
		{"not judged", "Not judged", changed(result(90*ms), unjudged)},
		{"no fault", "No serious problem found", changed(result(90*ms), idleP)},
		{"no waits", "No problem found", &analyze.Result{Detectors: make([]analyze.Detector, 1)}},
		{"idle", "No problem found", changed(result(ms), func(r *analyze.Result) { r.Procs.Ps[0].IdleNs, r.Procs.Ps[0].LifetimeNs = 2000*ms, 2100*ms })},
		{"lone waiter", "No problem found", changed(result(20*ms), func(r *analyze.Result) {
			r.Breakdown.Classes = []breakdown.Class{{Name: "main.a", TimeByState: breakdown.TimeByState{RunnableNs: 20 * ms, RunningNs: ms}}}
		})},
		{"only notes", "No serious problem found", result(ms, cause(findings.Note, findings.OfWaiting, ms))},
		{"slow units", slowed, changed(result(ms), slow("network", 2*ms))},
		{"slow units", slowed, changed(result(ms, cause(findings.Note, findings.OfWaiting, 90*ms)), slow("network", 2*ms))},
		{"delays", "Scheduling delays: warning", changed(result(ms, cause(findings.Warning, findings.OfWaiting, ms)), slow("network", 40*ms))},
		{"blocking", "Blocking, not scheduling: warning", changed(result(ms, cause(findings.Warning, findings.OfBlocked, 90*ms)), slow("lock", 2*ms))},
		{"slow units", slowed, changed(result(ms, design), slow("network", 2*ms))},
		{"slow units, by a cause", slowed, changed(result(ms, with(design, func(f *findings.Finding) { f.WorkShare = 0.9 })), slow("network", 2*ms))},
		{"slow units", slowed, changed(result(90*ms, inLine), slow("network", 2*ms))},
		{"slow units", slowed, changed(changed(result(ms), slow("network", 2*ms)), slowest(2))},
		{"fine", "No problem found", changed(changed(result(ms), slow("network", 2*ms)), slowest(1))},
		{"in a row", "Note; act if it matters", changed(result(ms), inRow(160, 20))},
		{"in a row", "Note; act if it matters", changed(result(ms, design), inRow(160, 20))},
		{"in a row", "Note; act if it matters", changed(changed(result(ms), inRow(160, 20)), clients(40*ms))},
		{"slow units", slowed, changed(changed(result(ms), inRow(160, 20)), clients(50*ms))},
		{"in a row", "Note; act if it matters", changed(result(ms), roundTrips(160))},
		{"fine", "No problem found", changed(result(ms), roundTrips(140))}, // 3 requests a unit
		{"in a row", "Blocking, not scheduling: warning", changed(changed(result(ms), inRow(40, 1)), atOnce)},
		{"in a row", "Note; act if it matters", changed(changed(result(ms), inRow(20, 1)), batch)},
		{"fine", "No problem found", changed(changed(result(ms), inRow(19, 1)), batch)},
		{"by design", "Blocked, perhaps by design: note", changed(result(ms, with(design, func(f *findings.Finding) { f.WorkShare = 0.9 })), inRow(160, 20))},
		{"blocking", "Blocking, not scheduling: warning", changed(result(ms, cause(findings.Warning, findings.OfBlocked, 90*ms)), inRow(160, 20))},
		{"fine", "No problem found", changed(result(ms), inRow(70, 20))},                                    // 3 times a unit
		{"in a row", "Note; act if it matters", changed(changed(result(ms), inRow(70, 20)), slowly(40*ms))}, // 31 times a slow one
		{"slow units", slowed, changed(changed(result(ms), inRow(17, 20)), slowly(40*ms))},                  // 7 times
		{"fine", "No problem found", changed(result(ms), inRow(160, 21))},                                   // for less than 5 ms each
		{"asleep", "Blocking, not scheduling: warning", changed(result(ms), sleeping(analyze.Tests, "test", true, 50*ms))},
		{"fine", "No problem found", changed(result(ms), sleeping(analyze.Tests, "test", true, 49*ms))},
		{"fine", "No problem found", changed(result(ms), sleeping(analyze.Tests, "test", false, 90*ms))}, // in a file of tests
		{"asleep", "Blocking, not scheduling: warning", changed(result(ms), sleeping(analyze.Benchmarks, "benchmark", true, 20*ms))},
		{"fine", "No problem found", changed(result(ms), sleeping(analyze.Benchmarks, "benchmark", true, 19*ms))},
		{"asleep", "Blocking, not scheduling: warning", changed(result(ms), selects(analyze.Benchmarks, 20*ms))},
		{"asleep", "Blocking, not scheduling: warning", changed(result(ms), selects(analyze.Tests, 90*ms))},
		{"fine", "No problem found", changed(result(ms), selects(analyze.Tests, 89*ms))},
		{"asleep", "Blocking, not scheduling: warning", changed(result(ms), serving(true, "shop.retry"))},
		{"fine", "No problem found", changed(result(ms), serving(true, "main.query"))},
		{"by design", "Blocked, perhaps by design: note", changed(result(ms, with(design, func(f *findings.Finding) { f.WorkShare = 0.9 })), serving(true, "shop.retry"))},
		{"fine", "No problem found", changed(result(ms), serving(false, "shop.retry"))},
		{"asleep", "Blocking, not scheduling: warning", changed(changed(result(ms), sleeping(analyze.Benchmarks, "benchmark", true, 50*ms)), beside)},
		{"fine", "No problem found", changed(changed(result(ms), sleeping(analyze.Benchmarks, "benchmark", true, 49*ms)), beside)},
		{"asleep", "Blocking, not scheduling: warning", changed(changed(result(ms), sleeping(analyze.Batch, "run", false, 50*ms)), entry)},
		{"fine", "No problem found", changed(changed(result(ms), sleeping(analyze.Batch, "run", false, 49*ms)), entry)},
		{"asleep", "Blocking, not scheduling: warning", changed(result(ms, cause(findings.Warning, findings.OfWaiting, 90*ms)), serving(true, "shop.retry"))},
		{"delays", "Scheduling delays: warning", changed(result(ms, with(cause(findings.Warning, findings.OfWaiting, 90*ms), func(f *findings.Finding) { f.WorkShare = 0.2 })), serving(true, "shop.retry"))},
		{"blocking", "Blocking, not scheduling: warning", changed(result(ms, cause(findings.Warning, findings.OfBlocked, 90*ms)), sleeping(analyze.Tests, "test", true, 50*ms))},
		{"in system calls", "Note; act if it matters", changed(result(ms), calling(50*ms))},
		{"computing", "Computing: warning", changed(result(ms), computing(analyze.Tests, "shop.go", 500*ms))},
		{"computing", "Computing: note", changed(result(ms), computing(analyze.Tests, "shop.go", 499*ms))},
		{"fine", "No problem found", changed(result(ms), computing(analyze.Tests, "shop.go", 199*ms))},
		{"fine", "No problem found", changed(result(ms), computing(analyze.Tests, "shop_test.go", 999*ms))},
		{"computing", "Computing: note", changed(result(ms, cause(findings.Warning, findings.OfWaiting, 49*ms)), computing(analyze.Batch, "shop.go", 999*ms))},
		{"delays", "Scheduling delays: warning", changed(result(ms, cause(findings.Warning, findings.OfWaiting, 50*ms)), computing(analyze.Batch, "shop.go", 999*ms))},
		{"in child processes", "Blocking, not scheduling: warning", changed(result(ms, awaits), children("child"))},
		{"blocking", "Blocking, not scheduling: warning", changed(result(ms, awaits), children("network"))},
		{"in line", "Lock contention: warning", changed(result(ms, cause(findings.Warning, findings.OfWaiting, 80*ms)), lined("lock", 20*ms))},
		{"delays", "Scheduling delays: warning", changed(result(ms, cause(findings.Warning, findings.OfWaiting, 81*ms)), lined("lock", 20*ms))},
		{"fine", "No problem found", changed(result(ms), lined("lock", 19*ms))},
		{"fine", "No problem found", changed(result(ms), lined("channel", 90*ms))},
		{"fine", "No problem found", changed(result(ms), calling(49*ms))},
		{"more work than Ps, by a cause", "More work than Ps at times", changed(result(90*ms, churn), slow("network", 40*ms))},
		{"fine", "No problem found", changed(result(ms), slow("unknown", 2*ms))},
		{"only notes", "No serious problem found", changed(result(ms, waits("main.next")), home)},
		{"by design", "Blocked, perhaps by design: note", changed(result(ms, waits("main.ask")), home)},
		{"no fault", "No serious problem found", changed(changed(result(90*ms, waits("main.next")), home), idleP)},
		{"by design", "Blocked, perhaps by design: note", changed(result(ms, with(waits("main.next"), func(f *findings.Finding) {
			f.Actors[0].Stack = append([]string{"runtime.chansend1 chan.go:1"}, f.Actors[0].Stack[1:]...)
		})), home)},
		{"by design", "Blocked, perhaps by design: note", changed(result(ms, with(waits("main.next"), func(f *findings.Finding) { f.Actors[0].Class = "main.main" })), func(r *analyze.Result) {
			home(r)
			r.Program.Kind, r.Work.Kinds[0].Class = analyze.Batch, "main.main"
		})},
		{"fine", "No problem found", result(ms)},
	} {
		reached[c.want] = true
		if d := Diagnose(c.r); d.Name != c.want || d.Label != c.label {
			t.Errorf("%q, %q, want %q, %q", d.Name, d.Label, c.want, c.label)
		} else if d.Subject != nil && d.Subject != &c.r.Findings[d.Finding] || d.Subject == nil && d.Finding != -1 {
			t.Errorf("%s: finding %d leads", d.Name, d.Finding)
		} else if want := strings.HasPrefix(c.label, "Block") || d.Name == "in a row" || d.Name == "in line"; d.AboutBlocking() != want && (want || d.Subject == nil) {
			t.Errorf("%s: about blocking: %v", d.Name, d.AboutBlocking())
		}
	}
	for _, c := range (&Diagnosis{r: nothing}).cases() {
		if !reached[c.Name] {
			t.Errorf("no result for the case %q", c.Name)
		}
	}
}

// TestSymptoms has a class that waited for each symptom.
func TestSymptoms(t *testing.T) {
	held := func(h waits.PHold) []waits.PHold {
		h.Cause = waits.CauseUnavailable
		return []waits.PHold{h}
	}
	for _, c := range []struct {
		cause waits.Cause
		class waits.Class
		want  string
	}{
		{waits.CauseUnavailable, waits.Class{Held: held(waits.PHold{Reason: "system call", Name: "main.a", Stack: []string{"main.read"}})}, "System calls of $caller hold Ps that $victim waits for: $held in all"},
		{waits.CauseQueueing, waits.Class{Antagonists: []waits.Antagonist{{Class: 9, Ns: 60}, {Class: 1, Ns: 40}}}, waited + "mostly behind $ahead"},
		{waits.CauseQueueing, waits.Class{Antagonists: []waits.Antagonist{{Class: 9, Ns: 40}, {Class: 1, Ns: 60}}}, waited + "in part behind $ahead"},
		{waits.CauseOvertaken, waits.Class{Antagonists: []waits.Antagonist{{Class: 9, Ns: 30}, {Class: 1, Ns: 70}}}, atATime},
		{waits.CauseGC, waits.Class{}, waited + "mostly behind the garbage collector"},
		{waits.CauseIdlePAvailable, waits.Class{}, waited + "mostly although one was idle"},
		{waits.CauseSTW, waits.Class{}, waited + "mostly while the world was stopped"},
		{waits.CauseUnavailable, waits.Class{Held: held(waits.PHold{Reason: "locked"})}, waited + "mostly for one on its way to a locked thread"},
		{waits.CauseUnavailable, waits.Class{Held: held(waits.PHold{Reason: "system call", Name: "main.v", Class: 1})}, waited + "mostly for one that its own system calls held"},
		{waits.CauseUnavailable, waits.Class{Held: held(waits.PHold{Reason: "system call", Name: "main.a", Class: 2})}, waited + "mostly for one that system calls of $holder held"},
		{waits.CauseUnavailable, waits.Class{}, atATime},
	} {
		r := result(ms, findings.Finding{ID: "starvation", Kind: findings.KindSymptom, Severity: findings.Warning})
		c.class.ID, c.class.Name = 1, "main.v"
		c.class.Waits = waits.Summary{TotalNs: 100, Causes: []waits.CauseTime{{Cause: c.cause, Ns: 100}}}
		r.Waits.Classes = []waits.Class{c.class}
		if d := Diagnose(r); !d.AboutVictim || d.Headline != c.want {
			t.Errorf("%s: %q, want %q", c.cause, d.Headline, c.want)
		}
	}
}

// What test code waits for, or others for it, leads nowhere: it is meant.
func TestTestCodeDoesNotLead(t *testing.T) {
	for _, waited := range []int64{ms, 90 * ms} {
		x := cause(findings.Note, findings.OfBlocked, 150*ms)
		x.MaybeMeant, x.OfTest = true, true
		r := result(waited, x)
		r.Waits.User.Causes[0].Cause = waits.CauseIdlePAvailable
		if d := Diagnose(r); d.Subject != nil {
			t.Errorf("waited %d: %s leads", waited, d.Case.Name)
		}
	}
}

// Waits after runtime.Gosched are in no number of the first screen.
func TestWaitsAfterGoschedAreNotCounted(t *testing.T) {
	r := result(2 * ms)
	r.Waits.Classes = []waits.Class{
		{ID: 1, Name: "main.spin", Waits: waits.Summary{TotalNs: 30 * ms, MaxNs: 27 * ms}, Unasked: &waits.Summary{}},
		{ID: 2, Name: "main.serve", Waits: waits.Summary{TotalNs: 9 * ms, MaxNs: 8 * ms}, Unasked: &waits.Summary{TotalNs: 2 * ms, MaxNs: ms}},
	}
	if d := Diagnose(r); len(d.Waiting) != 1 || d.Waiting[0].Waits.MaxNs != ms || d.Victim.Waits.TotalNs != 2*ms {
		t.Errorf("%+v", d.Waiting)
	}
}

// Package testing is not what a program is slow by.
func TestSlowByNoHarness(t *testing.T) {
	r := result(ms)
	r.Program.Kind = analyze.Tests
	lives := func(name string, ns int64) breakdown.Class {
		c := breakdown.Class{Name: name}
		c.BlockedNs[breakdown.ReasonSleep] = ns
		return c
	}
	r.Breakdown.Classes = []breakdown.Class{lives("testing.(*T).Run (go wrapper 1)", 3*ms), lives("main.main", 2*ms), lives("shop.TestPay", ms)}
	r.Procs.Ps[0].IdleNs, r.Procs.Ps[0].RunningNs = 190*ms, 10*ms
	if c, computes := Diagnose(r).SlowBy(); computes || c == nil || c.Name != "shop.TestPay" {
		t.Errorf("%+v", c)
	}
}

// Where slow units run for longer, a finding about long runs of their goroutines says in which
// function.
func TestRunsIn(t *testing.T) {
	long := cause(findings.Note, findings.OfWaiting, ms)
	long.LongRuns = true
	long.Actors = []findings.Actor{{Role: findings.Cause, Class: "main.serve", Stack: []string{"main.parse main.go:1", "main.serve main.go:2"}}}
	for _, c := range []struct{ what, class, want string }{
		{"running", "main.serve", "main.parse"}, {"running", "main.other", ""}, {"network", "main.serve", ""},
	} {
		r := result(ms, long)
		r.Work.Kinds = []work.UnitKind{{How: "cycle", Entry: true, Count: 100, Class: c.class, Path: []work.TimePart{{Leaf: work.Leaf{What: c.what}, Ns: ms, TypicalNs: ms, SlowNs: 90 * ms}}}}
		if d := Diagnose(r); d.Slow == nil || string(d.Slow.RunsIn) != c.want {
			t.Errorf("%s of %s: %+v, want %q", c.what, c.class, d.Slow, c.want)
		}
	}
}

package analyze

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/work"
)

// TestScale has findings that explain more or less of what users feel.
func TestScale(t *testing.T) {
	const ms = 1_000_000
	lock := func(who string, cost int64) findings.Finding {
		return findings.Finding{ID: "x", Kind: findings.KindCause, CostOf: findings.OfBlocked, CostNs: cost, WholeNs: 1000 * ms, Severity: findings.Critical,
			Actors: []findings.Actor{{Role: findings.Victim, Class: "main.other", Stack: []string{"sync.(*Mutex).Lock mutex.go:1", who + " main.go:1"}}}}
	}
	ofUnits := func(in string, cost int64) findings.Finding {
		f := lock(in, cost)
		f.Remedy.FreeLock, f.Actors[0].Class = true, "net/http.(*conn).serve"
		return f
	}
	of := func(kind findings.Kind, base findings.CostBase, cost int64) findings.Finding {
		return findings.Finding{ID: "x", Kind: kind, CostOf: base, CostNs: cost, WholeNs: 1000 * ms, Severity: findings.Critical}
	}
	waits := of(findings.KindCause, findings.OfWaiting, 900*ms)
	waits.Actors = []findings.Actor{{Role: findings.Victim, Class: "main.handle, started by net/http.(*conn).serve"}}
	starved := of(findings.KindSymptom, findings.OfWaiting, 500*ms)
	starved.Actors = []findings.Actor{{Role: findings.Victim, Class: "main.send"}}
	counted := of(findings.KindCause, findings.OfPTime, 40*ms)
	counted.Counted = true
	proven := of(findings.KindMachine, findings.OfPTime, ms)
	proven.Proven = true
	for _, c := range []struct {
		name    string
		program ProgramKind
		runs    int64 // of a slow unit, which is in line for a lock for 100 ms and runnable for 100 ms
		f       findings.Finding
		want    findings.Severity
		share   float64
	}{
		{"half of slow units", Server, 0, lock("main.get", 500*ms), findings.Critical, 0.5},
		{"half, but seldom", Server, 0, lock("main.get", 50*ms), findings.Warning, 0.5},
		{"a quarter", Server, 200 * ms, lock("main.get", 190*ms), findings.Warning, 0.25},
		{"a tenth", Server, 800 * ms, lock("main.get", 100*ms), findings.Note, 0.1},
		{"another lock", Server, 0, lock("main.elsewhere", 100*ms), findings.Note, 0},
		{"another lock, for much of the time", Server, 0, lock("main.elsewhere", 300*ms), findings.Warning, 0},
		{"a lock of goroutines that do units", Server, 0, ofUnits("main.get", 500*ms), findings.Critical, 0.5},
		{"but not for a unit", Server, 0, ofUnits("main.elsewhere", 900*ms), findings.Note, 0},
		{"but for units of a rare kind", Server, 0, ofUnits("main.rare", 900*ms), findings.Critical, 0},
		{"waits of the units", Server, 0, waits, findings.Critical, 0.5},
		{"waits of those that do no units", Server, 0, starved, findings.Critical, 0.25},
		{"waits of others", Server, 0, of(findings.KindCause, findings.OfWaiting, 100*ms), findings.Note, 0.05},
		{"P-time", Server, 0, of(findings.KindCause, findings.OfPTime, 60*ms), findings.Warning, 0.03},
		{"little P-time", Server, 0, of(findings.KindCause, findings.OfPTime, 40*ms), findings.Note, 0.02},
		{"late timers", Server, 0, of(findings.KindSymptom, findings.OfBlocked, 60*ms), findings.Warning, 0},
		{"a machine, guessed", Server, 0, of(findings.KindMachine, findings.OfPTime, 100*ms), findings.Critical, 0.5},
		{"a machine, proven", Server, 800 * ms, proven, findings.Critical, 0.9},
		{"the trace", Server, 0, of(findings.KindTrace, "", 0), findings.Critical, 0},
		{"elapsed time of a job", Batch, 0, lock("main.get", 100*ms), findings.Note, 0},
		{"half of it", Batch, 0, lock("main.get", 500*ms), findings.Critical, 0},
		{"waits of a job", Batch, 0, waits, findings.Critical, 0},
		{"a machine, in tests", Tests, 0, of(findings.KindMachine, findings.OfPTime, 900*ms), findings.Note, 2.0 / 3},
		{"a lock of a benchmark", Benchmarks, 0, lock("main.get", 900*ms), findings.Note, 0},
		{"a lock of tests", Tests, 0, lock("main.get", 300*ms), findings.Warning, 0.3},
		{"a lock of one test of many", Tests, 0, lock("main.get", 100*ms), findings.Note, 0.1},
		{"waits of tests", Tests, 0, waits, findings.Note, 1.0 / 3},
		{"counted in tests", Tests, 0, counted, findings.Note, 0.04 / 3},
	} {
		how := "cycle"
		if c.program == Tests {
			how = "test"
		}
		r := &Result{Program: Program{Kind: c.program}, Findings: []findings.Finding{c.f}}
		r.Trace.DurationNs = 1000 * ms
		r.Procs.Ps = []procs.Proc{{LifetimeNs: 1000 * ms, RunningNs: 500 * ms, IdleNs: 500 * ms}}
		r.Work.Kinds = []work.UnitKind{{Name: "main.handle", Class: "net/http.(*conn).serve", How: how, Entry: true, Count: 100, TotalNs: 1000 * ms, Path: []work.TimePart{
			{Via: &work.Via{What: "lock", Site: "main.get"}, Leaf: work.Leaf{Who: "main.put", What: "sleep", Where: "main.put"}, Ns: ms, TypicalNs: ms, SlowNs: 100 * ms},
			{Leaf: work.Leaf{Who: "main.handle", What: "runnable"}, Ns: ms, TypicalNs: ms, SlowNs: 100 * ms},
			{Leaf: work.Leaf{Who: "main.handle", What: "running"}, Ns: ms, TypicalNs: ms, SlowNs: c.runs},
		}}, {Name: "main.rare", Class: "net/http.(*conn).serve", How: "cycle", Count: 2, Path: []work.TimePart{
			{Via: &work.Via{What: "lock", Site: "main.rare"}, Leaf: work.Leaf{Who: "main.put", What: "sleep", Where: "main.put"}, Ns: 9 * ms},
		}}}
		r.Breakdown.Classes = []breakdown.Class{{Name: "main.send", TimeByState: breakdown.TimeByState{RunnableNs: 500 * ms, RunningNs: 500 * ms}}}
		r.scale()
		if f := r.Findings[0]; f.Severity != c.want || f.WorkShare < c.share-0.001 || f.WorkShare > c.share+0.001 {
			t.Errorf("%s: %s, share %v of units, want %s, %v", c.name, f.Severity, f.WorkShare, c.want, c.share)
		}
	}
}

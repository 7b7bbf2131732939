package analyze

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/analyze/work"
)

// TestProgramKind infers what kind of program a result is of.
func TestProgramKind(t *testing.T) {
	const ms = 1_000_000
	units := func(class, how string, server bool) work.UnitKind {
		return work.UnitKind{Class: class, How: how, Entry: true, Server: server, Count: 20}
	}
	asks := func(times int64) work.UnitKind {
		k := units("main.main", "run", false)
		k.TotalNs, k.Path = 100*ms, []work.TimePart{{Via: &work.Via{What: "network", Site: "main.upload"}, Waits: times, Ns: 50 * ms}}
		return k
	}
	starts := asks(0)
	starts.Path = []work.TimePart{{Leaf: work.Leaf{What: "child"}, Ns: 50 * ms}}
	host := findings.Facts{}
	host.Waits.Classes = []waits.Class{{Name: "runtime.handleEvent", RunningNs: ms}}
	for _, c := range []struct {
		name   string
		told   ProgramKind
		facts  findings.Facts
		kinds  []work.UnitKind
		runs   int64
		want   ProgramKind
		assume bool
	}{
		{"requests", "", findings.Facts{}, []work.UnitKind{units("main.serve", "cycle", true)}, 90 * ms, Server, false},
		{"a goroutine for each", "", findings.Facts{}, []work.UnitKind{units("main.serve", "lifetime", true)}, 90 * ms, Server, false},
		{"parts of a job", "", findings.Facts{}, []work.UnitKind{units("main.parse", "lifetime", false)}, 90 * ms, Batch, false},
		{"main waits for parts", "", findings.Facts{}, []work.UnitKind{units("main.main", "cycle", false)}, 90 * ms, Batch, false},
		{"one job", "", findings.Facts{}, nil, 90 * ms, Batch, false},
		{"at rest", "", findings.Facts{}, nil, ms, Idle, false},
		{"asks time and again", "", findings.Facts{}, []work.UnitKind{asks(20)}, ms, Batch, false},
		{"waits for child processes", "", findings.Facts{}, []work.UnitKind{starts}, ms, Batch, false},
		{"waits for something to do", "", findings.Facts{}, []work.UnitKind{asks(19)}, ms, Idle, false},
		{"few requests", "", findings.Facts{}, []work.UnitKind{units("main.pack", "run", false)}, 90 * ms, Server, false},
		{"tests", "", findings.Facts{Tested: "shop"}, []work.UnitKind{units("main.serve", "cycle", true)}, 90 * ms, Tests, false},
		{"benchmarks", "", findings.Facts{Tested: "shop", Tests: findings.Tests{Benchmarks: true}}, nil, 90 * ms, Benchmarks, false},
		{"js/wasm", "", host, nil, 90 * ms, Wasm, false},
		{"as told", Server, host, nil, 90 * ms, Server, true},
	} {
		r := &Result{}
		r.Work.Kinds, r.Work.Serves = c.kinds, c.name == "few requests" || c.name == "at rest"
		r.Procs.Ps = []procs.Proc{{LifetimeNs: 100 * ms, RunningNs: c.runs, IdleNs: 100*ms - c.runs}}
		basis := findings.Inferred
		if c.assume {
			basis = "assumed"
		}
		if got := (&analysis{Options: Options{Program: c.told}}).program(r, &c.facts); got != (Program{c.want, basis}) {
			t.Errorf("%s: %+v, want %s, %s", c.name, got, c.want, basis)
		}
	}
	if err := CheckProgramKind("daemon"); err == nil || err.Error() != "program daemon: must be one of server, tests, benchmarks, batch, idle, wasm" {
		t.Error(err)
	}
}

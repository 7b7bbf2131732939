package replay

import (
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/all"
	"github.com/gmpscope/gmpscope/reference/sim"
)

// The changes are those of the findings' remedies.
func TestChangeFor(t *testing.T) {
	locked := []findings.Actor{{Role: findings.Victim, Stack: []string{"sync.(*Mutex).Lock (sync/mutex.go:45)", "main.work (main.go:3)"}}}
	for _, c := range []struct {
		name   string
		remedy findings.Remedy
		actors []findings.Actor
		want   Change
		ok     bool
	}{
		{"none", findings.Remedy{Why: "x"}, locked, Change{}, false},
		{"times", findings.Remedy{ProcsTimes: 2, Why: "x"}, nil, Change{Procs: 6}, true},
		{"plus", findings.Remedy{ProcsPlus: 1}, nil, Change{Procs: 4}, true},
		{"policy", findings.Remedy{Policy: "fifo"}, nil, Change{Policy: "fifo"}, true},
		{"no GC", findings.Remedy{NoGC: true}, nil, Change{NoGC: true}, true},
		{"unlocked", findings.Remedy{Unlocked: true}, nil, Change{Unlocked: true}, true},
		{"speed", findings.Remedy{Speed: 2, Makespan: true}, nil, Change{Speed: 2}, true},
		{"yield", findings.Remedy{YieldNs: 5}, nil, Change{Yield: 5}, true},
		{"lock", findings.Remedy{FreeLock: true}, locked, Change{FreeLock: "main.work"}, true},
		{"lock of nobody", findings.Remedy{FreeLock: true}, nil, Change{}, false},
	} {
		if got, ok := changeFor(&findings.Finding{Actors: c.actors, Remedy: c.remedy}, 3); got != c.want || ok != c.ok {
			t.Errorf("%s: %+v, %v", c.name, got, ok)
		}
	}
}

// Each policy that a detector names is one of the simulator's.
func TestRemediesNamePolicies(t *testing.T) {
	for _, d := range all.Detectors(all.Default()) {
		if p := d.Remedy.Policy; p != "" && !slices.Contains(sim.PolicyNames(), p) {
			t.Errorf("%s: there is no policy %s", d.ID, p)
		}
	}
}

// What programs of known trouble would gain, by the finding that names it. In
// each of them the advice is right; where a what-if says that the trace cannot tell, it
// promises nothing, for the same reason.
func TestGains(t *testing.T) {
	for _, c := range []struct {
		trace, id, class, change string
		metric                   string
		least                    float64 // part of the metric that goes, if it helps
		verdict                  AdviceVerdict
	}{
		{"cases/starvation-trigger-go1.26-p2", "convoy", "main.short", "main.compute yields every 100µs", MetricWaited, 0.9, Helps},
		{"cases/starvation-trigger-go1.26-p2", "starvation", "main.short", "GOMAXPROCS 4", MetricWaited, 0, Untrusted},
		{"pingpong-starve-go1.26-p1", "runnext-monopoly", "main.waiter", "policy no-runnext", MetricWaited, 0.9, Helps},
		{"cases/lock-convoy-trigger-go1.26-p2", "lock-convoy", "", "", MetricMakespan, 0.2, Helps},
		{"cases/serialization-trigger-go1.26-p2", "serialization", "", "", MetricMakespan, 0.2, Helps},
	} {
		t.Run(c.trace+" "+c.id, func(t *testing.T) {
			s, res := split(t, c.trace, SplitOptions())
			i := slices.IndexFunc(s.Prospects, func(p Gain) bool { return p.ID == c.id })
			if i < 0 {
				t.Fatalf("no gain: %+v of findings %v", s.Prospects, res.Findings)
			}
			p := s.Prospects[i]
			if res.Findings[p.Finding].ID != c.id || c.class != "" && p.Class != c.class {
				t.Errorf("%+v", p)
			}
			if p.CapacityNs+p.PolicyNs+p.ExcessNs != p.ObservedNs {
				t.Errorf("%+v does not add up", p.Parts)
			}
			a := p.Advice
			if a == nil {
				t.Fatal("no advice")
			}
			if a.Verdict != c.verdict || (a.Untrusted != "") != (c.verdict == Untrusted) || a.Metric != c.metric || c.change != "" && a.Change != c.change || a.MinNs > a.ChangedNs || a.MaxNs < a.ChangedNs {
				t.Errorf("%+v", a)
			}
			if c.verdict == Helps && float64(a.ChangedNs) > (1-c.least)*float64(a.SimulatedNs) {
				t.Errorf("less than %v is gained: %+v", c.least, a)
			}
			if c.verdict == Untrusted {
				r, err := simulate(t, c.trace, SimulateOptions{Seeds: 3, WhatIf: []Change{{Procs: 4}}})
				if err != nil {
					t.Fatal(err)
				}
				if x := r.Simulated.WhatIf[0]; x.Change != c.change || x.Untrusted != a.Untrusted {
					t.Errorf("%q, and of the what-if %s %q", a.Untrusted, x.Change, x.Untrusted)
				}
			}
		})
	}
}

// What the model gets wrong by far promises nothing, and what does not stand out
// from luck is no gain.
func TestAdviceIsHonest(t *testing.T) {
	run := func(ns ...int64) (out []outcome) {
		for _, n := range ns {
			o := outcome{run: newRun()}
			o.run.MakespanNs = n
			out = append(out, o)
		}
		return out
	}
	for _, c := range []struct {
		observed      int64
		self, changed []outcome
		want          AdviceVerdict
	}{
		{100, run(90, 100, 110), run(40, 50, 60), Helps},
		{100, run(90, 100, 110), run(85, 88, 95), NoHelp},     // no better than the best without
		{100, run(100, 100, 100), run(97, 97, 97), NoHelp},    // too little
		{100, run(100, 100, 100), run(150, 160, 170), NoHelp}, // worse
		{100, run(160, 160, 160), run(10, 10, 10), Untrusted},
		{100, run(40, 40, 40), run(10, 10, 10), Untrusted},
		{0, run(40, 40, 40), run(10, 10, 10), Untrusted},
	} {
		got := advise(run(c.observed)[0], c.self, c.changed, 0, Change{NoGC: true}, &findings.Remedy{Makespan: true, Why: "because"})
		if got.Verdict != c.want || got.Why != "because" || got.Change != "no GC" {
			t.Errorf("%d, %v, %v: %+v, want %s", c.observed, c.self, c.changed, got, c.want)
		}
	}
}

// Notes are no cause for action, and what shows in what was not simulated is not
// promised anything.
func TestGainsAreForWhatWasSimulated(t *testing.T) {
	o := SplitOptions()
	o.Workload.MaxSteps = 400
	s, res := split(t, "cases/starvation-trigger-go1.26-p2", o)
	for _, p := range s.Prospects {
		f := res.Findings[p.Finding]
		if f.ToNs > s.EndNs || f.Severity == findings.Note && p.Advice != nil {
			t.Errorf("%+v for a finding up to %d ns, simulated up to %d", p, f.ToNs, s.EndNs)
		}
	}
}

package replay

import (
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/all"
)

// Each detector has a change that stands for its advice, or a reason why none
// does.
func TestRemediesAreComplete(t *testing.T) {
	ids := map[string]bool{}
	for _, d := range all.Detectors(all.Default()) {
		ids[d.ID] = true
		_, some := remedies[d.ID]
		if _, none := noRemedy[d.ID]; some == none {
			t.Errorf("%s: with a change %v, with a reason for none %v", d.ID, some, none)
		}
	}
	for id := range remedies {
		if !ids[id] {
			t.Errorf("there is no detector %s", id)
		}
	}
	for id := range noRemedy {
		if !ids[id] {
			t.Errorf("there is no detector %s", id)
		}
	}
}

// What programs of known trouble would gain, by the finding that names it. In
// each of them the advice is right.
func TestProspects(t *testing.T) {
	for _, c := range []struct {
		trace, id, class, change string
		metric                   string
		least                    float64 // part of the metric that goes
	}{
		{"cases/starvation-trigger-go1.26-p2", "convoy", "main.short", "main.compute yields every 100µs", MetricWaited, 0.9},
		{"cases/starvation-trigger-go1.26-p2", "starvation", "main.short", "GOMAXPROCS 4", MetricWaited, 0.9},
		{"pingpong-starve-go1.26-p1", "runnext-monopoly", "main.waiter", "policy no-runnext", MetricWaited, 0.9},
		{"cases/lock-convoy-trigger-go1.26-p2", "lock-convoy", "", "", MetricMakespan, 0.2},
		{"cases/serialization-trigger-go1.26-p2", "serialization", "", "", MetricMakespan, 0.2},
	} {
		t.Run(c.trace+" "+c.id, func(t *testing.T) {
			s, res := split(t, c.trace, SplitOptions())
			i := slices.IndexFunc(s.Prospects, func(p Prospect) bool { return p.ID == c.id })
			if i < 0 {
				t.Fatalf("no prospect: %+v of findings %v", s.Prospects, res.Findings)
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
			if a.Verdict != Helps || a.Metric != c.metric || c.change != "" && a.Change != c.change || a.MinNs > a.ChangedNs || a.MaxNs < a.ChangedNs ||
				float64(a.ChangedNs) > (1-c.least)*float64(a.SimulatedNs) {
				t.Errorf("%+v", a)
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
		got := advise(run(c.observed)[0], c.self, c.changed, 0, Change{NoGC: true}, remedy{makespan: true, why: "because"})
		if got.Verdict != c.want || got.Why != "because" || got.Change != "no GC" {
			t.Errorf("%d, %v, %v: %+v, want %s", c.observed, c.self, c.changed, got, c.want)
		}
	}
}

// Notes are no cause for action, and what shows in what was not simulated is not
// promised anything.
func TestProspectsAreForWhatWasSimulated(t *testing.T) {
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

package textbook

import (
	"testing"

	"github.com/gmpscope/gmpscope/lab/roundtrip"
	"github.com/gmpscope/gmpscope/reference/sim"
)

// TestTraces writes each program as a trace, on both sides, and has it read. Where
// the scheduler is Go's, the reconstruction must find out what it did.
func TestTraces(t *testing.T) {
	for _, p := range programs() {
		if p.id == "million" { // of goroutines: a trace of 100 MB
			continue
		}
		for _, v := range []variant{p.off, p.on} {
			o := sim.Options{Policy: v.policy, Costs: v.costs, Procs: p.procs, Until: int64(p.until)}
			r, err := roundtrip.Do(t.Context(), o, p.load(), 0, v.policy.Rules)
			if err != nil {
				t.Errorf("%s, %s: %v", p.id, v.name, err)
				continue
			}
			c := r.Count()
			t.Logf("%s, %s: %+v", p.id, v.name, c)
			if (sim.Policy{Name: v.policy.Name, Rules: v.policy.Rules}) != v.policy {
				continue // a mechanism is missing
			}
			few := 1 + c.Starts*3/100 // at the 61st tick or not: no trace tells
			if c.Starts-c.Source > few || c.Steals-c.Stolen > few || c.Starts-c.Local > few || c.Starts-c.Global > few {
				t.Errorf("%s, %s: %+v, more than %d are wrong", p.id, v.name, c, few)
			}
		}
	}
}

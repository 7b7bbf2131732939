package roundtrip

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/reference/sim"
)

// However a trace is cut into generations, the units of work in it are the same. The statuses
// that a generation begins with put off what follows them by a ns each.
func TestUnitsInAnyGenerations(t *testing.T) {
	type kind struct {
		Count, Open int64
		TotalNs     float64
	}
	units := int64(0)
	for _, l := range loads {
		var whole map[[2]string]kind
		for _, generation := range []int64{0, 1 * ms, 5 * ms} {
			o := sim.Options{Policy: sim.Version(reference.Latest()), Costs: sim.DefaultCosts(), Procs: l.procs, Seed: 1}
			if generation > 0 && l.name == "garbage collection" {
				continue // the writer does not cut cycles of the collector everywhere
			}
			r, err := Do(t.Context(), o, l.load(), generation, reference.Latest())
			if err != nil {
				t.Fatalf("%s: %v", l.name, err)
			}
			kinds := map[[2]string]kind{}
			for _, k := range r.Analysis.Work.Kinds {
				if k.How != work.Run.String() {
					kinds[[2]string{k.Name, k.How}] = kind{k.Count, k.Open, float64(k.TotalNs)}
					units += k.Count
				}
			}
			if generation == 0 {
				whole = kinds
			} else if d := cmp.Diff(whole, kinds, cmpopts.EquateApprox(1e-4, 0)); d != "" {
				t.Errorf("%s, %d generations (-one +many):\n%s", l.name, r.Analysis.Trace.Generations, d)
			}
		}
	}
	if units < 1000 {
		t.Errorf("%d units only", units)
	}
}

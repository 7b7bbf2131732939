package findings_test

import (
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

// Of two findings that explain a symptom the first leads, unless the other costs more than
// twice as much.
func TestChiefOfTwoExplanations(t *testing.T) {
	for _, c := range []struct {
		gc, stage int64
		want      string
	}{
		{600, 2000, "slow-stage"},
		{600, 1100, "gc-displacement"},
		{600, 300, "gc-displacement"},
	} {
		list := []findings.Finding{
			{ID: "starvation", Kind: findings.KindSymptom, Severity: findings.Critical, CostNs: 700, SymptomOf: []string{"gc-displacement", "slow-stage"}},
			{ID: "gc-displacement", Kind: findings.KindCause, Severity: findings.Critical, CostNs: c.gc},
			{ID: "slow-stage", Kind: findings.KindCause, Severity: findings.Warning, CostNs: c.stage},
		}
		if got := findings.Chief(list, findings.Warning); got == nil || got.ID != c.want {
			t.Errorf("%d and %d: %+v, want %s", c.gc, c.stage, got, c.want)
		}
	}
}

// The machine comes before the program if it costs half as much, and does not because it is
// more severe while it costs next to nothing.
func TestChiefBesideTheMachine(t *testing.T) {
	for _, c := range []struct {
		name          string
		machine       findings.Severity
		costs, causes int64
		proven        bool
		want          string
	}{
		{"costs half as much", findings.Warning, 500, 1000, false, "process-stopped"},
		{"costs less", findings.Warning, 499, 1000, false, "slow-stage"},
		{"costs less, but is more severe", findings.Critical, 201, 1000, false, "process-stopped"},
		{"costs next to nothing, and is more severe", findings.Critical, 200, 1000, false, "slow-stage"},
		{"the kernel shows it", findings.Critical, 1, 1000, true, "process-stopped"},
	} {
		list := []findings.Finding{
			{ID: "process-stopped", Kind: findings.KindMachine, Severity: c.machine, CostNs: c.costs, Proven: c.proven},
			{ID: "slow-stage", Kind: findings.KindCause, Severity: findings.Warning, CostNs: c.causes},
		}
		if c.machine == findings.Warning {
			slices.Reverse(list) // ranked by cost
		}
		if got := findings.Chief(list, findings.Warning); got == nil || got.ID != c.want {
			t.Errorf("%s: %+v, want %s", c.name, got, c.want)
		}
	}
}

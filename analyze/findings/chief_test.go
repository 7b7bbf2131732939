package findings_test

import (
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

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

// The machine comes before the program if it is proven, or if it costs half as much as what a lack
// of CPUs may feign; and does not because it is more severe while it costs next to nothing.
func TestChiefBesideTheMachine(t *testing.T) {
	for _, c := range []struct {
		name          string
		machine       findings.Severity
		costs, causes int64
		basis, of     string // of the machine, and of the cause
		proven        bool
		want          string
	}{
		{"costs half as much, of what stands", findings.Warning, 500, 1000, findings.Inferred, findings.Certain, false, "slow-stage"},
		{"costs more, of what stands", findings.Critical, 5000, 1000, findings.Suspected, findings.Inferred, false, "slow-stage"},
		{"costs half as much", findings.Warning, 500, 1000, findings.Inferred, findings.Suspected, false, "process-stopped"},
		{"costs less", findings.Warning, 499, 1000, findings.Inferred, findings.Suspected, false, "slow-stage"},
		{"costs less, but is more severe", findings.Critical, 201, 1000, findings.Inferred, findings.Suspected, false, "process-stopped"},
		{"costs next to nothing, and is more severe", findings.Critical, 200, 1000, findings.Inferred, findings.Suspected, false, "slow-stage"},
		{"the kernel shows it", findings.Critical, 1, 1000, findings.Inferred, findings.Certain, true, "process-stopped"},
		{"the CPUs are known", findings.Critical, 1, 1000, findings.Certain, findings.Certain, false, "process-stopped"},
	} {
		list := []findings.Finding{
			{ID: "process-stopped", Kind: findings.KindMachine, Severity: c.machine, CostNs: c.costs, Basis: c.basis, Proven: c.proven},
			{ID: "slow-stage", Kind: findings.KindCause, Severity: findings.Warning, CostNs: c.causes, Basis: c.of},
		}
		if c.machine == findings.Warning {
			slices.Reverse(list) // ranked by cost
		}
		if got := findings.Chief(list, findings.Warning); got == nil || got.ID != c.want {
			t.Errorf("%s: %+v, want %s", c.name, got, c.want)
		}
	}
}

// The same load recorded again has the same chief, though costs differ by a few per cent.
func TestChiefIsStable(t *testing.T) {
	for _, c := range []struct {
		lock, stage int64
		want        string
	}{
		{100, 105, "lock-convoy"},
		{105, 100, "lock-convoy"},
		{80, 100, "lock-convoy"},
		{79, 100, "slow-stage"},
	} {
		list := findings.Rank([]findings.Finding{
			{ID: "lock-convoy", Kind: findings.KindCause, Severity: findings.Warning, CostNs: c.lock},
			{ID: "slow-stage", Kind: findings.KindCause, Severity: findings.Warning, CostNs: c.stage},
		})
		if got := findings.Chief(list, findings.Warning); got.ID != c.want {
			t.Errorf("%d and %d: %s, want %s", c.lock, c.stage, got.ID, c.want)
		}
		if got := findings.Lead(list, func(x *findings.Finding) bool { return x.Kind == findings.KindCause }); got.ID != c.want {
			t.Errorf("%d and %d: %s leads, want %s", c.lock, c.stage, got.ID, c.want)
		}
	}
}

// What was counted leads, though all stood in line, before what it outweighs, and before a machine
// that is only guessed at; not before long runs that cost half as much.
func TestChiefOfACrowd(t *testing.T) {
	crowd := findings.Finding{ID: "runnable-burst", Kind: findings.KindCause, Severity: findings.Note, Counted: true, InLine: true, CostNs: 9000, WholeNs: 10_000}
	late := findings.Finding{
		ID: "timer-lateness", Kind: findings.KindSymptom, Severity: findings.Critical, CostNs: 100, WholeNs: 10_000,
		SymptomOf: []string{"runnable-burst", "convoy"}, Actors: []findings.Actor{{Role: findings.Cause, Stack: []string{"main.answer (main.go:1)"}}},
	}
	runs := findings.Finding{ID: "convoy", Kind: findings.KindCause, Severity: findings.Note, CostNs: 5000, WholeNs: 10_000}
	machine := findings.Finding{ID: "os-preemption", Kind: findings.KindMachine, Severity: findings.Warning, Basis: findings.Suspected, Guessed: true, CostNs: 9000, WholeNs: 10_000}
	periods := findings.Finding{ID: "cpu-throttling", Kind: findings.KindMachine, Severity: findings.Warning, Basis: findings.Suspected, CostNs: 9000, WholeNs: 10_000}
	stopped := findings.Finding{ID: "process-stopped", Kind: findings.KindMachine, Severity: findings.Warning, Basis: findings.Inferred, CostNs: 900, WholeNs: 10_000}
	child := findings.Finding{ID: "child-process", Kind: findings.KindCause, Severity: findings.Warning, Basis: findings.Certain, CostOf: findings.OfBlocked, CostNs: 8000, WholeNs: 10_000}
	with := func(x findings.Finding, change func(*findings.Finding)) findings.Finding {
		change(&x)
		return x
	}
	for _, c := range []struct {
		name string
		list []findings.Finding
		want string
	}{
		{"it outweighs a symptom", []findings.Finding{late, crowd}, "runnable-burst"},
		{"not what costs a fifth", []findings.Finding{with(late, func(x *findings.Finding) { x.CostNs = 1800 }), crowd}, "timer-lateness"},
		{"not what was counted, too", []findings.Finding{with(late, func(x *findings.Finding) { x.Counted = true }), crowd}, "timer-lateness"},
		{"not beside long runs", []findings.Finding{late, crowd, runs}, "timer-lateness"},
		{"before a machine", []findings.Finding{stopped, crowd}, "runnable-burst"},
		{"a machine before a small crowd", []findings.Finding{stopped, with(crowd, func(x *findings.Finding) { x.CostNs = 4000 })}, "process-stopped"},
		{"a machine that is guessed at", []findings.Finding{machine}, ""},
		{"a suspected one", []findings.Finding{periods}, "cpu-throttling"},
		{"before what was blocked meanwhile", []findings.Finding{periods, child}, "cpu-throttling"},
		{"it explains a symptom", []findings.Finding{with(late, func(x *findings.Finding) { x.SymptomOf = []string{"os-preemption"} }), machine}, "os-preemption"},
	} {
		got := ""
		if x := findings.Chief(c.list, findings.Warning); x != nil {
			got = x.ID
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

package report

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
)

func TestVerdictIsAboutACause(t *testing.T) {
	f := func(id string, s findings.Severity, cost int64) findings.Finding {
		return findings.Finding{ID: id, Severity: s, CostNs: cost}
	}
	for _, c := range []struct {
		list []findings.Finding
		want string
	}{
		{nil, ""},
		{[]findings.Finding{f("convoy", findings.Note, 9)}, ""},
		{[]findings.Finding{f("trace-quality", findings.Critical, 0), f("starvation", findings.Critical, 100), f("convoy", findings.Critical, 60)}, "convoy"},
		{[]findings.Finding{f("starvation", findings.Critical, 100), f("timer-lateness", findings.Critical, 90), f("late-preemption", findings.Warning, 25)}, "late-preemption"},
		{[]findings.Finding{f("starvation", findings.Critical, 100), f("convoy", findings.Critical, 24)}, "starvation"},
		{[]findings.Finding{f("starvation", findings.Critical, 100), f("convoy", findings.Note, 99)}, "starvation"},
		{[]findings.Finding{f("lock-convoy", findings.Warning, 1), f("starvation", findings.Warning, 1)}, "lock-convoy"},
	} {
		got := ""
		if x := chief(c.list); x != nil {
			got = x.ID
		}
		if got != c.want {
			t.Errorf("%v: about %q, want %q", c.list, got, c.want)
		}
	}
}

func TestFirstAdviceFollowsOnePointer(t *testing.T) {
	r := &analyze.Result{Detectors: []analyze.Detector{{ID: "starvation"}, {ID: "convoy"}}, Findings: []findings.Finding{
		{ID: "starvation", Advice: []string{"Most waiting is behind others: see convoy."}},
		{ID: "convoy", Advice: []string{"Split the long work."}},
	}}
	r.Waits.User.Causes = causes(0, 0, 0, 0, 0, 5, 0)
	if got := firstAdvice(r, &r.Findings[0]); got != "split the long work." {
		t.Errorf("advice %q", got)
	}
	r.Findings[1].Advice = []string{"Most waiting is elsewhere: see starvation."}
	if got := firstAdvice(r, &r.Findings[0]); got != "less work at once, more Ps if the machine has the cores, or shorter runs." {
		t.Errorf("two that name each other: %q", got)
	}
}

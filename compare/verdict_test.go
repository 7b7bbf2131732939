package compare

import "testing"

// What users feel decides: a duration above all, but not one that hardly changed against
// what is done in a fraction of the time.
func TestJudge(t *testing.T) {
	visible := func(name string, before, after float64) Metric {
		p := 0.01
		m := Metric{Name: name, Title: name, Unit: "ns", Better: Lower, Primary: true, UserVisible: true, Significant: true, PAdjusted: &p, Delta: after - before}
		m.Before.Median, m.After.Median = before, after
		return m
	}
	for _, c := range []struct {
		name           string
		duration, life float64 // after; before, 1000 each
		want           Verdict
	}{
		{"both", 900, 500, Better},
		{"sooner, though each takes longer", 500, 1500, Better},
		{"a little later, each as slow", 1080, 1000, Worse},
		{"a little later, each a little sooner", 1080, 600, Worse},
		{"a little later, each much sooner", 1080, 400, Better},
		{"a little sooner, each much later", 930, 2500, Worse},
		{"later, each much sooner", 1200, 400, Worse},
	} {
		r := &Result{Metrics: []Metric{visible(durationName, 1000, c.duration), visible(lifeName, 1000, c.life)}}
		if r.judge(); r.Verdict != c.want {
			t.Errorf("%s: %s: %s, want %s", c.name, r.Verdict, r.Headline, c.want)
		}
	}
}

package compare

import (
	"fmt"
	"math"
	"strings"

	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
)

// judge fills in the verdict. The primary metrics decide: all that changed for
// certain must point the same way. But where the same work took longer, or less
// long, that decides: goroutines that wait for a P instead of for a lock are no
// loss.
func (r *Result) judge() {
	var up, down []*Metric // improved, worsened
	tested := false
	for i := range r.Metrics {
		m := &r.Metrics[i]
		if !m.Primary {
			continue
		}
		tested = tested || m.PAdjusted != nil
		if !m.Significant || m.Delta == 0 || !large(m) {
			continue
		}
		if (m.Delta < 0) == (m.Better == Lower) {
			up = append(up, m)
		} else {
			down = append(down, m)
		}
	}
	switch {
	case len(up) > 0 && len(down) > 0:
		switch {
		case up[0].Name == durationName:
			r.Verdict = Better
		case down[0].Name == durationName:
			r.Verdict = Worse
		default:
			r.Verdict = Mixed
		}
	case len(up) > 0:
		r.Verdict = Better
	case len(down) > 0:
		r.Verdict = Worse
	case !tested:
		r.Verdict = Inconclusive
	case r.Method == Windows && r.suggestive():
		r.Verdict = Inconclusive
	default:
		r.Verdict = NoChange
	}
	r.Headline = r.headline(up, down)
}

// large reports whether a change is large enough to be worth a word: 5 % of the
// value, and to be seen in it.
func large(m *Metric) bool {
	x, y := m.Before.Median, m.After.Median
	return max(x, y) > 0 && abs64(x-y) >= 0.05*max(x, y) && Value(x, m.Unit) != Value(y, m.Unit)
}

func abs64(x float64) float64 { return max(x, -x) }

// suggestive reports whether windows differ for certain, but by no more than one run
// differs from the next.
func (r *Result) suggestive() bool {
	for i := range r.Metrics {
		m := &r.Metrics[i]
		if m.Name == "waiting_share" && m.P != nil {
			return *m.P < alpha && large(m) && max(m.Before.Median, m.After.Median) >= little
		}
	}
	return false
}

func (r *Result) headline(up, down []*Metric) string {
	say := func(ms []*Metric) string {
		var parts []string
		for _, m := range ms[:min(2, len(ms))] {
			parts = append(parts, fmt.Sprintf("%s went from %s to %s", m.Title, Value(m.Before.Median, m.Unit), Value(m.After.Median, m.Unit)))
		}
		return strings.Join(parts, ", ")
	}
	hint := ""
	if c := r.chief(); c != "" && (len(up) > 0 || len(down) > 0) {
		hint = "; most of the change has the cause “" + c + "”"
	}
	weak := ""
	if r.Method == Windows {
		weak = " These recordings differ by more than runs usually do; several traces a side would make it certain."
	}
	switch r.Verdict {
	case Better:
		lead := "Goroutines wait less: "
		if up[0].Name == durationName {
			lead = "The same work is done sooner: "
		}
		return lead + say(up) + aside(down, "; yet ", say) + hint + "." + weak
	case Worse:
		lead := "Goroutines wait more: "
		if down[0].Name == durationName {
			lead = "The same work takes longer: "
		}
		return lead + say(down) + aside(up, "; yet ", say) + hint + "." + weak
	case Mixed:
		return "Some got better and some worse: " + say(up) + "; but " + say(down) + hint + "." + weak
	case Inconclusive:
		return fmt.Sprintf("Nothing can be concluded: with %s before and %s after a change of the program cannot be told from the difference between two runs.",
			quantity.Plural(int64(r.Before.N), "trace", "traces"), quantity.Plural(int64(r.After.N), "trace", "traces"))
	}
	return "No significant change of scheduling."
}

func aside(ms []*Metric, lead string, say func([]*Metric) string) string {
	if len(ms) == 0 {
		return ""
	}
	return lead + say(ms)
}

// chief names the cause that accounts for the most of the change, if it is more
// than half of it.
func (r *Result) chief() string {
	var best *CauseChange
	for i := range r.Causes {
		c := &r.Causes[i]
		if (c.DeltaNs < 0) == (r.Waiting.DeltaNs < 0) && (best == nil || abs(c.DeltaNs) > abs(best.DeltaNs)) {
			best = c
		}
	}
	if best == nil || 2*abs(best.DeltaNs) < abs(r.Waiting.DeltaNs) || best.DeltaNs == 0 {
		return ""
	}
	t, _ := vocabulary.Lookup(vocabulary.Cause, best.Cause)
	return t.Title
}

// Value writes a metric's value for people. Shares have a digit more than
// elsewhere: here it is their differences that matter.
func Value(v float64, unit string) string {
	switch unit {
	case "ns":
		return quantity.Duration(int64(math.Round(v)))
	case "share":
		return quantity.FinePercent(v)
	case "1/s":
		return quantity.Number(v) + "/s"
	}
	return quantity.Fine(v)
}

package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
)

// moves are metrics that changed for certain, by a part worth a word.
type moves struct{ up, down []*Metric } // improved, worsened

func (m *moves) none() bool { return len(m.up)+len(m.down) == 0 }

// without returns the moves but that of one metric.
func (m *moves) without(name string) moves {
	other := func(x *Metric) bool { return x.Name == name }
	return moves{slices.DeleteFunc(slices.Clone(m.up), other), slices.DeleteFunc(slices.Clone(m.down), other)}
}

// judge fills in the verdict. What users feel decides: how long the same work took, or
// one piece of it, and how much got done; where that did not change for certain, for what
// share of their time goroutines were held up, which also rises where they have less to
// do. Only then does queueing, and only if goroutines were held up more, or less, as well:
// who waits for a P instead of for a lock has lost nothing.
func (r *Result) judge() {
	var visible, queueing moves
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
		of := &queueing
		if m.UserVisible {
			of = &visible
		}
		if (m.Delta < 0) == (m.Better == Lower) {
			of.up = append(of.up, m)
		} else {
			of.down = append(of.down, m)
		}
	}
	m := visible.without(heldName)
	if m.none() {
		m = r.backed(visible, heldName, r.held)
	}
	if m.none() {
		m = r.confirmed(queueing)
	}
	switch {
	case len(m.up) > 0 && len(m.down) > 0:
		switch {
		case m.up[0].Name == durationName:
			r.Verdict = Better
			if durationOutweighed(m.up[0], m.down) {
				r.Verdict = Worse
				m.up = m.up[1:]
			}
		case m.down[0].Name == durationName:
			r.Verdict = Worse
			if durationOutweighed(m.down[0], m.up) {
				r.Verdict = Better
				m.down = m.down[1:]
			}
		default:
			r.Verdict = Mixed
		}
	case len(m.up) > 0:
		r.Verdict = Better
	case len(m.down) > 0:
		r.Verdict = Worse
	case !tested:
		r.Verdict = Inconclusive
	case slices.ContainsFunc(r.Metrics, func(m Metric) bool { return m.suggestive }):
		r.Verdict = Inconclusive
	default:
		r.Verdict = NoChange
	}
	// What speaks against the verdict is told, too.
	switch r.Verdict {
	case Better:
		m.down = append(m.down, others(slices.Concat(visible.down, queueing.down), m.down)...)
	case Worse:
		m.up = append(m.up, others(slices.Concat(visible.up, queueing.up), m.up)...)
	}
	r.Headline, r.Lines = r.headline(m.up, m.down), r.lines(m.up, m.down)
	if r.Verdict == NoChange && len(queueing.up)+len(queueing.down) > 0 {
		r.Headline = "No significant change of what users feel, though queueing changed"
		r.Lines = appendLine(r.Lines, "Queueing", slices.Concat(queueing.up, queueing.down))
	}
}

// A duration that changed by less than slightly says less than what changed by more than
// greatly: it also consists of pauses, and of what nobody waits for.
const (
	slightly = 1.1
	greatly  = 2
)

// durationOutweighed reports whether what the duration says is little beside what speaks against it.
func durationOutweighed(duration *Metric, against []*Metric) bool {
	return timesOf(duration) < slightly && slices.ContainsFunc(against, func(m *Metric) bool { return m.Name != heldName && timesOf(m) > greatly })
}

// timesOf is the factor by which a metric changed, up or down.
func timesOf(m *Metric) float64 {
	x, y := m.Before.Median, m.After.Median
	switch {
	case x == y:
		return 1
	case min(x, y) <= 0:
		return math.Inf(1)
	}
	return max(x, y) / min(x, y)
}

// others are those of xs that are not in ys.
func others(xs, ys []*Metric) (out []*Metric) {
	for _, x := range xs {
		if !slices.Contains(ys, x) {
			out = append(out, x)
		}
	}
	return out
}

// backed returns the moves but that of a share which rose or fell because of what it is a
// share of: goroutines ran less for the same work, or more.
func (r *Result) backed(m moves, share string, of amount) moves {
	for _, x := range slices.Concat(m.up, m.down) {
		if x.Name == share && of.against(x) {
			return m.without(share)
		}
	}
	return m
}

// confirmed is what changed of queueing as far as the time that goroutines were held up
// changed with it: how long they were for the same work, by a factor of two, or else its share.
func (r *Result) confirmed(queueing moves) moves {
	queueing = r.backed(queueing, waitingName, r.waited)
	i := slices.IndexFunc(r.Metrics, func(m Metric) bool { return m.Name == heldName })
	if i < 0 {
		return queueing
	}
	less, more := greatly*r.held.after <= r.held.before, greatly*r.held.before <= r.held.after
	if less == more { // neither, or nobody ever was
		less = large(&r.Metrics[i]) && r.Metrics[i].Delta < 0
		more = large(&r.Metrics[i]) && r.Metrics[i].Delta > 0
	}
	if !less {
		queueing.up = nil
	}
	if !more {
		queueing.down = nil
	}
	return queueing
}

// say writes how some metrics went.
func say(ms []*Metric) string {
	var parts []string
	for _, m := range ms[:min(2, len(ms))] {
		parts = append(parts, went(m))
	}
	return strings.Join(parts, ", ")
}

// large reports whether a change is large enough to be worth a word: 5 % of the
// value, and to be seen in it.
// Of the share of time that goroutines were held up it is 5 % of their time, or twice the
// share: a little more is noise in what it is made of.
func large(m *Metric) bool {
	x, y := m.Before.Median, m.After.Median
	if m.Name == heldName && abs64(x-y) < 0.05 && max(x, y) < 2*min(x, y) {
		return false
	}
	return max(x, y) > 0 && abs64(x-y) >= 0.05*max(x, y) && Value(x, m.Unit) != Value(y, m.Unit)
}

func abs64(x float64) float64 { return max(x, -x) }

// headline reports in some 90 characters what changed for the better or the worse.
func (r *Result) headline(up, down []*Metric) string {
	switch r.Verdict {
	case Better:
		return lead(up[0], true)
	case Worse:
		return lead(down[0], false)
	case Mixed:
		return fmt.Sprintf("Some got better and some worse: %s, but %s", went(up[0]), went(down[0]))
	case Inconclusive:
		return fmt.Sprintf("Nothing can be concluded from %s before and %s after",
			quantity.Plural(int64(r.Before.N), "trace", "traces"), quantity.Plural(int64(r.After.N), "trace", "traces"))
	}
	return "No significant change of scheduling"
}

// lines say what else speaks for the verdict and against it, and by which cause.
func (r *Result) lines(up, down []*Metric) []string {
	out := []string{}
	switch r.Verdict {
	case Better:
		out = appendLine(out, "Likewise", up[1:])
		out = appendLine(out, "On the other hand", down)
	case Worse:
		out = appendLine(out, "Likewise", down[1:])
		out = appendLine(out, "On the other hand", up)
	case Mixed:
		out = appendLine(out, "Better", up)
		out = appendLine(out, "Worse", down)
	case Inconclusive:
		out = append(out, "A change of the program cannot be told from the difference between two runs: record more on each side.")
	}
	if len(up)+len(down) == 0 {
		return out
	}
	if c, share := r.chief(); c != "" {
		out = append(out, fmt.Sprintf("%s of the change of waiting has the cause “%s”.", quantity.Percent(share), c))
	}
	if r.Method == Windows {
		out = append(out, "These recordings differ by more than runs usually do; several traces a side would make it certain.")
	}
	return out
}

// appendLine adds a line about some metrics, if there are any.
func appendLine(lines []string, what string, ms []*Metric) []string {
	if len(ms) == 0 {
		return lines
	}
	return append(lines, what+": "+say(ms)+".")
}

// lead is the headline where all goes one way: what the first metric means, and how it went.
func lead(m *Metric, better bool) string {
	pick := func(good, bad string) string {
		if better {
			return good
		}
		return bad
	}
	values := fromTo(m)
	switch m.Name {
	case durationName:
		return pick("The same work is done sooner: ", "The same work takes longer: ") + values
	case heldName:
		return pick("Goroutines are held up less: ", "Goroutines are held up more: ") + values + " of their time"
	case workName:
		return pick("More gets done: ", "Less gets done: ") + values
	case lifeName, taskName:
		return pick("What is asked for is done sooner: ", "What is asked for takes longer: ") + values
	}
	return pick("Goroutines wait less: ", "Goroutines wait more: ") + went(m)
}

// fromTo writes a metric on both sides.
func fromTo(m *Metric) string {
	return Value(m.Before.Median, m.Unit) + " → " + Value(m.After.Median, m.Unit)
}

// went is fromTo with the metric's name.
func went(m *Metric) string { return m.Title + " " + fromTo(m) }

// chief names the cause that accounts for the most of the change, if it is more than half
// of it, and its share of all changes, of causes that went the other way, too.
func (r *Result) chief() (cause string, share float64) {
	var best *CauseChange
	var all int64
	for i := range r.Causes {
		c := &r.Causes[i]
		all += abs(c.DeltaNs)
		if (c.DeltaNs < 0) == (r.Waiting.DeltaNs < 0) && (best == nil || abs(c.DeltaNs) > abs(best.DeltaNs)) {
			best = c
		}
	}
	if best == nil || 2*abs(best.DeltaNs) < abs(r.Waiting.DeltaNs) || best.DeltaNs == 0 {
		return "", 0
	}
	t, _ := vocabulary.Lookup(vocabulary.Cause, best.Cause)
	return t.Title, float64(abs(best.DeltaNs)) / float64(all)
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

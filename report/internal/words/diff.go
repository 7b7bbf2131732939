package words

import (
	"strings"

	"github.com/gmpscope/gmpscope/compare"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// noChange stands for a change from one number to another that is none.
const noChange = "none"

// MetricChange returns, in words, how much a metric changed, and the confidence interval of
// that, both in per cent or both as factors; interval is "" if there is none.
func MetricChange(m *compare.Metric) (change, interval string) {
	switch {
	case compare.Value(m.Before.Value, m.Unit) == compare.Value(m.After.Value, m.Unit):
		change = noChange
	case m.Ratio == nil:
		return "from 0", "" // of which there is no ratio
	default:
		change = quantity.Change(*m.Ratio)
	}
	if m.RatioCI == nil || m.Ratio == nil {
		return change, ""
	}
	lo, hi := m.RatioCI[0], m.RatioCI[1]
	write := quantity.Factor
	if hi < 2 && (lo == 0 || lo >= quantity.LeastLeft) {
		write = func(r float64) string {
			if s := quantity.Change(r); s != noChange {
				return s
			}
			return "0 %"
		}
	} else if change != noChange {
		change = write(*m.Ratio)
	}
	if a, b := write(lo), write(hi); a != b {
		return change, a + " to " + b
	}
	return change, ""
}

// Interval returns the confidence interval of an estimate in words; "" if there is none. unit
// is that of [compare.Metric].
func Interval(e compare.Estimate, unit string) string {
	if e.Lo == nil || e.Hi == nil {
		return ""
	}
	lo, hi := compare.Value(*e.Lo, unit), compare.Value(*e.Hi, unit)
	if lo == hi {
		return ""
	}
	return lo + " to " + hi
}

// Difference returns, in words, how a duration went from before to after, both in ns: the
// change with a sign, or that there is none that can be seen.
func Difference(before, after int64) string {
	d := quantity.Duration(after - before)
	switch {
	case quantity.Duration(before) == quantity.Duration(after):
		return noChange
	case strings.HasPrefix(d, "-"):
		return d
	}
	return "+" + d
}

// CostChange returns, in words, what a finding cost before a change and after it.
func CostChange(f *compare.FindingChange) string {
	b, a := quantity.Duration(f.BeforeCostNs), quantity.Duration(f.AfterCostNs)
	switch {
	case b == a:
		return b + " on both sides"
	case f.BeforeCostNs == 0:
		return a + " after"
	case f.AfterCostNs == 0:
		return b + " before"
	}
	return b + " before, " + a + " after"
}

// Titles returns the titles of a finding on the sides that have it, one for each side, since
// each has the numbers of its side.
func (n *Names) Titles(f *compare.FindingChange) []string {
	b, a := Ended(Cut(n.Text(f.BeforeTitle), 300)), Ended(Cut(n.Text(f.AfterTitle), 300))
	switch {
	case b == a || b == "":
		return []string{a}
	case a == "":
		return []string{b}
	}
	return []string{"Before: " + b, "After: " + a}
}

// Package quantity writes quantities for people: durations, shares, counts,
// factors and sizes, in one style for all outputs.
//
// A number has three significant digits at most, and its thousands are set
// apart with commas. A space stands between a number and its unit; [NoBreak]
// keeps the two together where a medium breaks lines. What is no number is a
// dash.
package quantity

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Duration writes a duration, given in ns, in the unit that suits it, such as "1.5 ms".
func Duration(ns int64) string {
	f, sign := float64(ns), ""
	if ns < 0 {
		f, sign = -f, "-"
	}
	switch {
	case f < 1e3:
		return strconv.FormatInt(ns, 10) + " ns"
	case f < 999.5e3:
		return sign + Number(f/1e3) + " µs"
	case f < 999.5e6:
		return sign + Number(f/1e6) + " ms"
	case f < 120e9:
		return sign + Number(f/1e9) + " s"
	case f < 7200e9:
		return sign + Number(f/60e9) + " min"
	}
	return sign + Number(f/3600e9) + " h"
}

// FineDuration writes a duration in ns with a digit more than [Duration], and in
// no unit larger than a second: for what is held against a bound.
func FineDuration(ns float64) string {
	unit, factor := " ns", 1.0
	switch a := math.Abs(ns); {
	case a >= 1e9:
		unit, factor = " s", 1e9
	case a >= 1e6:
		unit, factor = " ms", 1e6
	case a >= 1e3:
		unit, factor = " µs", 1e3
	}
	return strconv.FormatFloat(ns/factor, 'g', 4, 64) + unit
}

// Instant writes a time of the trace, ns, with enough digits to find it again.
func Instant(ns int64) string {
	switch {
	case ns == 0:
		return "0"
	case ns < 1000:
		return strconv.FormatInt(ns, 10) + " ns"
	case ns < 1_000_000:
		return strconv.FormatFloat(float64(ns)/1e3, 'f', 2, 64) + " µs"
	case ns < 10_000_000:
		return strconv.FormatFloat(float64(ns)/1e6, 'f', 4, 64) + " ms"
	case ns < 1_000_000_000:
		return strconv.FormatFloat(float64(ns)/1e6, 'f', 2, 64) + " ms"
	}
	return strconv.FormatFloat(float64(ns)/1e9, 'f', 4, 64) + " s"
}

// Window writes two times of the trace, ns, that are not the same, with enough digits to tell them apart.
func Window(from, to int64) (a, b string) {
	if a, b = Instant(from), Instant(to); a != b {
		return a, b
	}
	unit, digits, factor := " ms", 6, 1e6 // of equal length: both are of the same unit
	switch {
	case from >= 1_000_000_000:
		unit, digits, factor = " s", 9, 1e9
	case from < 1_000_000:
		unit, digits, factor = " µs", 3, 1e3
	}
	return strconv.FormatFloat(float64(from)/factor, 'f', digits, 64) + unit, strconv.FormatFloat(float64(to)/factor, 'f', digits, 64) + unit
}

// Percent writes a share, from 0 to 1, as a percentage.
func Percent(share float64) string {
	switch {
	case math.IsNaN(share) || math.IsInf(share, 0):
		return "-"
	case share == 0:
		return "0 %"
	case share < 0.0005 && share > 0:
		return "<0.1 %"
	case share < 1 && share >= 0.9995:
		return ">99.9 %"
	case share < 0.0995 || share > 0.99 && share < 1:
		return trim(strconv.FormatFloat(share*100, 'f', 1, 64)) + " %"
	}
	return strconv.FormatFloat(share*100, 'f', 0, 64) + " %"
}

// Part writes part/whole as a percentage, a dash where there is no whole.
func Part(part, whole int64) string {
	if whole == 0 {
		return "-"
	}
	return Percent(float64(part) / float64(whole))
}

// FinePercent writes a share, from 0 to 1, as a percentage with the digits of [Fine].
func FinePercent(share float64) string { return Fine(100*share) + " %" }

// Ratio returns part/whole, or 0 if whole is 0.
func Ratio[T int | int64 | float64](part, whole T) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// Sum adds up a number of each element of a list, such as a time in ns.
func Sum[T any](list []T, of func(*T) int64) (sum int64) {
	for i := range list {
		sum += of(&list[i])
	}
	return sum
}

// TrueFirst compares two conditions, so that what has one comes before what does not.
func TrueFirst(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return -1
	}
	return 1
}

// Finite returns f, or 0 if it is infinite or no number.
func Finite(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

// Mean returns the arithmetic mean of xs; 0 if it is empty.
func Mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return Ratio(sum, float64(len(xs)))
}

// Median returns the number in the middle of xs when sorted, or the mean of the two there; 0
// if xs is empty.
func Median(xs []float64) float64 {
	n := len(xs)
	if n == 0 {
		return 0
	}
	xs = slices.Sorted(slices.Values(xs))
	return (xs[(n-1)/2] + xs[n/2]) / 2
}

// Times writes a factor as a number with a times sign, such as 1.5×.
func Times(f float64) string { return Number(f) + "×" }

// Change writes how a number changed. ratio is that of the number after the change to the one
// before. It is written in per cent, with a sign; as a factor from double on, and where next
// to nothing is left. What rounds to nothing is "none".
func Change(ratio float64) string {
	switch {
	case math.IsNaN(ratio) || math.IsInf(ratio, 0) || ratio < 0:
		return "-"
	case ratio >= 2 || ratio < LeastLeft && ratio > 0:
		return Factor(ratio)
	}
	s := trim(strconv.FormatFloat(100*(ratio-1), 'f', 1, 64))
	if s == "0" || s == "-0" {
		return "none"
	}
	if ratio > 1 {
		s = "+" + s
	}
	return s + " %"
}

// LeastLeft is the ratio of a number to the one before it below which the decrease, written in
// per cent, would read as if nothing were left.
const LeastLeft = 0.0005

// Factor writes the ratio of a number to the one before it as what to multiply by, or to
// divide by.
func Factor(ratio float64) string {
	if ratio < 0.1 && ratio > 0 {
		return "÷" + Number(1/ratio)
	}
	return "×" + Number(ratio)
}

// Count formats a whole number, with thousands separated.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	neg := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if neg {
		return "-" + s
	}
	return s
}

// Plural writes a count with its noun: one, or many of it.
func Plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + many
}

// Amount writes a number that need not be whole, with its noun: one if it is 1, else many.
func Amount(f float64, one, many string) string {
	s := Number(f)
	if s == "1" {
		return s + " " + one
	}
	return s + " " + many
}

// Size writes a number of bytes in the unit that suits it.
func Size(n int64) string {
	f := float64(n)
	switch {
	case n < 1000:
		return Plural(n, "byte", "bytes")
	case f < 999.5e3:
		return Number(f/1e3) + " kB"
	case f < 999.5e6:
		return Number(f/1e6) + " MB"
	}
	return Number(f/1e9) + " GB"
}

// Number writes a number that need not be whole, with three significant digits,
// but no more than two after the point, and no exponent.
func Number(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return "-"
	}
	switch a := math.Abs(f); {
	case f == 0:
		return "0"
	case a >= 1e12:
		return "over " + Count(1e12)
	case a >= 99.95:
		return Count(int64(math.Round(f)))
	case a >= 9.995:
		return trim(strconv.FormatFloat(f, 'f', 1, 64))
	case a < 0.005 && f > 0:
		return "<0.01"
	case a < 0.005:
		return "0"
	}
	return trim(strconv.FormatFloat(f, 'f', 2, 64))
}

// Fine writes a number as [Number] does, but with up to three digits after the
// point: for values whose difference matters.
func Fine(f float64) string {
	digits := 3
	switch a := math.Abs(f); {
	case a >= 99.95 || math.IsNaN(f):
		return Number(f)
	case a >= 9.995:
		digits = 1
	case a >= 0.9995:
		digits = 2
	case a > 0 && a < 0.0005:
		return "<0.001"
	}
	return trim(strconv.FormatFloat(f, 'f', digits, 64))
}

// Index writes an index between 0 and 1, such as Jain's, with three digits.
func Index(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return "-"
	}
	return strconv.FormatFloat(f, 'f', 3, 64)
}

// PValue writes the p value of a statistical test.
func PValue(p float64) string {
	if p < 0.0005 {
		return "<0.001"
	}
	return strconv.FormatFloat(p, 'f', 3, 64)
}

// trim removes zeros at the end of what has a point.
func trim(s string) string {
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

package findings

import (
	"math"
	"strconv"
	"strings"
)

// Dur writes a duration in ns for people: three significant digits and a unit.
func Dur(ns int64) string {
	f, sign := float64(ns), ""
	if ns < 0 {
		f, sign = -f, "-"
	}
	switch {
	case f < 1e3:
		return strconv.FormatInt(ns, 10) + " ns"
	case f < 999.5e3:
		return sign + digits(f/1e3) + " µs"
	case f < 999.5e6:
		return sign + digits(f/1e6) + " ms"
	case f < 120e9:
		return sign + digits(f/1e9) + " s"
	case f < 7200e9:
		return sign + digits(f/60e9) + " min"
	}
	return sign + digits(f/3600e9) + " h"
}

// Percent writes a share, 0…1, of some whole; a dash if it is none.
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

// Part is part/whole as a percentage, a dash where there is no whole.
func Part(part, whole int64) string {
	if whole == 0 {
		return "-"
	}
	return Percent(float64(part) / float64(whole))
}

// Times writes a factor.
func Times(f float64) string { return digits(f) + "×" }

// Number writes a number that need not be whole.
func Number(f float64) string { return digits(f) }

// Amount is a number that need not be whole, with its noun.
func Amount(f float64, one, more string) string {
	s := digits(f)
	if s == "1" {
		return s + " " + one
	}
	return s + " " + more
}

// Change writes how a value went from one number to another, whose ratio is
// given: in per cent, with a sign; as a factor from double on, and where next to
// nothing is left. What rounds to nothing is "none".
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

// Count writes a whole number with commas.
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

// Plural is a count with its noun: one, or more of it.
func Plural(n int64, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + more
}

// LeastLeft is the ratio below which a decrease in per cent would read as all.
const LeastLeft = 0.0005

// Factor writes a ratio as what to multiply by, or divide by.
func Factor(ratio float64) string {
	if ratio < 0.1 && ratio > 0 {
		return "÷" + digits(1/ratio)
	}
	return "×" + digits(ratio)
}

// digits writes f with three significant digits, but no more than two after the
// point, and no exponent.
func digits(f float64) string {
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

// trim takes zeros off the end of what has a point.
func trim(s string) string {
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

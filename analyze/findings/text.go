package findings

import (
	"strconv"
	"strings"
)

// Dur writes a duration in ns for people: three significant digits at most.
func Dur(ns int64) string {
	neg := ""
	if ns < 0 {
		neg, ns = "-", -ns
	}
	f := float64(ns)
	switch {
	case f < 1e3:
		return neg + strconv.FormatInt(ns, 10) + " ns"
	case f < 999.5e3:
		return neg + digits(f/1e3) + " µs"
	case f < 999.5e6:
		return neg + digits(f/1e6) + " ms"
	}
	return neg + digits(f/1e9) + " s"
}

// Percent writes a share.
func Percent(share float64) string { return digits(share*100) + " %" }

// Times writes a factor.
func Times(f float64) string { return digits(f) + "×" }

// Number writes a number that need not be whole.
func Number(f float64) string { return digits(f) }

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

func digits(f float64) string {
	switch a := max(f, -f); {
	case a >= 1e15:
		return strconv.FormatFloat(f, 'g', 3, 64)
	case a >= 99.95:
		return Count(int64(f + 0.5))
	case a >= 9.995:
		return trim(strconv.FormatFloat(f, 'f', 1, 64))
	case a >= 0.0995 || f == 0:
		return trim(strconv.FormatFloat(f, 'f', 2, 64))
	}
	return strconv.FormatFloat(f, 'g', 2, 64)
}

func trim(s string) string {
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// Package words holds what all outputs say alike: how numbers are written, and
// what causes, states, sources, queues and rules are called. The writers of text
// and HTML take their words from here, and add only what their medium asks for:
// colours, unbreakable spaces, links. The names in the JSON are those of the
// result; where a word stands for one of them, the maps here say which.
package words

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

// Duration writes ns for people: three significant digits and a unit.
func Duration(ns int64) string { return findings.Dur(ns) }

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
	default:
		return strconv.FormatFloat(float64(ns)/1e9, 'f', 4, 64) + " s"
	}
}

// Number writes f with three significant digits at most; a dash if it is none.
func Number(f float64) string { return findings.Number(f) }

// Amount is a number that need not be whole, with its noun.
func Amount(f float64, one, many string) string { return findings.Amount(f, one, many) }

// Mean writes an average of counts.
func Mean(f float64) string {
	if f < 0.005 {
		return Number(f)
	}
	return Number(math.Round(f*100) / 100)
}

// Count writes a whole number with its thousands apart.
func Count(n int64) string { return findings.Count(n) }

// Plural is the number with its noun.
func Plural(n int64, one, many string) string { return findings.Plural(n, one, many) }

// Percent writes the share f, 0…1.
func Percent(f float64) string { return findings.Percent(f) }

// Share is part/whole as a percentage, or a dash where there is no whole.
func Share(part, whole int64) string {
	return findings.Part(part, whole)
}

// Ratio is part/whole, 0 where there is no whole.
func Ratio(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// Change writes a ratio of after to before as a change.
func Change(ratio float64) string { return findings.Change(ratio) }

// Size writes a number of bytes.
func Size(n int64) string {
	f := float64(n)
	switch {
	case n < 1000:
		return Plural(n, "byte", "bytes")
	case f < 999.5e3:
		return Number(f/1e3) + " kB"
	case f < 999.5e6:
		return Number(f/1e6) + " MB"
	default:
		return Number(f/1e9) + " GB"
	}
}

// Sentence makes the first letter large.
func Sentence(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// List joins words with commas and an "and".
func List(words []string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

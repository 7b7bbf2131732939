package report

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/term"
)

// duration writes ns for people: three significant digits and a unit.
func duration(ns int64) string {
	switch f := float64(ns); {
	case f < 120e9:
		return findings.Dur(ns)
	case f < 7200e9:
		return digits(f/60e9) + " min"
	default:
		return digits(f/3600e9) + " h"
	}
}

// instant writes a time of the trace with enough digits to find it again.
func instant(ns int64) string {
	switch {
	case ns == 0:
		return "0"
	case ns < 10_000_000:
		return strconv.FormatFloat(float64(ns)/1e6, 'f', 4, 64) + " ms"
	case ns < 1_000_000_000:
		return strconv.FormatFloat(float64(ns)/1e6, 'f', 2, 64) + " ms"
	default:
		return strconv.FormatFloat(float64(ns)/1e9, 'f', 4, 64) + " s"
	}
}

// digits writes f with three significant digits at most; a dash if it is none.
func digits(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return "-"
	}
	return findings.Number(f)
}

// mean writes an average of counts.
func mean(f float64) string {
	if f > 0 && f < 0.005 {
		return "<0.01"
	}
	return digits(math.Round(f*100) / 100)
}

// number writes a whole number with its thousands apart.
func number(n int64) string { return findings.Count(n) }

// plural is the number with its noun.
func plural(n int64, one, many string) string { return findings.Plural(n, one, many) }

// percent writes the share f, 0…1.
func percent(f float64) string {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return "-"
	case f == 0:
		return "0 %"
	case f < 0.0005 && f > 0:
		return "<0.1 %"
	case f < 1 && f > 0.9995:
		return ">99.9 %"
	case f < 0.0995 || f > 0.99 && f < 1:
		return strconv.FormatFloat(f*100, 'f', 1, 64) + " %"
	default:
		return strconv.FormatFloat(f*100, 'f', 0, 64) + " %"
	}
}

// share is part/whole as a percentage, or a dash where there is no whole.
func share(part, whole int64) string {
	if whole == 0 {
		return "-"
	}
	return percent(ratio(part, whole))
}

func ratio(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// size writes a number of bytes.
func size(n int64) string {
	f := float64(n)
	switch {
	case n < 1000:
		return plural(n, "byte", "bytes")
	case f < 999.5e3:
		return digits(f/1e3) + " kB"
	case f < 999.5e6:
		return digits(f/1e6) + " MB"
	default:
		return digits(f/1e9) + " GB"
	}
}

// sentence makes the first letter large.
func sentence(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// list joins words with commas and an "and".
func list(words []string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

// modulePath is the directory part of an import path.
var modulePath = regexp.MustCompile(`^(?:[A-Za-z0-9._~-]+/)+`)

// maxName is the length, in runes, to which names from a trace are cut.
const maxName = 72

// className is what a class of goroutines is called in a sentence: its start
// function without the directory of the package.
func className(s string) string {
	if s == "" {
		return "goroutines of unknown start function"
	}
	return shortened(s, maxName)
}

func shortened(s string, n int) string {
	s = visible(s)
	if dir := modulePath.FindString(s); dir != "" && len(dir) < len(s) {
		s = s[len(dir):]
	}
	return cut(s, n)
}

// cut shortens s to n runes, leaving out its middle.
func cut(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	head := n * 2 / 3
	tail := n - head - 1
	return string(r[:head]) + "…" + string(r[len(r)-tail:])
}

// visible makes a string from a trace harmless for a terminal.
func visible(s string) string { return term.Visible(s) }

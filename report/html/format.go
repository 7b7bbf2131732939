package html

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// nbsp joins a number and its unit.
const nbsp = "\u00a0"

// dur writes ns for people: three significant digits and a unit.
func dur(ns int64) string {
	if ns < 0 {
		return "−" + dur(-ns)
	}
	f := float64(ns)
	switch {
	case ns < 1_000:
		return strconv.FormatInt(ns, 10) + nbsp + "ns"
	case f < 999.5e3:
		return sig(f/1e3) + nbsp + "µs"
	case f < 999.5e6:
		return sig(f/1e6) + nbsp + "ms"
	case f < 120e9:
		return sig(f/1e9) + nbsp + "s"
	case f < 7200e9:
		return sig(f/60e9) + nbsp + "min"
	default:
		return sig(f/3600e9) + nbsp + "h"
	}
}

// clock writes an instant of the trace with enough digits to find it again.
func clock(ns int64) string {
	switch {
	case ns == 0:
		return "0"
	case ns < 10_000_000:
		return strconv.FormatFloat(float64(ns)/1e6, 'f', 4, 64) + nbsp + "ms"
	case ns < 1_000_000_000:
		return strconv.FormatFloat(float64(ns)/1e6, 'f', 2, 64) + nbsp + "ms"
	default:
		return strconv.FormatFloat(float64(ns)/1e9, 'f', 4, 64) + nbsp + "s"
	}
}

// sig writes f with three significant digits, without zeros at the end.
func sig(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return "–"
	}
	a := math.Abs(f)
	var s string
	switch {
	case a >= 99.95:
		s = strconv.FormatFloat(f, 'f', 0, 64)
		return group(s)
	case a >= 9.995:
		s = strconv.FormatFloat(f, 'f', 1, 64)
	case a >= 0.9995 || a == 0:
		s = strconv.FormatFloat(f, 'f', 2, 64)
	default:
		s = strconv.FormatFloat(f, 'g', 3, 64)
	}
	if strings.Contains(s, ".") && !strings.Contains(s, "e") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// count writes a whole number with its thousands apart.
func count(n int64) string { return group(strconv.FormatInt(n, 10)) }

func group(s string) string {
	neg := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	var b strings.Builder
	if neg {
		b.WriteString("−")
	}
	for i := 0; i < len(s); i++ {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteString("\u202f")
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// plural is the number with its noun.
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}

// percent writes the share f, 0…1.
func percent(f float64) string {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return "–"
	case f == 0:
		return "0" + nbsp + "%"
	case f < 0.0005 && f > 0:
		return "<" + nbsp + "0.1" + nbsp + "%"
	case f < 1 && f > 0.9995:
		return ">" + nbsp + "99.9" + nbsp + "%"
	case f < 0.0995 || f > 0.99 && f < 1:
		return strconv.FormatFloat(f*100, 'f', 1, 64) + nbsp + "%"
	default:
		return strconv.FormatFloat(f*100, 'f', 0, 64) + nbsp + "%"
	}
}

// share is part/whole as a percentage, or a dash where there is no whole.
func share(part, whole int64) string {
	if whole == 0 {
		return "–"
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
		return count(n) + nbsp + "bytes"
	case f < 999.5e3:
		return sig(f/1e3) + nbsp + "kB"
	case f < 999.5e6:
		return sig(f/1e6) + nbsp + "MB"
	default:
		return sig(f/1e9) + nbsp + "GB"
	}
}

// Name is a string from a trace, safe to be looked at.
type Name struct {
	Short string // what is shown
	Full  string // the whole of it, where Short is not
	Cut   bool   // even Full is not the whole
}

// Lengths, in runes, to which names are cut.
const (
	shortName = 96
	fullName  = 600
)

// modulePath is the directory part of an import path. Only that is left out
// from names: anything stranger is shown.
var modulePath = regexp.MustCompile(`^(?:[A-Za-z0-9._~-]+/)+`)

// name prepares a string from a trace. Invalid UTF-8 becomes U+FFFD, and
// characters that would change how others look become visible.
func name(s string) Name {
	s = visible(s)
	n := Name{Short: s}
	if dir := modulePath.FindString(s); dir != "" && len(dir) < len(s) {
		n.Short = s[len(dir):]
	}
	n.Short = cut(n.Short, shortName)
	if n.Short != s {
		n.Full = cut(s, fullName)
		n.Cut = n.Full != s
	}
	return n
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

// visible makes what hides, or hides others, visible.
func visible(s string) string {
	clean := true
	for _, r := range s {
		if r == utf8.RuneError || hidden(r) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hidden(r) {
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		} else {
			b.WriteRune(r) // U+FFFD where the bytes were invalid
		}
	}
	return b.String()
}

// hidden says whether r is a control, a bidirectional control, a zero-width or
// another character that does not show itself.
func hidden(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 ||
		unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r)
}

package quantity

import (
	"slices"
	"strings"
)

// NBSP is the space at which no line is broken, U+00A0. [NoBreak] puts it between a number and
// its unit.
const NBSP = "\u00a0"

// units are what [NoBreak] keeps with the number before them.
var units = []string{"%", "ns", "µs", "ms", "s", "min", "h", "kB", "MB", "GB", "KiB", "MiB", "GiB"}

// NoBreak returns s with each space between a number and its unit as an [NBSP].
func NoBreak(s string) string {
	var b strings.Builder
	at := 0
	for i := 1; i < len(s); i++ {
		if s[i] == ' ' && s[i-1] >= '0' && s[i-1] <= '9' && slices.Contains(units, word(s[i+1:])) {
			b.WriteString(s[at:i])
			b.WriteString(NBSP)
			at = i + 1
		}
	}
	if at == 0 {
		return s
	}
	b.WriteString(s[at:])
	return b.String()
}

// word is what s begins with: a per cent sign, or letters that no digit and no
// underline follow.
func word(s string) string {
	if strings.HasPrefix(s, "%") {
		return "%"
	}
	end := strings.IndexFunc(s, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != 'µ' })
	switch {
	case end < 0:
		return s
	case s[end] == '_' || s[end] >= '0' && s[end] <= '9':
		return ""
	}
	return s[:end]
}

package html

import (
	"strings"

	"github.com/gmpscope/gmpscope/report/internal/words"
)

// nbsp joins a number and its unit.
const nbsp = "\u00a0"

// typeset makes a number of package words fit for a page: it does not break
// before its unit, and its minus and its dash are not hyphens.
func typeset(s string) string {
	switch {
	case s == "-":
		return "–"
	case strings.HasPrefix(s, "-"):
		s = "−" + s[1:]
	}
	return strings.ReplaceAll(s, " ", nbsp)
}

func dur(ns int64) string            { return typeset(words.Duration(ns)) }
func clock(ns int64) string          { return typeset(words.Instant(ns)) }
func sig(f float64) string           { return typeset(words.Number(f)) }
func count(n int64) string           { return typeset(words.Count(n)) }
func percent(f float64) string       { return typeset(words.Percent(f)) }
func share(part, whole int64) string { return typeset(words.Share(part, whole)) }
func size(n int64) string            { return typeset(words.Size(n)) }

func ratio(part, whole int64) float64         { return words.Ratio(part, whole) }
func plural(n int64, one, many string) string { return words.Plural(n, one, many) }
func cut(s string, n int) string              { return words.Cut(s, n) }
func visible(s string) string                 { return words.Visible(s) }
func prose(s string, n int) string            { return words.Cut(words.Prose(s), n) }

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

// name prepares a string from a trace. Invalid UTF-8 becomes U+FFFD, and
// characters that would change how others look become visible.
func name(s string) Name {
	s = visible(s)
	return named(s, words.Base(s))
}

// wholeName is name for what is told apart by its folders, such as traces.
func wholeName(s string) Name {
	s = visible(s)
	return named(s, s)
}

func named(s, short string) Name {
	n := Name{Short: cut(short, shortName)}
	if n.Short != s {
		n.Full = cut(s, fullName)
		n.Cut = n.Full != s
	}
	return n
}

package words

import (
	"fmt"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// Rules returns, in words, by which release's rules a trace was analysed, and how they were
// chosen. Both are empty if that is not known.
func Rules(r analyze.RulesApplied) (release, how string) {
	if r.GoVersion == "" {
		return "", ""
	}
	release = "Go " + r.GoVersion
	switch {
	case r.ChosenBy == analyze.ByFlag:
		return release, "by --go-version"
	case r.ChosenBy == analyze.ByNearest:
		return release, "the oldest that are known"
	case len(r.OtherRules) > 0:
		return release, fmt.Sprintf("by the trace format; if Go %s wrote it, say so with --go-version", strings.Join(r.OtherRules, " or "))
	}
	return release, "by the trace format"
}

// AllRules returns, in a line, by which rules of Go releases some traces were analysed, each
// once.
func AllRules(rs []analyze.RulesApplied) string {
	var parts []string
	for _, r := range rs {
		if release, how := Rules(r); release != "" {
			parts = append(parts, release+", "+how)
		}
	}
	return strings.Join(parts, "; ")
}

// Tick returns the name of the tick at which a P looks at the global queue before its own, by
// the rules of a trace: "61st tick".
func Tick(r analyze.RulesApplied) string {
	rules, _ := reference.Release(r.GoVersion)
	if rules.GlobalPoll == 0 { // they are not known, or there is none
		return "tick"
	}
	return ordinal(rules.GlobalPoll) + " tick"
}

// ordinal is the n-th in figures.
func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprint(n, suffix)
}

// EitherTick returns a sentence about n of some starts, of which it is only open whether the P
// looked at the global queue because its 61st tick was due or because it had nothing else.
func EitherTick(n, starts int64, r analyze.RulesApplied) string {
	return fmt.Sprintf("For %s it is only open whether the global queue was looked at because the %s was due or because the P had nothing of its own: both come to the same.",
		quantity.Part(n, starts), Tick(r))
}

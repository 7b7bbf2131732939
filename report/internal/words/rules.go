package words

import (
	"fmt"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
)

// Rules says by which release's rules a trace was analysed, and how they were
// chosen. Both are empty where that is not known.
func Rules(r analyze.Rules) (release, how string) {
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

// AllRules is Rules in a line, for all that occur.
func AllRules(rs []analyze.Rules) string {
	var parts []string
	for _, r := range rs {
		if release, how := Rules(r); release != "" {
			parts = append(parts, release+", "+how)
		}
	}
	return strings.Join(parts, "; ")
}

package report

import (
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// leftOut reports what package testing did that no finding is about.
func (w *wording) leftOut() string {
	x := &w.r.LeftOut
	var parts []string
	for _, p := range []struct {
		n         int64
		one, many string
	}{
		{x.Collections, "collection", "collections"},
		{x.Statistics, "reading of memory statistics", "readings of memory statistics"},
	} {
		if p.n > 0 {
			parts = append(parts, quantity.Plural(p.n, p.one, p.many))
		}
	}
	s := words.List(parts)
	if s != "" {
		s += " by package testing"
	}
	if x.Findings > 0 {
		about := "it"
		if s == "" {
			about = "package testing"
		} else {
			s += ", and "
		}
		s += quantity.Plural(x.Findings, "finding", "findings") + " about " + about
	}
	if s == "" {
		return ""
	}
	return "Left out: " + s + "."
}

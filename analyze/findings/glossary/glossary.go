// Package glossary answers: what does that word mean? It explains, as data, the
// words of the scheduler, the causes of waiting, the sources of starts and the
// metrics, for the explain command and the report.
//
// The detectors explain themselves: see package all.
package glossary

import (
	"slices"
	"strings"
)

// Kind says what sort of thing a term names.
type Kind string

// The kinds.
const (
	Word   Kind = "word"   // of the scheduler, or of gmpscope
	Cause  Kind = "cause"  // of waiting: package waits
	Source Kind = "source" // of a start: package reference
	Metric Kind = "metric" // a key of the JSON output
)

// Term is one entry.
type Term struct {
	Term    string   `json:"term"` // as the outputs spell it; a metric by its path
	Kind    Kind     `json:"kind"`
	Aliases []string `json:"aliases,omitempty"` // other names under which it is found
	Short   string   `json:"short"`             // one sentence
	Long    string   `json:"long"`              // more, with formula and reference where there is one
}

// Terms returns all entries: words, causes, sources, metrics, each kind in an
// order good to read. The caller may keep the slice.
func Terms() []Term { return slices.Concat(words, causes, sources, metrics) }

// Of returns the entries of one kind, in order.
func Of(k Kind) []Term {
	return slices.DeleteFunc(Terms(), func(t Term) bool { return t.Kind != k })
}

// Find returns the entries with that name or alias. Case, and the difference
// between spaces, hyphens and underlines, do not matter; the last part of a
// metric's path is enough. Entries whose term is the name come first.
func Find(name string) []Term {
	n := norm(name)
	if n == "" {
		return nil
	}
	var exact, alias, tail []Term
	for _, t := range Terms() {
		switch _, last, dotted := cut(t.Term); {
		case norm(t.Term) == n:
			exact = append(exact, t)
		case slices.ContainsFunc(t.Aliases, func(a string) bool { return norm(a) == n }):
			alias = append(alias, t)
		case dotted && norm(last) == n, strings.TrimSuffix(norm(last), "-ns") == n:
			tail = append(tail, t)
		}
	}
	return slices.Concat(exact, alias, tail)
}

// cut splits a path before its last part.
func cut(s string) (before, last string, ok bool) {
	i := strings.LastIndexByte(s, '.')
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+1:], true
}

func norm(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	s = strings.Map(func(r rune) rune {
		switch r {
		case ' ', '_':
			return '-'
		case '[', ']':
			return -1
		}
		return r
	}, s)
	return s
}

// Package vocabulary is the one table of what everything is called, and what it means: the words of the
// scheduler, the causes of waiting, the sources of starts, the states of a P, the metrics and the values in
// the JSON. Text, HTML, errors, docs/values.md and the explain command read it.
//
// The detectors explain themselves: see package all.
package vocabulary

import (
	"slices"
	"strings"
)

// Kind specifies what sort of thing a term names.
type Kind string

// The kinds that [Terms] returns: each of their terms is explained.
const (
	Word   Kind = "word"   // of the scheduler, or of gmpscope
	Cause  Kind = "cause"  // of waiting: package waits
	Source Kind = "source" // of a start: package reference
	State  Kind = "state"  // of a P, by the key of its time in the JSON
	Metric Kind = "metric" // another key of the JSON
)

// The kinds whose terms are values in the JSON, and say what they are by a phrase.
const (
	Queue    Kind = "queue"    // in which a runnable goroutine waits
	Why      Kind = "why"      // a goroutine came into a queue
	Reason   Kind = "reason"   // for a handoff, a retake or a preemption
	End      Kind = "end"      // of a run interval
	Level    Kind = "level"    // of a basis
	Rule     Kind = "rule"     // of a basis
	Blocked  Kind = "blocked"  // for which a goroutine is blocked
	Waker    Kind = "waker"    // of a goroutine, by the Why
	Severity Kind = "severity" // of a finding
	Whole    Kind = "whole"    // of which a cost is a part
)

// Term is a word of the vocabulary, with its explanations.
type Term struct {
	Name    string // as the JSON spells it; a metric or state by its path
	Kind    Kind
	Aliases []string // other names under which it is found
	Title   string   // in a legend, a heading or a wide table; Name unless given
	Column  string   // over a narrow column; Title unless given
	Phrase  string   // in a sentence; the tables say after which words
	Short   string   // one sentence
	Long    string   // more, with formula and reference where there is one
	Advice  string   // of a cause: what to try where no finding says it better
}

// Text returns the whole explanation of the term, for people.
func (t Term) Text() string { return t.Short + " " + t.Long }

// of completes the terms of a table.
func of(k Kind, terms []Term) []Term {
	for i := range terms {
		t := &terms[i]
		t.Kind = k
		if t.Title == "" {
			t.Title = t.Name
		}
		if t.Column == "" {
			t.Column = t.Title
		}
	}
	return terms
}

// tables hold the terms of each kind, in an order good to read.
var tables = map[Kind][]Term{
	Word: words, Cause: causes, Source: sources, State: states, Metric: metrics,
	Queue: queues, Why: whys, Reason: reasons, End: ends, Level: levels, Rule: rules, Blocked: blockeds, Waker: wakers, Severity: severities, Whole: wholes,
}

// Of returns the entries of one kind, in order. The caller may keep the slice.
func Of(k Kind) []Term { return slices.Clone(tables[k]) }

// Lookup returns the entry of one kind with just that name.
func Lookup(k Kind, name string) (t Term, ok bool) {
	i := slices.IndexFunc(tables[k], func(t Term) bool { return t.Name == name })
	if i < 0 {
		return Term{Name: name, Kind: k, Title: name, Column: name}, false
	}
	return tables[k][i], true
}

// Terms returns all entries that are explained: words, causes, sources, states,
// metrics. The caller may keep the slice.
func Terms() []Term { return slices.Concat(words, causes, sources, states, metrics) }

// Find returns the entries with that name, title or alias. Case, and the difference between spaces, hyphens
// and underlines, do not matter; the last part of a metric's path is enough. Entries whose term is the name
// come first. What is neither may be a basis: a level, a rule, or both with a colon between them.
func Find(name string) []Term {
	n := norm(name)
	if n == "" {
		return nil
	}
	var exact, alias, tail []Term
	for _, t := range Terms() {
		switch last := t.Name[strings.LastIndexByte(t.Name, '.')+1:]; {
		case norm(t.Name) == n:
			exact = append(exact, t)
		case norm(t.Title) == n, slices.ContainsFunc(t.Aliases, func(a string) bool { return norm(a) == n }):
			alias = append(alias, t)
		case norm(last) == n, strings.TrimSuffix(norm(last), "-ns") == n:
			tail = append(tail, t)
		}
	}
	if found := slices.Concat(exact, alias, tail); len(found) > 0 {
		return found
	}
	return basis(n)
}

// basis returns the level and the rule that a basis consists of; nil if it is none.
func basis(name string) (terms []Term) {
	for part := range strings.SplitSeq(name, ":") {
		term, ok := Lookup(Level, part)
		if !ok {
			term, ok = Lookup(Rule, part)
		}
		if !ok {
			return nil
		}
		terms = append(terms, term)
	}
	return terms
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

package words

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
)

// Title returns the words for a term in a table, or its name if the vocabulary does not have
// it, as it may be with a newer document.
func Title(k vocabulary.Kind, name string) string { return lookup(k, name).Title }

// Phrase returns the words for a term in a sentence, or its name if the vocabulary does not
// have it.
func Phrase(k vocabulary.Kind, name string) string { return lookup(k, name).Phrase }

func lookup(k vocabulary.Kind, name string) vocabulary.Term {
	t, ok := vocabulary.Lookup(k, name)
	if !ok {
		t.Title = Cut(Visible(name), maxName)
		t.Phrase = t.Title
	}
	return t
}

// Meaning returns a sentence that explains the term with a name; "" if the vocabulary does not
// have it.
func Meaning(k vocabulary.Kind, name string) string {
	t, _ := vocabulary.Lookup(k, name)
	return t.Short
}

// Cause returns the title of a cause of waiting, as tables show it.
func Cause(c waits.Cause) string { return Title(vocabulary.Cause, string(c)) }

// Lost returns a cause of waiting in words that follow "was lost".
func Lost(c waits.Cause) string { return Phrase(vocabulary.Cause, string(c)) }

// Advice returns what to try against a cause of waiting, in a sentence, for reports in which
// no finding has better advice.
func Advice(c waits.Cause) string {
	t, _ := vocabulary.Lookup(vocabulary.Cause, string(c))
	return t.Advice
}

// BySize returns the causes with more than 0 ns, largest first.
func BySize(cs []waits.CauseTime) []waits.CauseTime {
	return Largest(cs, func(c waits.CauseTime) int64 { return c.Ns })
}

// Largest returns the elements of in whose size is above 0, largest first.
func Largest[T any](in []T, size func(T) int64) []T {
	var out []T
	for _, x := range in {
		if size(x) > 0 {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(x, y T) int { return cmp.Compare(size(y), size(x)) })
	return out
}

// Basis explains how something is known. b is the text of a [reference.Basis]: a level, or a
// level and a rule with a colon between them.
func Basis(b string) string {
	level, rule, _ := strings.Cut(b, ":")
	s := Phrase(vocabulary.Level, level)
	if rule != "" {
		s += " (" + Phrase(vocabulary.Rule, rule) + ")"
	}
	return s
}

// Queue returns the name of a queue, with its P if it is local: p is the P's ID.
func Queue(q string, p int32) string {
	if q == "local" && p < 0 {
		q = "global"
	}
	t, ok := vocabulary.Lookup(vocabulary.Queue, q)
	switch {
	case !ok || q == "runnext" && p < 0:
		t, _ = vocabulary.Lookup(vocabulary.Queue, "unknown")
	case q == "local" || q == "runnext":
		return t.Phrase + " of P" + strconv.Itoa(int(p))
	}
	return t.Phrase
}

// CostPart returns, in words, the cost of a finding as a share of the whole that it is a part
// of; "" if there is no whole.
func CostPart(f *findings.Finding) string {
	of, ok := vocabulary.Lookup(vocabulary.Whole, string(f.CostOf))
	if !ok || f.WholeNs <= 0 {
		return ""
	}
	return quantity.Part(f.CostNs, f.WholeNs) + " of " + of.Phrase
}

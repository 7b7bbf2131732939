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

// Title is what the vocabulary calls something in a table. What it does not
// know, which a newer document may hold, keeps its name.
func Title(k vocabulary.Kind, name string) string {
	if t, ok := vocabulary.Lookup(k, name); ok {
		return t.Title
	}
	return Cut(Visible(name), maxName)
}

// Phrase is what the vocabulary calls something in a sentence. What it does not know keeps its name.
func Phrase(k vocabulary.Kind, name string) string {
	if t, ok := vocabulary.Lookup(k, name); ok {
		return t.Phrase
	}
	return Cut(Visible(name), maxName)
}

// Meaning explains something in a sentence; "" if the vocabulary does not know it.
func Meaning(k vocabulary.Kind, name string) string {
	t, _ := vocabulary.Lookup(k, name)
	return t.Short
}

// Cause is the title of a cause of waiting.
func Cause(c waits.Cause) string { return Title(vocabulary.Cause, string(c)) }

// Lost reports to what a cause of waiting loses time, to follow "was lost".
func Lost(c waits.Cause) string { return Phrase(vocabulary.Cause, string(c)) }

// Advice is what to try against a cause of waiting where no finding says it better.
func Advice(c waits.Cause) string {
	t, _ := vocabulary.Lookup(vocabulary.Cause, string(c))
	return t.Advice
}

// BySize returns the causes that own any time, largest first.
func BySize(cs []waits.CauseTime) []waits.CauseTime {
	return Largest(cs, func(c waits.CauseTime) int64 { return c.Ns })
}

// Largest returns those of which there is any, largest first.
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

// Basis explains how something is known: a level, or level:rule.
func Basis(b string) string {
	level, rule, _ := strings.Cut(b, ":")
	s := Phrase(vocabulary.Level, level)
	if rule != "" {
		s += " (" + Phrase(vocabulary.Rule, rule) + ")"
	}
	return s
}

// Queue names a queue, of P p where it has one.
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

// CostPart reports what part of which whole the cost of a finding is; "" if there is no whole.
func CostPart(f *findings.Finding) string {
	of, ok := vocabulary.Lookup(vocabulary.Whole, string(f.CostOf))
	if !ok || f.WholeNs <= 0 {
		return ""
	}
	return quantity.Part(f.CostNs, f.WholeNs) + " of " + of.Phrase
}

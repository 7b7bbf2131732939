package html

import (
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/all"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// procStates are the states of a P, in the order of report.StateKeys.
var procStates = vocabulary.Of(vocabulary.State)

// slug makes a fragment of a term.
func slug(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r >= 'A' && r <= 'Z':
			return r
		}
		return '-'
	}, s)
}

// termID is the fragment of a term in the glossary; "" if it is not there.
func termID(k vocabulary.Kind, name string) string {
	if _, ok := vocabulary.Lookup(k, name); !ok {
		return ""
	}
	return string(k) + "-" + slug(name)
}

// term is an entry of the glossary.
type term struct {
	ID, Word, Text string
}

type glossaryPart struct {
	Title string
	Intro string
	Terms []term
}

// measures are the metrics that the page shows and that do not explain themselves.
var measures = []string{
	"waits.tail_mass", "waits.behind_long_ns", "pressure.some", "pressure.full", "pressure.unclaimed_idle", "fairness.jain", "gini", "fairness.max_lag_ns",
	"fairness.slowdown", "fairness.bypass", "classes.antagonists", "span.parallelism", "little_error",
}

// glossaries explains every word of the page, as the explain command does.
func glossaries() []glossaryPart {
	part := func(title, intro string, terms []vocabulary.Term, entry func(t *vocabulary.Term) (word, text string)) glossaryPart {
		p := glossaryPart{Title: title, Intro: intro}
		for i := range terms {
			word, text := entry(&terms[i])
			p.Terms = append(p.Terms, term{termID(terms[i].Kind, terms[i].Name), word, text})
		}
		return p
	}
	explained := func(t *vocabulary.Term) (word, text string) { return t.Title, t.Text() }
	var measured []vocabulary.Term
	for _, name := range measures {
		t, _ := vocabulary.Lookup(vocabulary.Metric, name)
		measured = append(measured, t)
	}
	detectors := glossaryPart{
		Title: "Detectors",
		Intro: "What each one looks for. `gmpscope explain NAME` says how, when it is wrong, and what to do.",
	}
	plain := strings.NewReplacer("`", "", "**", "", "\n", " ")
	for _, d := range all.Docs() {
		text, _ := findings.Section(d.Text, "What")
		text, _, _ = strings.Cut(text, "\n\n")
		detectors.Terms = append(detectors.Terms, term{"d-" + d.ID, d.ID, words.WithoutLinks(plain.Replace(text))})
	}
	return []glossaryPart{
		part("Words", "", vocabulary.Of(vocabulary.Word), explained),
		part("Causes of waiting", "Every nanosecond of every wait has exactly one cause: the first in this list that holds at that instant. So the causes add up to the waiting, with nothing left over. The name in brackets is that of the JSON.",
			vocabulary.Of(vocabulary.Cause), func(t *vocabulary.Term) (word, text string) {
				return t.Title + " (" + t.Name + ")", t.Short + " What to do about it: " + t.Advice + "."
			}),
		part("What a P does", "", procStates, func(t *vocabulary.Term) (word, text string) {
			return t.Title + " (" + strings.TrimPrefix(t.Name, "ps.") + ")", t.Text()
		}),
		part("Where a goroutine is taken from", "For every start the report says from where the P took the goroutine. The trace does not record that; it is inferred from the rules of the scheduler.",
			vocabulary.Of(vocabulary.Source), func(t *vocabulary.Term) (word, text string) {
				return t.Title, t.Short + " The P " + t.Phrase + "."
			}),
		part("Measures", "", measured, explained),
		detectors,
	}
}

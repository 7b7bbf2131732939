package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gmpscope/gmpscope/analyze/config"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/all"
	"github.com/gmpscope/gmpscope/internal/names"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// UnknownName is the error of [WriteExplanation] for a name that has no explanation.
type UnknownName struct {
	Name string
	Near []string // names like it, nearest first; at most three
}

// Error reports that the name has no explanation, and which names are like it.
func (e *UnknownName) Error() string {
	s := fmt.Sprintf("there is no explanation of %q", e.Name)
	if len(e.Near) > 0 {
		s += "; did you mean " + strings.Join(e.Near, " or ") + "?"
	}
	return s
}

// Names returns all names that can be explained: detectors, then terms.
func Names() []string {
	var out []string
	for _, d := range all.Docs() {
		out = append(out, d.ID)
	}
	for _, t := range vocabulary.Terms() {
		out = append(out, t.Name)
	}
	return out
}

// WriteExplanation explains a finding, cause, source, metric or word. The error
// is an [*UnknownName] if there is none of that name.
func WriteExplanation(w io.Writer, name string, o TextOptions) error {
	t := &text{w: lineWriter(w), o: o}
	found := false
	for _, d := range all.Docs() {
		if strings.EqualFold(d.ID, strings.ReplaceAll(strings.TrimSpace(name), " ", "-")) {
			t.doc(d)
			found = true
		}
	}
	for _, term := range vocabulary.Find(name) {
		if found {
			t.line("")
		}
		t.term(term)
		found = true
	}
	if !found {
		return &UnknownName{Name: name, Near: near(name)}
	}
	return t.w.Flush()
}

// near returns names like name, nearest first; at most three.
func near(name string) []string {
	candidates, shown := Names(), map[string]string{}
	for _, t := range vocabulary.Terms() {
		for _, alias := range t.Aliases {
			candidates, shown[alias] = append(candidates, alias), t.Name
		}
	}
	var out []string
	for _, c := range names.Near(name, candidates) {
		if c = cmp.Or(shown[c], c); !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out[:min(len(out), 3)]
}

// kinds are the sorts of terms, in the order in which they are listed.
var kinds = []struct {
	kind  vocabulary.Kind
	title string
}{
	{vocabulary.Cause, "Causes of waiting"},
	{vocabulary.Source, "Sources of starts"},
	{vocabulary.State, "States of a P"},
	{vocabulary.Word, "Words"},
	{vocabulary.Metric, "Metrics"},
	{vocabulary.Rule, "Rules of a basis"},
}

// WriteNames lists all that can be explained, a line each.
func WriteNames(w io.Writer, o TextOptions) error {
	t := &text{w: lineWriter(w), o: o}
	t.line(t.in(bold, "FINDINGS"))
	for _, d := range all.Docs() {
		t.entry(d.ID, d.Title)
	}
	for _, k := range kinds {
		t.head(k.title)
		for _, term := range vocabulary.Of(k.kind) {
			t.entry(term.Name, short(term))
		}
	}
	return t.w.Flush()
}

// entry is a name with its explanation, in one line.
func (t *text) entry(name, short string) {
	const column = 24
	s := fmt.Sprintf("  %-*s  ", column, name)
	t.line(s + brief(short, max(20, Width-utf8.RuneCountInString(s))))
}

// brief shortens a sentence to n runes, at the end of a word.
func brief(s string, n int) string {
	lines := wrap(s, n)
	if len(lines) < 2 {
		return s
	}
	return wrap(s, n-1)[0] + "…"
}

func (t *text) term(term vocabulary.Term) {
	t.line(fmt.Sprintf("%s (%s)", t.in(bold, term.Name), term.Kind))
	t.para(2, short(term))
	t.para(2, term.Long)
	if len(term.Aliases) > 0 {
		t.para(2, "Also called: "+strings.Join(term.Aliases, ", ")+".")
	}
}

// short is what a term is in one sentence.
func short(term vocabulary.Term) string {
	if term.Short == "" {
		return words.Sentence(term.Phrase) + "."
	}
	return term.Short
}

// thresholds is the section of an explanation that the configuration adds.
func thresholds(id string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n\n## Thresholds\n\nA configuration may set them, under the key %s (docs/config.md). The defaults:\n\n", id)
	for _, t := range config.Thresholds(id) {
		fmt.Fprintf(&b, "* %s = %s: %s.\n", t.Key, t.Default, t.Text)
	}
	return b.String()
}

// doc writes the explanation of a detector, which is Markdown: headings,
// paragraphs, lists with stars, and text indented by four.
func (t *text) doc(d findings.Doc) {
	t.line(fmt.Sprintf("%s: %s", t.in(bold, d.ID), d.Title))
	_, body, _ := strings.Cut(d.Text, "\n") // its title
	blank := true
	for l := range strings.Lines(body + thresholds(d.ID)) {
		l = strings.TrimRight(l, "\n ")
		plain := strings.ReplaceAll(words.WithoutLinks(l), "**", "")
		switch {
		case l == "":
			if !blank {
				t.line("")
			}
		case strings.HasPrefix(l, "## "):
			t.line(t.in(bold, strings.ToUpper(l[3:])))
			blank = true
			continue
		case strings.HasPrefix(l, "    "):
			t.line(l)
		case strings.HasPrefix(l, "* "):
			t.hang("  - ", 4, plain[2:])
		default:
			t.para(2, plain)
		}
		blank = l == ""
	}
}

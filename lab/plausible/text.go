// Package plausible answers: can the numbers of a report be? It serves tests.
// [Result] and [Comparison] hold a document's numbers against each other, [Text]
// reads what was written of them. What can be is not thereby true.
package plausible

import (
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
)

const (
	before = `(^|[\s("“~])`
	after  = `($|[\s,;:)”!]|\.$|\.\s)`
	unit   = ` ?(?:%|ns|µs|ms|s|min|h)`
	amount = `[<>]?[0-9][0-9,]*(?:\.[0-9]+)?`
)

var (
	percentage = regexp.MustCompile(`(^|[^\w.,/])([<>+-]|± ?)?([0-9][0-9,]*(?:\.[0-9]+)?) ?%`)
	infinite   = regexp.MustCompile(before + `[+-]?(NaN|Inf)` + after)
	rawTime    = regexp.MustCompile(`(^|[^\w.,])([0-9]{4,}|[0-9]{1,3}(,[0-9]{3})+) ?ns\b`)
	longRun    = regexp.MustCompile(before + `[+-]?[0-9]{5,}` + after)
	label      = regexp.MustCompile(`\b(?:[Gg]oroutine|byte|generation) [0-9]+`) // a name, not a quantity
	fraction   = regexp.MustCompile(before + `[+-]?0\.00[0-9]{2,}`)
	exponent   = regexp.MustCompile(before + `[+-]?[0-9](\.[0-9]+)?e[+-]?[0-9]+`)
	noChange   = regexp.MustCompile(before + `([+-]|± ?)0(\.0+)?(` + unit + `)?` + after)
	notOnce    = regexp.MustCompile(before + `1 (waits|starts|goroutines|times|traces|Ps|runs|steals|events|bytes|threads|generations|slices|calls|wake-ups|stops|moves|intervals|cycles|samples|blocks|timers|storms|assists|classes|bursts)\b`)
	bothSides  = regexp.MustCompile(before + `(` + amount + `(?:` + unit + `)?),? (?:instead of|to|not|against|→|–) (` + amount + `(?:` + unit + `)?)` + after)
	sides      = regexp.MustCompile(`(?i)` + before + `(?:better|worse): [0-9][^.!?…]*`)
	relation   = regexp.MustCompile(`\b(from|instead of|than|then)\b|→`)
	percentIn  = regexp.MustCompile(`([+-][0-9.]+) % +\(?([+-]?[0-9.]+)(?: %)? to ([+-]?[0-9.]+)`)
	timesIn    = regexp.MustCompile(`×([0-9.,]+) +\(?×([0-9.,]+) to ×([0-9.,]+)`)
	space      = regexp.MustCompile(`\s+`)
)

// Text returns what cannot be in a text: percentages of a whole beyond it, changes
// that take away more than all or that should be factors, what is no number,
// differences of nothing, intervals beside what they are the interval of, and
// numbers that no person would write so.
func Text(s string) []string {
	s = strings.NewReplacer("\u00a0", " ", "−", "-").Replace(s)
	s = space.ReplaceAllString(s, " ")
	var out []string
	say := func(what, found string) { out = append(out, fmt.Sprintf("%s: %q", what, strings.TrimSpace(found))) }
	for _, m := range percentage.FindAllStringSubmatch(s, -1) {
		if f, err := strconv.ParseFloat(strings.ReplaceAll(m[3], ",", ""), 64); err != nil || f > 100 || f == 100 && m[2] == ">" {
			say("more than the whole", m[0])
		}
	}
	for _, r := range []struct {
		what string
		r    *regexp.Regexp
	}{
		{"no number", infinite}, {"nanoseconds by the thousand", rawTime}, {"an exponent", exponent}, {"next to nothing", fraction},
		{"a difference of nothing", noChange}, {"one is not many", notOnce},
	} {
		for _, m := range r.r.FindAllString(s, -1) {
			say(r.what, m)
		}
	}
	if strings.Contains(s, "∞") {
		say("no number", "∞")
	}
	for _, m := range longRun.FindAllString(label.ReplaceAllString(s, ""), -1) {
		say("thousands that run together", m)
	}
	// What follows a match may begin the next one.
	for rest := s; ; {
		m := bothSides.FindStringSubmatchIndex(rest)
		if m == nil {
			break
		}
		if rest[m[4]:m[5]] == rest[m[6]:m[7]] {
			say("a difference of nothing", rest[m[0]:m[1]])
		}
		rest = rest[m[5]:]
	}
	for _, m := range sides.FindAllString(s, -1) {
		if !relation.MatchString(m) {
			say("a change of which one side is told", m)
		}
	}
	for _, r := range []*regexp.Regexp{percentIn, timesIn} {
		for _, m := range r.FindAllStringSubmatch(s, -1) {
			var x [3]float64
			for i := range x {
				x[i], _ = strconv.ParseFloat(strings.ReplaceAll(m[i+1], ",", ""), 64)
			}
			if x[0] < x[1] || x[0] > x[2] {
				say("an interval without its estimate", m[0])
			}
		}
	}
	return out
}

var (
	notShown = regexp.MustCompile(`(?is)<(script|style)\b.*?</(script|style)>`)
	tag      = regexp.MustCompile(`(?s)<[^>]*>`)
)

// HTML is [Text] of what a page shows.
func HTML(page string) []string {
	page = notShown.ReplaceAllString(page, " ")
	var out []string
	// Of each element by itself: cells stand side by side, but are no sentence.
	seen := map[string]bool{}
	for _, s := range tag.Split(page, -1) {
		if seen[s] || !strings.ContainsAny(s, "0123456789NI∞") {
			continue
		}
		seen[s] = true
		out = append(out, Text(html.UnescapeString(s))...)
	}
	return out
}

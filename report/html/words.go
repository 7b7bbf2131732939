package html

import (
	"regexp"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/all"
	"github.com/gmpscope/gmpscope/analyze/findings/glossary"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// causeKeys name the colours of the causes; they are those of the states of a P
// where the two speak of the same thing.
var causeKeys = map[waits.Cause]string{
	waits.CauseSTW: "stopped", waits.CauseUnavailable: "syscall", waits.CauseGC: "gc", waits.CauseIdlePWaking: "waking",
	waits.CauseIdlePMissed: "missed", waits.CauseBehind: "behind", waits.CauseOvertaken: "overtaken", waits.CauseTracer: "tracer",
	waits.CauseResidue: "sched",
}

func causeKey(c waits.Cause) string {
	if k, ok := causeKeys[c]; ok {
		return k
	}
	return "sched"
}

func causeTitle(c waits.Cause) string { return words.CauseOf(c).Title }

// causeTerm is the glossary's entry for a cause.
func causeTerm(c waits.Cause) string { return "c-" + slug(string(c)) }

// sourceTerm is the glossary's entry for a source; "" if it has none.
func sourceTerm(s string) string {
	if words.Meaning(glossary.Source, s) == "" {
		return ""
	}
	return "q-" + slug(s)
}

// stateKeys name the colours of the parts of a P's account, in the order of
// words.States.
var stateKeys = [...]string{"user", "system", "gc", "tracer", "syscall", "sched", "stopped", "idle", "unused", "gap"}

// stateTitles are the words for them.
var stateTitles = func() []string {
	var out []string
	for _, s := range words.States() {
		out = append(out, s.Title)
	}
	return out
}()

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

// term is an entry of the glossary.
type term struct {
	ID, Word, Text string
}

type glossaryPart struct {
	Title string
	Intro string
	Terms []term
}

// measures explains what the tables of the page show, where the glossary of the
// JSON's keys is too terse for a reader of the page.
var measures = []term{
	{"m-percentiles", "percentile, counted and time-weighted", "p99 of 5 ms, counted by wait: one wait in a hundred is longer than 5 ms. Time-weighted: of all the time spent waiting, one hundredth is spent in waits longer than that. Many short waits hide few long ones in the first kind; the second asks what a goroutine that waits right now is in for."},
	{"m-tail", "tail mass", "The share of all waiting time that lies in waits longer than 1 ms, or 10 ms."},
	{"m-pressure", "pressure: some, full", "Some: the share of time in which at least one goroutine waited. Full: the share in which one waited and nothing of the program ran."},
	{"m-idle", "unclaimed idle", "The share of all P-time that was idle while a goroutine stood in a queue. A perfect scheduler has none."},
	{"m-jain", "Jain's index", "How evenly goroutines got what they should have got, given who wanted to run when. 1 is perfectly even; 1/n means that one of n got everything."},
	{"m-gini", "Gini of waits", "How unequally the waiting is spread over the goroutines of a class: 0 equal, near 1 one of them does all the waiting."},
	{"m-lag", "lag", "Running time that a goroutine was owed, against perfectly even sharing of the Ps. In a fair scheduler it stays small."},
	{"m-slowdown", "slowdown", "(waiting + running) / running, of one activation. 1 means no wait at all; 10 that running 1 ms took 10 ms."},
	{"m-behindlong", "behind one long run", "The part of waiting in line, or of being overtaken, that was spent behind a single run longer than a time slice."},
	{"m-bypass", "bypassed", "How many goroutines that became runnable later started before one that waited."},
	{"m-antagonists", "who ran meanwhile", "Goroutine-time that one class stood in a queue while another ran on the P that served it: two goroutines that wait for 1 ms behind one run are 2 ms. It sums to waiting in line and overtaken, except that waits not over at the end of the trace count here already, and that where more than 16 classes wait in one queue, some are charged to all others together."},
	{"m-span", "work / span", "All running time, divided by the longest chain of work of which each part had to wait for the one before. More Ps than that cannot be kept busy."},
	{"m-little", "Little's check", "Mean number waiting = rate × mean wait. A self-check of the analysis: the two sides should agree."},
}

// glossaries explains every word of the page. Words, causes and sources are
// those of package glossary, and detectors explain themselves, so that the page
// and the explain command say the same.
func glossaries() []glossaryPart {
	wordList := glossaryPart{Title: "Words"}
	for _, t := range glossary.Of(glossary.Word) {
		wordList.Terms = append(wordList.Terms, term{"g-" + slug(t.Term), t.Term, t.Short + " " + t.Long})
	}
	causes := glossaryPart{
		Title: "Causes of waiting",
		Intro: "Every nanosecond of every wait has exactly one cause: the first in this list that holds at that instant. So the causes add up to the waiting, with nothing left over. The name in brackets is that of the JSON.",
	}
	for _, c := range waits.Causes() {
		text := words.Meaning(glossary.Cause, string(c)) + " What to do about it: " + words.CauseOf(c).Do + "."
		causes.Terms = append(causes.Terms, term{causeTerm(c), causeTitle(c) + " (" + string(c) + ")", text})
	}
	states := glossaryPart{Title: "What a P does"}
	for i, s := range words.States() {
		states.Terms = append(states.Terms, term{"s-" + stateKeys[i], s.Title + " (" + s.JSON + ")", s.What})
	}
	sources := glossaryPart{
		Title: "Where a goroutine is taken from",
		Intro: "For every start the report says from where the P took the goroutine. The trace does not record that; it is inferred from the rules of the scheduler.",
	}
	for _, s := range reference.Sources() {
		text := words.Meaning(glossary.Source, s.String()) + " The P " + words.Source(s.String()) + "."
		sources.Terms = append(sources.Terms, term{"q-" + s.String(), s.String(), text})
	}
	detectors := glossaryPart{
		Title: "Detectors",
		Intro: "What each one looks for. `gmpscope explain NAME` says how, when it is wrong, and what to do.",
	}
	for _, d := range all.Docs() {
		detectors.Terms = append(detectors.Terms, term{"d-" + d.ID, d.ID, what(d.Text)})
	}
	return []glossaryPart{wordList, causes, states, sources, {Title: "Measures", Terms: measures}, detectors}
}

// mdLink is a link of the explanations, whose target is not on the page.
var mdLink = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// what is the first paragraph of a detector's explanation, as plain text.
func what(doc string) string {
	text, _ := findings.Section(doc, "What")
	text, _, _ = strings.Cut(text, "\n\n")
	text = strings.NewReplacer("`", "", "**", "", "\n", " ").Replace(text)
	return mdLink.ReplaceAllString(text, "$1")
}

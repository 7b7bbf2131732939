package words

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings/glossary"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/reference"
)

func TestProse(t *testing.T) {
	for _, c := range []struct{ s, want string }{
		{"runs of github.com/a/b/internal/bundler.parseFile held up others", "runs of bundler.parseFile held up others"},
		{"the lock in example.com/x.(*T).Get: 3 waits", "the lock in x.(*T).Get: 3 waits"},
		{"two: a.b/c.f and corp/team/svc.run", "two: c.f and svc.run"},
		{"gopkg.in/yaml.v3.Unmarshal", "yaml.v3.Unmarshal"},
		{"raise it with runtime/debug.SetGCPercent", "raise it with runtime/debug.SetGCPercent"},
		{"(waiting + running)/running. And so on and/or.", "(waiting + running)/running. And so on and/or."},
		{"main.f (/home/x/y/main.go:12)", "main.f (/home/x/y/main.go:12)"},
		{"see https://go.dev/doc/gc/guide.html", "see https://go.dev/doc/gc/guide.html"},
		{"x\u202ey", "x<U+202E>y"},
		{"", ""},
	} {
		if got := Prose(c.s); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.s, got, c.want)
		}
	}
}

func TestEachNameHasWords(t *testing.T) {
	for _, c := range waits.Causes() {
		if w := CauseOf(c); w.Title == string(c) && c != waits.CauseOvertaken && c != waits.CauseTracer || w.Lost == "" || w.Do == "" {
			t.Errorf("cause %s has no words: %+v", c, w)
		}
		if Meaning(glossary.Cause, string(c)) == "" {
			t.Errorf("the glossary does not explain cause %s", c)
		}
	}
	for _, s := range reference.Sources() {
		if _, ok := sources[s.String()]; !ok {
			t.Errorf("source %s has no words", s)
		}
		if Meaning(glossary.Source, s.String()) == "" {
			t.Errorf("the glossary does not explain source %s", s)
		}
	}
	if got := Source("new\x1b"); got != "new<U+001B>" {
		t.Errorf("a source without words is shown as %q", got)
	}
}

func TestSentences(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Cut("abcdefghij", 5), "abc…j"},
		{List(nil), ""}, {List([]string{"a"}), "a"}, {List([]string{"a", "b", "c"}), "a, b and c"},
		{Sentence("örtlich"), "Örtlich"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

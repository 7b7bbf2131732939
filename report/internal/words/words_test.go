package words

import (
	"testing"

	"github.com/gmpscope/gmpscope/internal/vocabulary"
)

func TestUnknownNamesAreShown(t *testing.T) {
	for _, got := range []string{Phrase(vocabulary.Source, "new\x1b"), Title(vocabulary.Cause, "new\x1b")} {
		if got != "new<U+001B>" {
			t.Errorf("a name that is not in the vocabulary is shown as %q", got)
		}
	}
}

func TestQueue(t *testing.T) {
	for _, c := range []struct {
		queue string
		p     int32
		want  string
	}{
		{"runnext", 3, "the runnext slot of P3"}, {"runnext", -1, "a queue that is not known"},
		{"local", 0, "the queue of P0"}, {"local", -1, "the global queue"}, {"global", -1, "the global queue"},
		{"direct", 1, "no queue, to be run directly"}, {"", 1, "a queue that is not known"},
	} {
		if got := Queue(c.queue, c.p); got != c.want {
			t.Errorf("Queue(%q, %d) = %q, want %q", c.queue, c.p, got, c.want)
		}
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

// A comma stands before the last where one of the others has one itself.
func TestList(t *testing.T) {
	for _, c := range []struct {
		in   []string
		want string
	}{
		{nil, ""}, {[]string{"a"}, "a"}, {[]string{"a", "b", "c"}, "a, b and c"},
		{[]string{"a, or b", "c"}, "a, or b, and c"},
		{[]string{"a (1, 2)", "c"}, "a (1, 2) and c"},
		{[]string{"a", "b, or c"}, "a and b, or c"},
	} {
		if got := List(c.in); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}

package names

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"main.worker", "main.worker", true},
		{"main.worker", "main.workers", false},
		{"main.worker*", "main.worker", true},
		{"main.worker*", "main.workers", true},
		{"*", "", true},
		{"*", "main.main", true},
		{"", "", true},
		{"", "x", false},
		{"main.(*Server).serve", "main.(*Server).serve", true},
		{"main.(*Server).*", "main.(*Server).serve.func1", true},
		{"main.F[...]", "main.F[...]", true},
		{"main.F[abc]", "main.Fa", false},
		{"a*a", "a", false},
		{"a*b*c", "a-b-c", true},
		{"a*b*c", "a-c-b", false},
		{"a*bc*c", "abc", false},
		{"**", "x", true},
		{`a\*`, `a\x`, true},
		{"a?", "ab", false},
	} {
		if got := Match(c.pattern, c.name); got != c.want {
			t.Errorf("Match(%q, %q) = %v", c.pattern, c.name, got)
		}
	}
}

func TestNear(t *testing.T) {
	candidates := []string{"late_ns", "least", "min_count", "min_herds", "starvation"}
	for _, c := range []struct {
		name string
		want []string
	}{
		{"late", []string{"late_ns"}},
		{"LATE_NS", []string{"late_ns"}},
		{"late_n", []string{"late_ns"}},
		{"mincount", []string{"min_count"}},
		{"strvation", []string{"starvation"}},
		{"nothing like it", nil},
		{"min", []string{"min_count", "min_herds"}},
		{"", nil},
		{" ", nil},
	} {
		if diff := cmp.Diff(c.want, Near(c.name, candidates)); diff != "" {
			t.Errorf("%q: %s", c.name, diff)
		}
	}
}

func TestDistance(t *testing.T) {
	var got []int
	for _, p := range [][2]string{{"", ""}, {"abc", "abc"}, {"abc", "abd"}, {"abc", "ab"}, {"", "ab"}, {"kitten", "sitting"}} {
		got = append(got, distance(p[0], p[1]))
	}
	if diff := cmp.Diff([]int{0, 0, 1, 1, 2, 3}, got); diff != "" {
		t.Error(diff)
	}
}

func TestInstead(t *testing.T) {
	many := strings.Split("main.a main.b main.c main.d main.e main.f main.g main.h main.i main.j", " ")
	for _, c := range []struct {
		name       string
		candidates []string
		want       string
	}{
		{"main.handleReprot", []string{"main.a", "main.handleReport", "main.handleReports"}, `did you mean "main.handleReport" or "main.handleReports"?`},
		{"other", many[:2], `there are "main.a", "main.b"`},
		{"other", many, `there are "main.a", "main.b", "main.c", "main.d", "main.e", "main.f", "main.g", "main.h" and 2 more`},
		{"main", many, `did you mean "main.a" or "main.b" or "main.c"?`},
		{"other", nil, "there are none"},
	} {
		if got := Instead(c.name, c.candidates); got != c.want {
			t.Errorf("%s of %v: %s, want %s", c.name, c.candidates, got, c.want)
		}
	}
}

package report

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/reference"
)

// TestExplainAll explains everything that has a name, within the columns.
func TestExplainAll(t *testing.T) {
	names := Names()
	for _, c := range waits.Causes() {
		names = append(names, string(c))
	}
	for _, s := range reference.Sources() {
		names = append(names, s.String())
	}
	for _, name := range names {
		var b bytes.Buffer
		if err := WriteExplanation(&b, name, TextOptions{}); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for l := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(l, "\n")); n > Width && !strings.HasPrefix(l, "    ") {
				t.Errorf("%s: a line has %d columns: %s", name, n, l)
			}
		}
		if strings.Contains(b.String(), "](") || strings.Contains(b.String(), "**") {
			t.Errorf("%s: Markdown is left:\n%s", name, b.String())
		}
	}
}

func TestExplainUnknown(t *testing.T) {
	for _, c := range []struct {
		name, near string
	}{
		{"strvation", "starvation"},
		{"starv", "starvation"},
		{"overtake", "overtaken"},
		{"qqqqqqqqqqqqqqqq", ""},
		{"", ""},
	} {
		var b bytes.Buffer
		err := WriteExplanation(&b, c.name, TextOptions{})
		var u *UnknownName
		if !errors.As(err, &u) {
			t.Errorf("%q: error is %v", c.name, err)
			continue
		}
		got := ""
		if len(u.Near) > 0 {
			got = u.Near[0]
		}
		if got != c.near {
			t.Errorf("%q: near is %q, want %q first", c.name, u.Near, c.near)
		}
		if b.Len() > 0 {
			t.Errorf("%q: something was written: %s", c.name, b.String())
		}
	}
}

func TestWriteNames(t *testing.T) {
	var b bytes.Buffer
	if err := WriteNames(&b, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range Names() {
		if !strings.Contains(b.String(), "\n  "+name+" ") {
			t.Errorf("%s is not listed", name)
		}
	}
}

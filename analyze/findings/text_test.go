package findings_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

// TestSay holds a text against what fmt.Sprintf writes, and against its pieces.
func TestSay(t *testing.T) {
	const work, get, at, id = findings.Name("a.com/x.work"), findings.Name("a.com/x.get"), findings.Place("x.go:7"), findings.ID("convoy")
	inner := findings.Say("%s (run by %s)", work, get)
	for _, c := range []struct {
		format string
		args   []any
		want   findings.Text
	}{
		{"%d of 100 %% at %s", []any{3, "most"}, findings.Text{{Text: "3 of 100 % at most"}}},
		{"%s waits %d %% for %s", []any{work, 5, get}, findings.Text{{"a.com/x.work", findings.Function}, {" waits 5 % for ", findings.Words}, {"a.com/x.get", findings.Function}}},
		{"in %s%s, see %s", []any{inner, findings.At(" (%s)", string(at)), id}, findings.Text{
			{"in ", findings.Words}, {"a.com/x.work", findings.Function}, {" (run by ", findings.Words}, {"a.com/x.get", findings.Function}, {") (", findings.Words},
			{"x.go:7", findings.File}, {"), see ", findings.Words}, {"convoy", findings.Detected},
		}},
		{"%s%s", []any{work, findings.At(" (%s)", "")}, findings.Text{{"a.com/x.work", findings.Function}}},
	} {
		got := findings.Say(c.format, c.args...)
		if want := fmt.Sprintf(c.format, c.args...); got.String() != want {
			t.Errorf("%q, want %q", got, want)
		}
		if !reflect.DeepEqual(merged(got), c.want) {
			t.Errorf("%q is %v, want %v", got, merged(got), c.want)
		}
	}
}

// merged joins words that follow each other.
func merged(t findings.Text) (out findings.Text) {
	for _, p := range t {
		if n := len(out); n > 0 && p.Kind == findings.Words && out[n-1].Kind == findings.Words {
			out[n-1].Text += p.Text
			continue
		}
		out = append(out, p)
	}
	return out
}

// TestTextInJSON is for texts as strings: what is read back is words.
func TestTextInJSON(t *testing.T) {
	for _, c := range []struct {
		text findings.Text
		json string
		back findings.Text
	}{
		{findings.Say("%s <waits>", findings.Name("main.f")), `"main.f \u003cwaits\u003e"`, findings.Text{{Text: "main.f <waits>"}}},
		{nil, `""`, nil},
	} {
		b, err := json.Marshal(c.text)
		if err != nil || string(b) != c.json {
			t.Errorf("%q is %s, %v; want %s", c.text, b, err, c.json)
		}
		var back findings.Text
		if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(back, c.back) {
			t.Errorf("%s is read as %v, %v; want %v", b, back, err, c.back)
		}
	}
	b, err := json.Marshal(findings.Measured("waits", findings.Count(3)))
	if want := `{"what":"waits","value":"3","amount":3,"unit":"1"}`; err != nil || string(b) != want {
		t.Errorf("%s, %v; want %s", b, err, want)
	}
}

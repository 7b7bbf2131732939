package words

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
)

func TestRules(t *testing.T) {
	format := analyze.RulesApplied{GoVersion: "1.26", ChosenBy: analyze.ByFormat}
	for _, c := range []struct {
		rules []analyze.RulesApplied
		want  string
	}{
		{nil, ""},
		{[]analyze.RulesApplied{{}}, ""},
		{[]analyze.RulesApplied{format}, "Go 1.26, by the trace format"},
		{[]analyze.RulesApplied{{GoVersion: "1.22", ChosenBy: analyze.ByNearest}}, "Go 1.22, the oldest that are known"},
		{[]analyze.RulesApplied{{GoVersion: "1.26", ChosenBy: analyze.ByFormat, OtherRules: []string{"1.28", "1.29"}}},
			"Go 1.26, by the trace format; if Go 1.28 or 1.29 wrote it, say so with --go-version"},
		{[]analyze.RulesApplied{format, {GoVersion: "1.25", ChosenBy: analyze.ByFlag}}, "Go 1.26, by the trace format; Go 1.25, by --go-version"},
	} {
		if got := AllRules(c.rules); got != c.want {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
}

// TestTick names the tick by the rules of the trace, and plainly where they are not known.
func TestTick(t *testing.T) {
	for version, want := range map[string]string{"1.22": "61st tick", "1.27": "61st tick", "1.99": "tick", "": "tick"} {
		if got := Tick(analyze.RulesApplied{GoVersion: version}); got != want {
			t.Errorf("Go %s: %q", version, got)
		}
	}
	for n, want := range map[int]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 31: "31st", 61: "61st", 111: "111th", 122: "122nd"} {
		if got := ordinal(n); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}

package analyze

import (
	"slices"

	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/reference"
)

// RulesApplied are the scheduler rules by which a trace was analysed. A header names a
// format, not a release: Go 1.24 writes that of 1.23, and Go 1.27 that of 1.26. Unless
// --go-version names another release, the rules are those of the first that wrote the
// format.
type RulesApplied struct {
	GoVersion  string   `json:"go_version"` // release whose rules apply: "1.26"
	ChosenBy   ChosenBy `json:"chosen_by"`
	OtherRules []string `json:"other_rules,omitempty"` // releases that write the same format but have other rules; --go-version selects one
}

// AddRules returns the list with r appended, or as it is if it has the same release, chosen in the same
// way, already. It collects the rules by which several traces were analysed.
func AddRules(list []RulesApplied, r RulesApplied) []RulesApplied {
	if slices.ContainsFunc(list, func(x RulesApplied) bool { return x.GoVersion == r.GoVersion && x.ChosenBy == r.ChosenBy }) {
		return list
	}
	return append(list, r)
}

// ChosenBy specifies how rules were chosen.
type ChosenBy string

// The ways to choose rules.
const (
	ByFormat  ChosenBy = "format"  // of the first release that writes the trace's format
	ByNearest ChosenBy = "nearest" // of the first release that is known: the format is older
	ByFlag    ChosenBy = "flag"    // the user has named the release
)

// ChooseRules returns the rules of the scheduler by which a trace with header h is analysed, and how
// they were chosen: asked, or, if that is the zero value, those of the first release that writes the
// format.
func ChooseRules(h input.Header, asked reference.Rules) (reference.Rules, RulesApplied) {
	if asked != (reference.Rules{}) {
		return asked, RulesApplied{GoVersion: asked.Release, ChosenBy: ByFlag}
	}
	rules := reference.RulesFor(h.Minor)
	chosen := RulesApplied{GoVersion: rules.Release, ChosenBy: ByFormat}
	writers := reference.Writers(h.Minor)
	if len(writers) == 0 {
		chosen.ChosenBy = ByNearest
	}
	for _, w := range writers {
		if !w.Same(rules) {
			chosen.OtherRules = append(chosen.OtherRules, w.Release)
		}
	}
	return rules, chosen
}

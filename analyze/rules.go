package analyze

import (
	"slices"

	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/reference"
)

// RulesApplied reports by which rules of the scheduler a trace was analysed. The header of a
// trace names a format, not a release: Go 1.24 writes that of 1.23, and Go 1.27 that
// of 1.26. The rules are those of the release that brought the format, unless
// --go-version says that it was another one.
type RulesApplied struct {
	GoVersion string   `json:"go_version"` // release whose rules they are: "1.26"
	ChosenBy  ChosenBy `json:"chosen_by"`  // how they were chosen
	// OtherRules are releases that write the trace's format, too, and have other
	// rules. If one of them wrote the trace, the user has to say so.
	OtherRules []string `json:"other_rules,omitempty"`
}

// AddRules adds r to a list unless it is there.
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

// ChooseRules returns the rules for a trace with that header: those asked for,
// or, if that is the zero value, those that its format tells.
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

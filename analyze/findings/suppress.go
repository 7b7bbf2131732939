package findings

import (
	"cmp"
	"slices"
	"time"

	"github.com/gmpscope/gmpscope/internal/funcname"
	"github.com/gmpscope/gmpscope/internal/names"
)

// Suppression accepts what a detector finds about a class.
type Suppression struct {
	Finding string `json:"finding"`         // ID of the detector
	Class   string `json:"class"`           // start function of the class; * stands for any letters
	Reason  string `json:"reason"`          // why it is accepted
	Owner   string `json:"owner"`           // person or team responsible
	Until   string `json:"until,omitempty"` // last day, UTC, as 2027-03-01; absent: for ever
}

// Covers reports whether s suppresses findings of the detector id about a class, given by its start
// function. s may name that as reports write it or as the linker does.
func (s *Suppression) Covers(id, class string) bool {
	return s.Finding == id && (names.Match(s.Class, class) || names.Match(funcname.Written(s.Class), class))
}

// Expired reports whether the last day of s, in UTC, is over at the time now. A suppression without a
// last day never expires.
func (s *Suppression) Expired(now time.Time) bool {
	return s.Until != "" && now.UTC().Format(time.DateOnly) > s.Until
}

// Suppressed is a suppressed finding.
type Suppressed struct {
	Finding Finding     `json:"finding"`
	By      Suppression `json:"suppression"`
}

// MergeSuppressed merges the suppressed findings of several traces: of each detector and class it
// returns the most severe one, or the costliest of these. The most severe come first.
func MergeSuppressed(list []Suppressed) []Suppressed {
	type key struct{ id, class, creator string }
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(x, y Suppressed) int {
		return cmp.Or(cmp.Compare(x.Finding.Severity.Order(), y.Finding.Severity.Order()),
			cmp.Compare(y.Finding.CostNs, x.Finding.CostNs), order(x.Finding, y.Finding))
	})
	seen := map[key]bool{}
	return slices.DeleteFunc(list, func(s Suppressed) bool {
		class, creator := s.Finding.Subject()
		k := key{s.Finding.ID, class, creator}
		was := seen[k]
		seen[k] = true
		return was
	})
}

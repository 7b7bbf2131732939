package analyze

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/funcname"
)

// Suppress moves the findings that a suppression covers from Findings to
// Suppressed; of several that cover it, the first is named. used[i] reports
// whether by[i] covered any. Whether they have expired is the caller's to look at.
//
// It is no step of [Run]: what is accepted says nothing about the trace, so all
// that was measured stays as it is, and so do the numbers in Detectors.
//
// If the result is anonymous, names are those that made it so. The suppressions
// name classes as the program does; in Suppressed they have the class of the
// finding, and numbers for owner and reason.
func (r *Result) Suppress(by []findings.Suppression, names *Pseudonyms) (used []bool) {
	used = make([]bool, len(by))
	var kept []findings.Finding
	for _, f := range r.Findings {
		if !slices.ContainsFunc(by, func(s findings.Suppression) bool { return s.Finding == f.ID }) {
			kept = append(kept, f) // OPT: to look up a name takes a walk over all
			continue
		}
		shown, _ := f.Subject()
		class := names.original(shown)
		var first *findings.Suppression
		for i := range by {
			if by[i].Covers(f.ID, class) {
				used[i] = true
				first = cmp.Or(first, &by[i])
			}
		}
		if first == nil {
			kept = append(kept, f)
		} else {
			r.Suppressed = append(r.Suppressed, findings.Suppressed{Finding: f, By: names.suppression(*first, shown)})
		}
	}
	r.Findings = kept
	return used
}

// AllFindings yields all findings, suppressed ones included.
func (r *Result) AllFindings() iter.Seq[*findings.Finding] {
	return func(yield func(*findings.Finding) bool) {
		for i := range r.Findings {
			if !yield(&r.Findings[i]) {
				return
			}
		}
		for i := range r.Suppressed {
			if !yield(&r.Suppressed[i].Finding) {
				return
			}
		}
	}
}

// original returns the function that n shows under that name.
func (n *Pseudonyms) original(shown string) string {
	if n == nil {
		return shown
	}
	for fn, number := range n.names[aFunction] {
		if strings.HasSuffix(shown, "."+number) && n.Function(fn) == shown {
			return funcname.Written(fn)
		}
	}
	return shown // Go's own
}

// suppression is what a suppression of a finding about that class is called.
func (n *Pseudonyms) suppression(s findings.Suppression, class string) findings.Suppression {
	if n != nil {
		if strings.Trim(s.Class, "*") != "" {
			s.Class = class
		}
		s.Reason, s.Owner = n.numbered(aReason, s.Reason), n.numbered(anOwner, s.Owner)
	}
	return s
}

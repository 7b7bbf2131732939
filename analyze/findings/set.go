package findings

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/ledger"
)

// Set runs detectors on one stream of decisions and collects their findings. It is not safe for
// concurrent use.
type Set struct {
	view      *follower
	detectors []Detector
	watchers  []Watcher
	found     []int
}

// NewSet returns a Set that runs the given detectors on one stream.
func NewSet(detectors []Detector) *Set {
	s := &Set{view: newFollower(), detectors: detectors, found: make([]int, len(detectors))}
	for _, d := range detectors {
		s.watchers = append(s.watchers, d.New(&s.view.View))
	}
	return s
}

// Add processes the next block of the stream. It does not retain b.
func (s *Set) Add(b *ledger.Block) { s.view.add(b) }

// Finish ends the stream and returns the findings of all detectors, as [Rank] sorts them; nil once
// f.Stopped returns true. It fills in the fields of f that say so. The Set cannot be used afterwards,
// except for Found.
func (s *Set) Finish(f *Facts) []Finding {
	f.EndNs, f.GapsNs = max(f.EndNs, s.view.now), s.view.gaps
	f.GOMAXPROCS = max(f.GOMAXPROCS, int(s.view.maxProcs))
	s.view.finish(f.EndNs)
	f.Strained, f.Stalls = s.view.Strained(), s.view.stalls
	if m := f.Records(); m != nil {
		f.Strained = m.OffShare() >= strainedShare
	}
	f.BlockedNs = s.view.blocked
	f.Span = s.view.span.Finish(f.EndNs, s.view.nodes)
	if f.Reduced {
		for _, d := range s.detectors {
			if d.NeedsQueues {
				f.Silent = append(f.Silent, d.ID)
			}
		}
	}
	var all []Finding
	// Others doubt what they see by f.Strained.
	for _, strains := range []bool{true, false} {
		for i, w := range s.watchers {
			d := &s.detectors[i]
			if (d.Strains || d.Kind == KindMachine) != strains || f.Reduced && d.NeedsQueues {
				continue
			}
			if f.Stopped != nil && f.Stopped() {
				return nil
			}
			found := w.Finish(f)
			of := cmp.Or(d.CostOf, OfWaiting)
			for k := range found {
				x := &found[k]
				x.ID, x.Kind, x.Remedy, x.CostOf, x.WholeNs = d.ID, cmp.Or(x.Kind, d.Kind), d.Remedy, of, f.whole(of)
				x.Counted, x.MaybeMeant, x.LongRuns = d.Counted, d.MaybeMeant, d.LongRuns
				f.doubt(d, x)
			}
			found = f.tests(found)
			if f.Incomplete {
				// Where events are missing, what a detector saw and the accounts of waits and Ps can contradict each other:
				// what would cost more than there was is no evidence.
				found = slices.DeleteFunc(found, func(x Finding) bool { return x.CostNs < 0 || x.CostNs > x.WholeNs })
			}
			if strains && f.Records() == nil && slices.ContainsFunc(found, func(x Finding) bool { return x.Severity.AtLeast(Warning) }) {
				f.Strained = true
			}
			for k := range found {
				s.view.soften(f, d, &found[k])
			}
			all = append(all, found...)
		}
	}
	all = Rank(all)
	explains := map[string][]string{}
	for i := range s.detectors {
		d := &s.detectors[i]
		explains[d.ID] = d.Explains
		for k := range s.detectors {
			if d.Delays && s.detectors[k].Kind == KindSymptom {
				explains[d.ID] = append(slices.Clip(explains[d.ID]), s.detectors[k].ID)
			}
		}
	}
	book(all, explains, f.whole)
	for _, x := range all {
		for i := range s.detectors {
			if s.detectors[i].ID == x.ID {
				s.found[i]++
			}
		}
	}
	f.Doubts = f.doubts(all)
	return all
}

// Each returns the findings that judge makes of the elements of a list, in its order.
func Each[T any](f *Facts, list []T, judge func(*Facts, T) []Finding) (out []Finding) {
	for _, x := range list {
		out = append(out, judge(f, x)...)
	}
	return out
}

// Found returns, after Finish, the number of findings of each detector: index i is that of detector i
// in the argument of [NewSet].
func (s *Set) Found() []int { return s.found }

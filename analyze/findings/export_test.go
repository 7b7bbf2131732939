package findings

import "github.com/gmpscope/gmpscope/analyze/ledger"

// Follow returns a View, and what feeds it.
func Follow() (*follower, *ledger.Feed) {
	w := newFollower()
	return w, ledger.NewFeed(w.add)
}

// Coming returns how many Ps have no thread and are not idle either: handoffp
// has started a thread for each, which has not got it yet.
func (w *follower) Coming() int64 { return w.coming }

// DoubtsOf is what a Set makes of the doubts of its findings.
func (f *Facts) DoubtsOf(list []Finding) []Doubt { return f.doubts(list) }

// OfTests is what a Set does with the findings of a detector.
func OfTests(f *Facts, list []Finding) []Finding { return f.tests(list) }

// Doubt is what a Set does with each finding.
func (f *Facts) Doubt(x *Finding) { f.doubt(&Detector{}, x) }

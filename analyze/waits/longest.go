package waits

import (
	"cmp"
	"slices"
)

// DistinctWait is a long wait that stands for similar ones. [Result.LongestWaits] returns them.
type DistinctWait struct {
	WaitDetail
	Like int // number of other waits of the same class that overlap most of it
}

// distinct leaves out those waits that are like one before them: of the same
// class, with more than half of the shorter one's time in common. Goroutines that
// wait in a crowd count as one. The order stays.
func distinct(details []WaitDetail) []DistinctWait {
	var out []DistinctWait
next:
	for _, s := range details {
		for i := range out {
			o := &out[i]
			common := min(o.ToNs, s.ToNs) - max(o.FromNs, s.FromNs)
			if o.Class == s.Class && 2*common > min(o.WaitNs, s.WaitNs) {
				o.Like++
				continue next
			}
		}
		out = append(out, DistinctWait{WaitDetail: s})
	}
	return out
}

// LongestWaits returns the longest waits of all goroutines and of each class, longest
// first, without ones similar to an earlier one.
func (r *Result) LongestWaits() []DistinctWait {
	type key struct{ g, from int64 }
	seen := map[key]bool{}
	var all []WaitDetail
	add := func(ss []WaitDetail) {
		for _, s := range ss {
			if k := (key{s.G, s.FromNs}); !seen[k] {
				seen[k] = true
				all = append(all, s)
			}
		}
	}
	add(r.Worst)
	for i := range r.Classes {
		add(r.Classes[i].Worst)
	}
	slices.SortStableFunc(all, func(x, y WaitDetail) int {
		return cmp.Or(cmp.Compare(y.WaitNs, x.WaitNs), cmp.Compare(x.FromNs, y.FromNs), cmp.Compare(x.G, y.G))
	})
	return distinct(all)
}

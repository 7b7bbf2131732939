package waits

import (
	"cmp"
	"slices"
)

// Told is a wait worth telling, with how many others are like it.
type Told struct {
	Story
	Like int // of the same class, most of their time at the same time
}

// distinct leaves out those waits that are like one before them: of the same
// class, with more than half of the shorter one's time in common. Goroutines that
// wait in a crowd have one story. The order stays.
func distinct(stories []Story) []Told {
	var out []Told
next:
	for _, s := range stories {
		for i := range out {
			o := &out[i]
			common := min(o.ToNs, s.ToNs) - max(o.FromNs, s.FromNs)
			if o.Class == s.Class && 2*common > min(o.WaitNs, s.WaitNs) {
				o.Like++
				continue next
			}
		}
		out = append(out, Told{Story: s})
	}
	return out
}

// Stories are the longest waits of all, and of each class, longest first, those
// left out that are like one before.
func (r *Result) Stories() []Told {
	type key struct{ g, from int64 }
	seen := map[key]bool{}
	var all []Story
	add := func(ss []Story) {
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
	slices.SortStableFunc(all, func(x, y Story) int {
		return cmp.Or(cmp.Compare(y.WaitNs, x.WaitNs), cmp.Compare(x.FromNs, y.FromNs), cmp.Compare(x.G, y.G))
	})
	return distinct(all)
}

package findings

import (
	"cmp"
	"slices"
)

// Rank returns the findings merged and sorted: the most severe first, among these those about the
// trace, then the costliest, then by ID, time and title. Findings of one detector with the same
// [Finding.Subject] are merged into the costliest of them, with the sum of the costs, the highest
// severity and the causes of all. The result is the same for any order of the list.
func Rank(list []Finding) []Finding {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(x, y Finding) int {
		return cmp.Or(cmp.Compare(y.CostNs, x.CostNs), order(x, y))
	})
	type key struct{ id, who, creator string }
	first := map[key]int{}
	count := map[int]int{}
	out := list[:0:0]
	for _, x := range list {
		k := key{id: x.ID}
		k.who, k.creator = x.Subject()
		i, ok := first[k]
		if !ok {
			first[k] = len(out)
			count[len(out)] = 1
			out = append(out, x)
			continue
		}
		count[i]++
		y := &out[i]
		y.CostNs += x.CostNs
		y.BookedNs += x.BookedNs
		if x.Severity.Order() < y.Severity.Order() {
			y.Severity = x.Severity
		}
		y.Basis = weaker(x.Basis, y.Basis)
		for _, a := range x.Actors {
			if a.Role == Cause && a.Class != "" && len(y.Actors) < maxActors && !slices.ContainsFunc(y.Actors, func(b Actor) bool {
				return b.Role == Cause && b.Class == a.Class && b.Creator == a.Creator
			}) {
				y.Actors = append(slices.Clip(y.Actors), a)
			}
		}
	}
	for i, n := range count {
		if n > 1 {
			out[i].Evidence = append(slices.Clip(out[i].Evidence), Measured("findings of this kind, merged into this one", Said("%d", n).Of(out[i].CostNs)))
		}
	}
	slices.SortStableFunc(out, func(x, y Finding) int {
		return cmp.Or(
			cmp.Compare(x.Severity.Order(), y.Severity.Order()),
			-cmp.Compare(b2i(x.Kind == KindTrace), b2i(y.Kind == KindTrace)),
			cmp.Compare(y.CostNs, x.CostNs), order(x, y))
	})
	return out
}

// maxActors is how many actors a merged finding names.
const maxActors = 8

func order(x, y Finding) int {
	xc, xk := x.Subject()
	yc, yk := y.Subject()
	return cmp.Or(
		cmp.Compare(x.ID, y.ID), cmp.Compare(x.FromNs, y.FromNs), cmp.Compare(x.ToNs, y.ToNs),
		cmp.Compare(x.Title.String(), y.Title.String()), cmp.Compare(xc, yc), cmp.Compare(xk, yk))
}

// Subject returns the class that a finding is about, as its start function and the function that
// executed the go statement: that of the first victim with a class, else of the first cause; "" if no
// actor has a class.
func (f *Finding) Subject() (class, creator string) {
	for _, role := range []string{Victim, Cause} {
		for _, a := range f.Actors {
			if a.Role == role && a.Class != "" {
				return a.Class, a.Creator
			}
		}
	}
	return "", ""
}

func weaker(x, y string) string {
	for _, b := range []string{Suspected, Inferred} {
		if x == b || y == b {
			return b
		}
	}
	return x
}

func b2i(b bool) int { return int(b2i64(b)) }

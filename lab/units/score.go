package units

import (
	"cmp"
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/work"
)

// pair is a true unit, and one that was found, which may be the same.
type pair struct {
	truth, found int
	off          int64 // how far the ends are outside of their bounds
	from         int64 // how far they are from what the program wrote down
}

// fit returns how far the ends of a unit are outside of the bounds of the true one, and whether
// both are within the tolerance.
func (u *Unit) fit(x *work.Unit) (off int64, ok bool) {
	begin := max(u.R0-x.From, x.From-u.T0, 0)
	end := max(u.T1-x.To, x.To-u.W1, 0)
	return begin + end, max(begin, end) <= u.tolerance()
}

// match pairs units of the same goroutine, the nearest first.
func match(truth []*Unit, found []work.Unit) (out []pair) {
	byG := map[int64][]int{}
	for i, u := range truth {
		byG[u.G] = append(byG[u.G], i)
	}
	var all []pair
	for j := range found {
		x := &found[j]
		for _, i := range byG[x.G] {
			if off, ok := truth[i].fit(x); ok {
				all = append(all, pair{i, j, off, distance(truth[i].T0, x.From) + distance(truth[i].T1, x.To)})
			}
		}
	}
	slices.SortFunc(all, func(x, y pair) int {
		return cmp.Or(cmp.Compare(x.off, y.off), cmp.Compare(x.from, y.from), cmp.Compare(x.truth, y.truth), cmp.Compare(x.found, y.found))
	})
	usedTruth, usedFound := map[int]bool{}, map[int]bool{}
	for _, p := range all {
		if !usedTruth[p.truth] && !usedFound[p.found] {
			usedTruth[p.truth], usedFound[p.found] = true, true
			out = append(out, p)
		}
	}
	return out
}

func distance(x, y int64) int64 { return max(x-y, y-x) }

// Score is how well the units of a trace were found. Shares are NaN if there is nothing to count.
type Score struct {
	Units         int     // that the program did
	Found         int     // on goroutines of the same classes
	Recall        float64 // share of the units that were found
	Visible       float64 // share of the units that have events near both ends
	VisibleRecall float64 // share of those that were found
	Precision     float64 // share of what was found that is right
	P50, P99      float64 // error of these percentiles of the latency, as a share
}

// onClasses returns those units whose goroutines are of a class that does true units. The others
// are neither right nor wrong.
func onClasses(truth []*Unit, found []work.Unit) []work.Unit {
	classes := map[string]bool{}
	for _, u := range truth {
		classes[u.Class] = true
	}
	return slices.DeleteFunc(found, func(x work.Unit) bool { return !classes[x.Class] })
}

// score holds what was found against the truth, by their pairs.
func score(truth []*Unit, found []work.Unit, pairs []pair) Score {
	var visible, both int
	var least, most, got []int64
	hit := map[int]bool{}
	for _, p := range pairs {
		hit[p.truth] = true
	}
	for i, u := range truth {
		least, most = append(least, u.T1-u.T0), append(most, u.W1-u.R0)
		if u.Visible {
			visible++
			if hit[i] {
				both++
			}
		}
	}
	for i := range found {
		got = append(got, found[i].To-found[i].From)
	}
	share := func(n, of int) float64 { return float64(n) / float64(of) }
	return Score{
		Units: len(truth), Found: len(found),
		Recall: share(len(pairs), len(truth)), Visible: share(visible, len(truth)), VisibleRecall: share(both, visible), Precision: share(len(pairs), len(found)),
		P50: off(got, least, most, 0.5), P99: off(got, least, most, 0.99),
	}
}

// off returns how far a quantile of lengths is outside of its bounds, as a share.
func off(got, least, most []int64, q float64) float64 {
	x := quantile(got, q)
	return max(0, x/quantile(most, q)-1) + min(0, x/quantile(least, q)-1)
}

// quantile returns a quantile of lengths, by the nearest rank; NaN of none.
func quantile(lengths []int64, q float64) float64 {
	if len(lengths) == 0 {
		return math.NaN()
	}
	slices.Sort(lengths)
	return float64(lengths[max(0, int(math.Ceil(q*float64(len(lengths))))-1)])
}

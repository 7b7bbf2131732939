package compare

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/funcname"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// alike is by how much work or load may differ to count as the same.
const alike = 0.2

// basisOf finds what the two sides can be put in relation to: the same work if
// the programs ran for as long in each trace, the same load if they ran for as
// long in each second.
func basisOf(before, after *Side) Basis {
	b, a := float64(before.RunningNs), float64(after.RunningNs)
	switch {
	case !far(b, a):
		return PerTrace
	case !far(quantity.Ratio(b, float64(before.DurationNs)), quantity.Ratio(a, float64(after.DurationNs))):
		return PerSecond
	}
	return PerRunning
}

// scale is what a result's ns are multiplied with.
func (b Basis) scale(r *analyze.Result) float64 {
	switch b {
	case PerSecond:
		return quantity.Ratio(1e9, float64(r.RecordedNs()))
	case PerRunning:
		return quantity.Ratio(1e9, float64(running(r)))
	}
	return 1
}

// sum is the mean over a side's traces of numbers that belong to keys. Means
// are rounded so that they add up to the rounded total.
type sum[K comparable] struct {
	keys []K
	ns   map[K]float64
}

func (s *sum[K]) add(k K, ns float64) {
	if _, ok := s.ns[k]; !ok {
		s.keys = append(s.keys, k)
	}
	s.ns[k] += ns
}

// rounded returns the parts of total by key: each is rounded down, and what is
// left goes to those with the largest remainders.
func (s *sum[K]) rounded(total int64) map[K]int64 {
	out := make(map[K]int64, len(s.keys))
	if len(s.keys) == 0 {
		return out
	}
	left := total
	for _, k := range s.keys {
		out[k] = int64(math.Floor(s.ns[k]))
		left -= out[k]
	}
	rest := func(k K) float64 { return s.ns[k] - math.Floor(s.ns[k]) }
	byRest := slices.Clone(s.keys)
	slices.SortStableFunc(byRest, func(a, b K) int { return cmp.Compare(rest(b), rest(a)) })
	// Floating point may leave a few ns more, or less, than there are keys.
	each, extra := left/int64(len(byRest)), left%int64(len(byRest))
	for j, k := range byRest {
		d := each
		if int64(j) < abs(extra) {
			d += extra / abs(extra) // one more, or less
		}
		out[k] += d
	}
	return out
}

type classKey struct{ name, creator string }

// account divides one side's waiting: that of the program's goroutines, those
// that yielded included, because a class does not tell them apart.
type account struct {
	total   int64
	causes  map[waits.Cause]int64
	classes map[classKey]int64
	most    map[classKey]int64 // p99, the largest over the traces
	gs      map[classKey][]int64
	running map[classKey][]int64
	keys    []classKey
}

// plain returns the start functions by which a class is called in some of the results.
func plain(rs []*analyze.Result) map[string]bool {
	names := map[string]bool{}
	for _, r := range rs {
		for i := range r.Waits.Classes {
			if c := &r.Waits.Classes[i]; c.StartedBy == "" {
				names[c.Name] = true
			}
		}
	}
	return names
}

// keyOf is what a class is matched by. Classes that are told apart by what their start
// function was given are one where a trace does not tell them apart: whole has those start
// functions.
func keyOf(c *waits.Class, whole map[string]bool) classKey {
	if c.StartedBy != "" && whole[c.StartedBy] {
		return classKey{c.StartedBy, c.Creator}
	}
	return classKey{c.Name, c.Creator}
}

func accountOf(rs []*analyze.Result, basis Basis, whole map[string]bool) account {
	causes, classes := sum[waits.Cause]{ns: map[waits.Cause]float64{}}, sum[classKey]{ns: map[classKey]float64{}}
	total := 0.0
	a := account{most: map[classKey]int64{}, gs: map[classKey][]int64{}, running: map[classKey][]int64{}}
	n := float64(len(rs))
	for _, r := range rs {
		k := basis.scale(r) / n
		all := r.Waits.User.TotalNs + r.Waits.Self.TotalNs
		total += float64(all) * k
		for _, c := range slices.Concat(r.Waits.User.Causes, r.Waits.Self.Causes) {
			causes.add(c.Cause, float64(c.Ns)*k)
		}
		rest := all
		gs, running := map[classKey]int64{}, map[classKey]int64{}
		for i := range r.Waits.Classes {
			c := &r.Waits.Classes[i]
			if c.System {
				continue
			}
			key := keyOf(c, whole)
			ns := c.Waits.TotalNs
			rest -= ns
			classes.add(key, float64(ns)*k)
			a.most[key] = max(a.most[key], c.Waits.P99)
			gs[key] += c.Goroutines
			running[key] += c.RunningNs
		}
		for key := range gs {
			a.gs[key] = append(a.gs[key], gs[key])
			a.running[key] = append(a.running[key], running[key])
		}
		if rest != 0 {
			classes.add(classKey{}, float64(rest)*k)
		}
	}
	a.total = int64(math.Round(total))
	a.causes, a.classes = causes.rounded(a.total), classes.rounded(a.total)
	a.keys = classes.keys
	return a
}

// classesOf lists the classes' parts in the change, the largest first.
func classesOf(b, a *account) []ClassChange {
	seen := map[classKey]bool{}
	out := []ClassChange{}
	for _, k := range slices.Concat(b.keys, a.keys) {
		if seen[k] {
			continue
		}
		seen[k] = true
		x := ClassChange{Name: k.name, Creator: k.creator, In: "both",
			BeforeNs: b.classes[k], AfterNs: a.classes[k],
			BeforeGoroutines: middle(b.gs[k]), AfterGoroutines: middle(a.gs[k]),
			BeforeRunningNs: middle(b.running[k]), AfterRunningNs: middle(a.running[k]),
			BeforeP99Ns: b.most[k], AfterP99Ns: a.most[k],
		}
		x.DeltaNs = x.AfterNs - x.BeforeNs
		switch {
		case a.gs[k] == nil:
			x.In = "before"
		case b.gs[k] == nil:
			x.In = "after"
		}
		out = append(out, x)
	}
	names := make([]string, 0, 2*len(out))
	for i := range out {
		names = append(names, out[i].Name, out[i].Creator)
	}
	shorts := funcname.Shorten(names)
	for i := range out {
		out[i].Short = shorts.Class(out[i].Name)
	}
	slices.SortFunc(out, func(x, y ClassChange) int {
		return cmp.Or(cmp.Compare(abs(y.DeltaNs), abs(x.DeltaNs)), strings.Compare(x.Name, y.Name), strings.Compare(x.Creator, y.Creator))
	})
	return out
}

func abs(x int64) int64 { return max(x, -x) }

// middle is the median, the lower one of two; 0 of none.
func middle(xs []int64) int64 {
	if len(xs) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(xs))
	return s[(len(s)-1)/2]
}

// renames pairs classes that are on one side only: the same creator, or the
// same name but for a number of a function literal or the package, and about as
// many goroutines.
func renames(cs []ClassChange) []Rename {
	out := []Rename{}
	used := map[int]bool{}
	for i := range cs {
		if cs[i].In != "before" || cs[i].BeforeGoroutines == 0 {
			continue
		}
		for j := range cs {
			if cs[j].In != "after" || used[j] {
				continue
			}
			x, y := &cs[i], &cs[j]
			few, many := min(x.BeforeGoroutines, y.AfterGoroutines), max(x.BeforeGoroutines, y.AfterGoroutines)
			if 2*few < many {
				continue
			}
			why := ""
			switch {
			case x.Name == y.Name:
				why = "the same function, created elsewhere"
			case x.Creator != "" && x.Creator == y.Creator:
				why = "created by the same function, about as many"
			case base(x.Name) == base(y.Name):
				why = "the same name in another place, about as many"
			default:
				continue
			}
			used[j] = true
			out = append(out, Rename{Before: x.Name, After: y.Name, Why: why})
			break
		}
	}
	return out
}

// base is a function's name without its package, and without the numbers of
// function literals.
func base(name string) string {
	name = name[strings.LastIndexByte(name, '/')+1:]
	if _, rest, ok := strings.Cut(name, "."); ok {
		name = rest
	}
	return strings.TrimRight(name, "0123456789.)")
}

// distribution adds up the histograms of both sides.
func distribution(before, after []*analyze.Result) []Bar {
	type key struct{ from, to int64 }
	at := map[key]*[2]float64{}
	var keys []key
	for s, rs := range [...][]*analyze.Result{before, after} {
		total := 0.0
		for _, r := range rs {
			for _, b := range r.Waits.User.Histogram {
				total += float64(b.SumNs)
			}
		}
		for _, r := range rs {
			for _, b := range r.Waits.User.Histogram {
				k := key{b.FromNs, b.ToNs}
				if at[k] == nil {
					at[k] = &[2]float64{}
					keys = append(keys, k)
				}
				at[k][s] += quantity.Ratio(float64(b.SumNs), total)
			}
		}
	}
	slices.SortFunc(keys, func(a, b key) int { return cmp.Compare(a.from, b.from) })
	out := []Bar{}
	for _, k := range keys {
		out = append(out, Bar{FromNs: k.from, ToNs: k.to, Before: at[k][0], After: at[k][1]})
	}
	return out
}

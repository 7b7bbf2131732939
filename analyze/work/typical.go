package work

import (
	"cmp"
	"math"
	"slices"
)

// fewUnits is below how many units the slowest one alone stands for the slow ones.
const fewUnits = 20

// path returns what the time of a kind's units consists of.
func (k *kind) path(a *Accumulator, n Names) []TimePart {
	k.shrink()
	count := float64(k.count)
	from := 0.95 * count
	if k.count < fewUnits {
		from = count - 1
	}
	typical, slow := k.mean(0.4*count, 0.6*count), k.mean(from, count)
	if u := a.unnamed(k); u != nil && u.count > k.count {
		both := k.with(u)
		if t := both.mean(0.4*float64(both.count), 0.6*float64(both.count)); sum(t) < sum(typical) {
			typical = t
		}
	}
	out := []TimePart{}
	for i := range k.rows {
		if r := &k.rows[i]; r.ns > 0 {
			from, caller := a.leads(k, &r.cell)
			out = append(out, TimePart{a.via(r.via(), n), a.leaf(&r.cell, n), n.Function(a.places.functions[from]), n.Function(a.places.functions[caller]), int64(r.most), k.times(r.via()), r.ns, typical[i], slow[i], a.places.tested(r.site())})
		}
	}
	slices.SortStableFunc(out, func(x, y TimePart) int {
		return cmp.Or(cmp.Compare(y.Ns, x.Ns), cmp.Compare(x.What, y.What), cmp.Compare(x.Who, y.Who), cmp.Compare(x.Where, y.Where), cmp.Compare(x.Cause, y.Cause))
	})
	return out
}

func sum(xs []int64) (all int64) {
	for _, x := range xs {
		all += x
	}
	return all
}

// with returns how many units of k and u there are together, by latency, and the time of the
// latter on what those of k spend time on, too; its other time is in the rest. It has no other sums.
func (k *kind) with(u *kind) *kind {
	u.shrink()
	out := &kind{count: k.count + u.count, bins: make([]bin, max(len(k.bins), len(u.bins))), rows: make([]row, len(k.rows))}
	for i := range out.rows {
		out.rows[i].bins = make([]int64, len(out.bins))
	}
	for _, from := range []*kind{k, u} {
		for b := range from.bins {
			out.bins[b].count += from.bins[b].count
		}
		for i := range from.rows {
			to := &out.rows[*k.find(&from.rows[i].cell)] // the first, if there is none
			for b, ns := range from.rows[i].bins {
				to.bins[b] += ns
			}
		}
	}
	return out
}

// mean returns how much each row has of a unit, on average over those with the ranks [from,
// to) by their latency. A bin that a border cuts counts by its share. The parts are rounded so
// that they add up.
func (k *kind) mean(from, to float64) []int64 {
	sums, rank := make([]float64, len(k.rows)), 0.0
	for b := range k.bins {
		next := rank + float64(k.bins[b].count)
		share := (min(next, to) - max(rank, from)) / (next - rank)
		if rank = next; !(share > 0) {
			continue
		}
		for i := range k.rows {
			if bins := k.rows[i].bins; b < len(bins) {
				sums[i] += share * float64(bins[b])
			}
		}
	}
	for i := range sums {
		sums[i] /= to - from
	}
	return rounded(sums)
}

// rounded rounds numbers so that they add up to their sum, rounded.
func rounded(xs []float64) []int64 {
	out, order := make([]int64, len(xs)), make([]int, len(xs))
	sum, left := 0.0, int64(0)
	for i, x := range xs {
		out[i], order[i] = int64(math.Floor(x)), i
		sum += x
		left -= out[i]
	}
	left += int64(math.Round(sum))
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Compare(xs[j]-math.Floor(xs[j]), xs[i]-math.Floor(xs[i]))
	})
	for _, i := range order[:min(max(0, left), int64(len(order)))] {
		out[i]++
	}
	return out
}

// way is a function as it is come to in units that are called by a handler.
type way struct{ handler, site int32 }

// ways returns from which function of the program's own module goroutines come to a library's most
// often, in units of each handler, and in all.
func (a *Accumulator) ways() map[way]int32 {
	type from struct {
		way
		function int32
	}
	waits, out := map[from]int64{}, map[way]int32{}
	for i := range a.places.facts {
		f := &a.places.facts[i]
		if f.from == 0 || f.waits == 0 {
			continue
		}
		for _, w := range []way{{f.handler, f.site}, {0, f.site}} {
			x := from{w, f.from}
			waits[x] += f.waits
			best := waits[from{w, out[w]}]
			if waits[x] > best || waits[x] == best && x.function < out[w] {
				out[w] = f.from
			}
		}
	}
	return out
}

// leads returns the functions of the program's own module from which units of a kind come to where
// their own goroutine was, and from which another one came to where that was; 0: none does.
func (a *Accumulator) leads(k *kind, c *cell) (from, caller int32) {
	to := func(site int32) int32 { return cmp.Or(a.way[way{k.name, site}], a.way[way{0, site}]) }
	if c.via().what() == 0 {
		return to(c.site()), 0
	}
	if c.site() != c.via().site() {
		caller = a.way[way{0, c.site()}]
	}
	return to(c.via().site()), caller
}

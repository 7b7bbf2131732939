package work_test

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/focus"
	"github.com/gmpscope/gmpscope/analyze/work"
)

func byBegin(x, y work.Unit) int {
	return cmp.Or(cmp.Compare(x.From, y.From), cmp.Compare(x.To, y.To), cmp.Compare(x.G, y.G), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.How, y.How))
}

// TestWindows: the units of windows that follow each other are those of the whole trace.
func TestWindows(t *testing.T) {
	for _, file := range recordings(t) {
		all := unitsOf(t, file, analyze.Options{})
		if len(all) == 0 {
			t.Fatalf("%s: no units", file)
		}
		slices.SortFunc(all, byBegin)
		middle := all[len(all)/2].To
		parts := unitsOf(t, file, analyze.Options{Focus: focus.Focus{To: middle}})
		parts = append(parts, unitsOf(t, file, analyze.Options{Focus: focus.Focus{From: middle}})...)
		if slices.SortFunc(parts, byBegin); !slices.Equal(all, parts) {
			t.Errorf("%s: %d units, in two windows %d", file, len(all), len(parts))
		}
	}
}

// underway returns how many of some units are under way on average, by a sweep over their begins
// and ends.
func underway(units []work.Unit, recorded int64) float64 {
	type edge struct{ at, change int64 }
	var edges []edge
	for _, u := range units {
		edges = append(edges, edge{u.From, 1}, edge{u.To, -1})
	}
	slices.SortFunc(edges, func(x, y edge) int { return cmp.Compare(x.at, y.at) })
	var sum, now, last int64
	for _, e := range edges {
		sum += now * (e.at - last)
		now, last = now+e.change, e.at
	}
	return float64(sum) / float64(recorded)
}

// TestLittle: where no unit is cut, throughput times mean latency is the concurrency, and what a sweep
// over the units gives.
func TestLittle(t *testing.T) {
	held := 0
	for _, file := range recordings(t) {
		var all []work.Unit
		res, err := analyze.File(t.Context(), file, analyze.Options{NoTimeline: true, OnUnit: func(u work.Unit) { all = append(all, u) }})
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range res.Work.Kinds {
			if k.Open > 0 || k.Count == 0 || strings.Contains(k.Name+k.Class, "(go wrapper") { // units have other names
				continue
			}
			of := slices.DeleteFunc(slices.Clone(all), func(u work.Unit) bool { return u.Kind != k.Name || u.Class != k.Class || u.How.String() != k.How })
			sweep, product := underway(of, res.Trace.DurationNs-res.Trace.LostNs), k.PerS*float64(k.TotalNs)/float64(k.Count)/1e9
			if math.Abs(sweep-product) > 1e-6*sweep || math.Abs(sweep-k.Concurrency) > 1e-6*sweep {
				t.Errorf("%s: %s: %v by a sweep, %v by throughput and latency, concurrency %v", file, k.Name, sweep, product, k.Concurrency)
			}
			held++
		}
	}
	if held == 0 {
		t.Error("no kind was checked")
	}
}

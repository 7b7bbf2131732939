package compare

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// pair is a kind before and after the change; nil for one that is on one side only.
type pair struct {
	before, after *kindSum
	why           string // what speaks for it where the names differ
	guess         bool   // what speaks for it is weak: it decides nothing
	split         []string
}

// alikeCounts is by which factor the units a second of a kind that has another name may differ.
const alikeCounts = 2

// match pairs the kinds of both sides: by name, first of the same way in which they were found.
// Kinds of one side that are left are the same under another name if one thing speaks for it
// that speaks for no other.
func match(before, after map[kindKey]*kindSum) []pair {
	var out []pair
	var b, a []*kindSum
	for _, x := range sorted(before) {
		if y := after[x.key]; y != nil {
			out = append(out, pair{before: x, after: y})
		} else if len(b) < maxKinds {
			b = append(b, x)
		}
	}
	for _, y := range sorted(after) {
		if before[y.key] == nil && len(a) < maxKinds {
			a = append(a, y)
		}
	}
	take := func(x, y *kindSum, why string, guess bool) {
		out = append(out, pair{before: x, after: y, why: why, guess: guess})
		b = slices.DeleteFunc(b, func(s *kindSum) bool { return s == x })
		a = slices.DeleteFunc(a, func(s *kindSum) bool { return s == y })
	}
	for _, rule := range []struct {
		same  func(x, y *kindSum) bool
		why   string
		guess bool
	}{
		{func(x, y *kindSum) bool { return x.key.name == y.key.name }, "the same name, though its units were found in another way", false},
		{func(x, y *kindSum) bool {
			return base(x.key.name) == base(y.key.name) && x.key.how == y.key.how && alikeRates(x, y)
		}, "the same name in another place, about as many", false},
		{func(x, y *kindSum) bool { return x.class == y.class && x.entry && y.entry && alikeRates(x, y) }, "the same goroutines do about as many", true},
		{func(x, y *kindSum) bool { return x.entry && y.entry && x.key.how == y.key.how && alikeRates(x, y) }, "found in the same way, about as many", true},
	} {
		for _, x := range slices.Clone(b) {
			var found []*kindSum
			for _, y := range a {
				if rule.same(x, y) {
					found = append(found, y)
				}
			}
			also := slices.ContainsFunc(b, func(z *kindSum) bool { return z != x && len(found) == 1 && rule.same(z, found[0]) })
			if len(found) == 1 && !also {
				take(x, found[0], rule.why, rule.guess)
			}
		}
	}
	// One that went away, and several that came of the same goroutines, are one that was split.
	for _, x := range slices.Clone(b) {
		var parts []*kindSum
		for _, y := range a {
			if y.class == x.class {
				parts = append(parts, y)
			}
		}
		if len(parts) < 2 {
			continue
		}
		take(x, parts[0], "the same goroutines do it", true)
		for _, y := range parts[1:] {
			out[len(out)-1].split = append(out[len(out)-1].split, y.key.name)
		}
	}
	for _, x := range b {
		out = append(out, pair{before: x})
	}
	for _, y := range a {
		out = append(out, pair{after: y})
	}
	return out
}

func sorted(m map[kindKey]*kindSum) []*kindSum {
	return slices.SortedFunc(maps.Values(m), func(x, y *kindSum) int {
		return cmp.Or(cmp.Compare(y.ns, x.ns), strings.Compare(x.key.name, y.key.name), strings.Compare(x.key.how, y.key.how))
	})
}

// alikeRates reports whether there were about as many units a second.
func alikeRates(x, y *kindSum) bool {
	r, s := x.side().PerS, y.side().PerS
	return max(r, s) <= alikeCounts*min(r, s)
}

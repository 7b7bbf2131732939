package work

import (
	"slices"
	"strings"
)

// Bucket is the time that units of a kind spend on one thing, by what their own goroutine does or
// waits for. [UnitKind.Buckets] returns them.
type Bucket struct {
	Chief     *TimePart // the part of it on which slow units spend most; nil in a total
	Ns        int64     // sum over all units, ns
	TypicalNs int64     // mean of a typical unit, ns: see TimePart.TypicalNs
	SlowNs    int64     // mean of a slow unit, ns: see TimePart.SlowNs
}

// Bounds on what is slow.
const (
	slowTimes = 2         // how many times as long as a typical unit a slow one takes, at least,
	slowByNs  = 1_000_000 // and by how much
)

// Slow reports whether slow units spend much longer on it than typical ones: at least twice as long, and
// 1 ms more. Of a total it tells whether the kind has slow units at all.
func (b *Bucket) Slow() bool { return b.SlowNs >= slowTimes*b.TypicalNs && b.MoreNs() >= slowByNs }

// manyUnits is how many units there are of which a single slow one says little.
const manyUnits = 100

// Outlier reports whether of many units of the kind a single one is slow, in comparison with a typical one
// that takes so many ns.
func (k *UnitKind) Outlier(typicalNs int64) bool {
	slow := int64(0)
	for i := range k.Bins {
		if b := &k.Bins[i]; b.FromNs >= max(slowTimes*typicalNs, typicalNs+slowByNs) {
			slow += b.Count
		}
	}
	return k.Count >= manyUnits && slow == 1
}

// MoreNs returns how much longer a slow unit spends on it than a typical one, in ns; less than 0 if it
// spends less.
func (b *Bucket) MoreNs() int64 { return b.SlowNs - b.TypicalNs }

// What returns what the units' own goroutines do in the time of the bucket, or wait for, as Leaf.What
// and Via.What. It must not be called for a total.
func (b *Bucket) What() string {
	what, _ := b.Chief.Own()
	return what
}

// Buckets returns the time of all units of the kind by what their own goroutines do or wait for, and
// where, in the order of Path, and the total of all.
func (k *UnitKind) Buckets() (out []Bucket, all Bucket) {
	type key struct {
		waits       bool
		what, where string
	}
	index := map[key]int{}
	for i := range k.Path {
		p := &k.Path[i]
		what, where := p.Own()
		of := key{p.Via != nil, what, where}
		at, ok := index[of]
		if !ok {
			at = len(out)
			out, index[of] = append(out, Bucket{Chief: p}), at
		}
		b := &out[at]
		if p.SlowNs > b.Chief.SlowNs {
			b.Chief = p
		}
		for _, b := range []*Bucket{b, &all} {
			b.Ns += p.Ns
			b.TypicalNs += p.TypicalNs
			b.SlowNs += p.SlowNs
		}
	}
	return out, all
}

// Tests returns the kinds whose units are tests that ended in the trace, subtests of others in the list
// left out.
func (u *Units) Tests() (out []*UnitKind) {
	names := map[string]bool{}
	for i := range u.Kinds {
		if k := &u.Kinds[i]; k.How == Test.String() && k.Count > 0 && !strings.HasPrefix(k.Name, "testing.") {
			out, names[k.Name] = append(out, k), true
		}
	}
	return slices.DeleteFunc(out, func(k *UnitKind) bool {
		for name := k.Name; ; {
			i := strings.LastIndexByte(name, '.')
			if i < 0 {
				return false
			}
			if name = name[:i]; names[name] {
				return true
			}
		}
	})
}

// Benchmarks returns the kinds whose units are runs of benchmarks, without those that spend half of
// their time or more on running other benchmarks.
func (u *Units) Benchmarks() (out []*UnitKind) {
	for i := range u.Kinds {
		k := &u.Kinds[i]
		others := int64(0)
		for i := range k.Path {
			if p := &k.Path[i]; p.Via != nil && p.Via.Site == "testing.(*B).doBench" {
				others += p.Ns
			}
		}
		if k.How == Benchmark.String() && k.Count > 0 && 2*others < k.TotalNs {
			out = append(out, k)
		}
	}
	return out
}

// Run returns the kinds that stand for what the program does as a whole: its run, or the phases of
// main; none if the program does units that begin from outside instead.
func (u *Units) Run() (out []*UnitKind) {
	for i := range u.Kinds {
		if k := &u.Kinds[i]; k.Entry && (k.How == Run.String() || k.How == Phase.String()) {
			out = append(out, k)
		}
	}
	return out
}

// leastUnits is how many units of a kind there must be to compare them.
const leastUnits = 10

// Entries returns the kinds whose units begin from outside, such as requests, and are at least 10, so
// that slow ones can be compared with typical ones. Tests, benchmarks and runs are left out.
func (u *Units) Entries() (out []*UnitKind) {
	for i := range u.Kinds {
		k := &u.Kinds[i]
		switch k.How {
		case Task.String(), Region.String(), Cycle.String(), Lifetime.String():
			if k.Entry && !k.Merged && k.Count >= leastUnits {
				out = append(out, k)
			}
		}
	}
	return out
}

// RunningNs returns for how long goroutines ran in the time of units of some kinds, ns.
func RunningNs(kinds []*UnitKind) (ns int64) {
	for _, k := range kinds {
		for i := range k.Path {
			if k.Path[i].What == activities[running] {
				ns += k.Path[i].Ns
			}
		}
	}
	return ns
}

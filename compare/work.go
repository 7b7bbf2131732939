package compare

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	units "github.com/gmpscope/gmpscope/analyze/work"
)

// maxKinds is how many kinds of units a comparison has.
const maxKinds = 100

// KindChange is the units of work of one kind on both sides.
type KindChange struct {
	Name   string     `json:"name"`   // the handler or test function, or what is annotated; else the class
	How    string     `json:"how"`    // how the units were found
	In     string     `json:"in"`     // "both", "before" or "after"
	Before KindSide   `json:"before"` // before the change
	After  KindSide   `json:"after"`  // after it
	Most   *PartShift `json:"most"`   // the part of a unit's time that changed most; null without units on one side
}

// KindSide is the units of a kind in all traces of a side.
type KindSide struct {
	Count  int64 `json:"count"`   // how many, in a trace on average
	MeanNs int64 `json:"mean_ns"` // how long one takes, on average
	P50Ns  int64 `json:"p50_ns"`  // half of them take no longer
	P99Ns  int64 `json:"p99_ns"`  // 99 % of them
}

// PartShift is a part of the time of a unit, on average, on both sides.
type PartShift struct {
	What     string `json:"what"`      // what its own goroutine did, or waited for
	Where    string `json:"where"`     // function; empty if it is not known
	BeforeNs int64  `json:"before_ns"` // before the change
	AfterNs  int64  `json:"after_ns"`  // after it
}

type kindKey struct{ name, how string }

// part is what a unit's own goroutine does.
type part struct{ what, where string }

// kindSum is the units of a kind in several traces.
type kindSum struct {
	count, ns int64
	latency   units.Latency
	parts     map[part]int64
}

// kindsOf sums up the units of traces by kind.
func kindsOf(rs []*analyze.Result) map[kindKey]*kindSum {
	out := map[kindKey]*kindSum{}
	for _, r := range rs {
		for i := range r.Work.Kinds {
			k := &r.Work.Kinds[i]
			if k.Count == 0 {
				continue
			}
			s := out[kindKey{k.Name, k.How}]
			if s == nil {
				s = &kindSum{parts: map[part]int64{}}
				out[kindKey{k.Name, k.How}] = s
			}
			s.count += k.Count
			s.ns += k.TotalNs
			s.latency.Merge(&k.Latency)
			for j := range k.Path {
				what, where := k.Path[j].Own()
				s.parts[part{what, where}] += k.Path[j].Ns
			}
		}
	}
	return out
}

// side is what a comparison says of a kind in n traces; s may be nil.
func (s *kindSum) side(n int) KindSide {
	if s == nil {
		return KindSide{}
	}
	return KindSide{
		Count: (s.count + int64(n)/2) / int64(n), MeanNs: s.ns / s.count, P50Ns: s.latency.P50Ns, P99Ns: s.latency.P99Ns,
	}
}

// kindChanges returns the kinds of both sides, that whose units changed by the most time first.
func kindChanges(before, after []*analyze.Result) []KindChange {
	b, a := kindsOf(before), kindsOf(after)
	out := []KindChange{}
	for k, s := range b {
		x := KindChange{Name: k.name, How: k.how, In: "before", Before: s.side(len(before)), After: a[k].side(len(after))}
		if a[k] != nil {
			x.In, x.Most = "both", shiftOf(s, a[k])
		}
		out = append(out, x)
	}
	for k, s := range a {
		if b[k] == nil {
			out = append(out, KindChange{Name: k.name, How: k.how, In: "after", After: s.side(len(after))})
		}
	}
	slices.SortFunc(out, func(x, y KindChange) int {
		return cmp.Or(cmp.Compare(y.moved(), x.moved()), strings.Compare(x.Name, y.Name), strings.Compare(x.How, y.How))
	})
	return out[:min(len(out), maxKinds)]
}

// moved is by how much time the units of a trace changed; of a kind of one side, nothing.
func (x *KindChange) moved() float64 {
	if x.In != "both" {
		return -1
	}
	return float64(abs(x.After.MeanNs-x.Before.MeanNs)) * float64(max(x.Before.Count, x.After.Count))
}

// shiftOf returns the part of a unit's time that changed most.
func shiftOf(b, a *kindSum) *PartShift {
	var most *PartShift
	for _, parts := range []map[part]int64{b.parts, a.parts} {
		for p := range parts {
			x := &PartShift{p.what, p.where, b.parts[p] / b.count, a.parts[p] / a.count}
			if most == nil || compareShifts(x, most) < 0 {
				most = x
			}
		}
	}
	return most
}

func compareShifts(x, y *PartShift) int {
	return cmp.Or(cmp.Compare(abs(y.AfterNs-y.BeforeNs), abs(x.AfterNs-x.BeforeNs)), strings.Compare(x.What, y.What), strings.Compare(x.Where, y.Where))
}

package fleet

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/internal/jsondoc"
)

// Bounds of units of work. What is beyond them is summed up.
const (
	maxKinds       = 32 // of a record
	maxParts       = 8  // of a kind in a record, and in a report
	maxAllKinds    = 2000
	maxAllParts    = 64
	maxReportKinds = 200
	otherKinds     = "(other kinds)"
)

// Kind is the units of work of one kind in a trace: how many there were, and what their time
// consists of. Parts add up to TotalNs.
type Kind struct {
	Name      string    `json:"name"`      // handler, test function or annotation; else the start function of the goroutines
	How       string    `json:"how"`       // how they were found: "task", "region", "cycle" and so on, as in the units of analyze; empty for the others
	Count     int64     `json:"count"`     // whole units
	TotalNs   int64     `json:"total_ns"`  // sum of latencies
	MaxNs     int64     `json:"max_ns"`    // longest latency
	Histogram Histogram `json:"histogram"` // of latencies, ns
	Parts     []Part    `json:"parts"`     // parts of TotalNs, longest first: at most 8, then one that is the rest
}

// Part is a part of the time of units of work. What is what was done meanwhile, in the words of TimePart
// in package analyze/work, Where the function, and Ns the sum over the units, in ns. With What "runnable",
// Cause is why the goroutine did not run.
type Part = jsondoc.FleetPart

// kindsOf sums up the kinds of units that were found whole.
func kindsOf(list []work.UnitKind) []Kind {
	var out []Kind
	for i := range list {
		k := &list[i]
		if k.Count == 0 {
			continue
		}
		x := Kind{Name: cut(k.Name), How: k.How, Count: k.Count, TotalNs: k.TotalNs, MaxNs: k.Latency.MaxNs, Histogram: Histogram{}}
		for j := 0; j+1 < len(k.Latency.Histogram); j += 2 {
			x.Histogram = append(x.Histogram, Bucket{int32(k.Latency.Histogram[j]), k.Latency.Histogram[j+1]})
		}
		for j := range k.Path {
			p := &k.Path[j]
			what, where := p.Own()
			own := Part{What: what, Where: cut(where), Ns: p.Ns}
			if p.Via == nil {
				own.Cause = p.Cause
			}
			x.book(own)
		}
		if len(out) == maxKinds {
			last := &out[maxKinds-1]
			last.Name, last.How = otherKinds, ""
			last.merge(&x)
			continue
		}
		out = append(out, x)
	}
	for i := range out {
		out[i].Parts = largestParts(out[i].Parts)
	}
	return out
}

// rest stands for what is beyond a bound.
func rest(ns int64) Part { return Part{What: "rest", Ns: ns} }

// book adds a part to its like.
func (k *Kind) book(x Part) {
	at := slices.IndexFunc(k.Parts, func(p Part) bool { return p.What == x.What && p.Cause == x.Cause && p.Where == x.Where })
	switch {
	case at >= 0:
		k.Parts[at].Ns = add(k.Parts[at].Ns, x.Ns)
	case len(k.Parts) < maxAllParts || x == rest(x.Ns):
		k.Parts = append(k.Parts, x)
	default:
		k.book(rest(x.Ns))
	}
}

func (k *Kind) merge(o *Kind) {
	k.Count, k.TotalNs, k.MaxNs = add(k.Count, o.Count), add(k.TotalNs, o.TotalNs), max(k.MaxNs, o.MaxNs)
	k.Histogram.Merge(o.Histogram)
	for _, p := range o.Parts {
		k.book(p)
	}
}

// validate returns an error for a kind that kindsOf does not return.
func (k *Kind) validate() error {
	total := int64(0)
	for _, p := range k.Parts {
		total = add(total, p.Ns)
	}
	switch {
	case len(k.Parts) > maxParts+1:
		return errors.New("a list in it is too long")
	case total != k.TotalNs || k.Histogram.Total() != k.Count:
		return errors.New("its units of work do not add up")
	}
	return nil
}

// largestParts returns the largest parts, most first, and the others as one.
func largestParts(parts []Part) []Part {
	slices.SortFunc(parts, func(x, y Part) int {
		return cmp.Or(cmp.Compare(y.Ns, x.Ns), strings.Compare(x.What, y.What), strings.Compare(x.Cause, y.Cause), strings.Compare(x.Where, y.Where))
	})
	k := Kind{Parts: slices.Clone(parts[:min(len(parts), maxParts)])}
	for _, p := range parts[len(k.Parts):] {
		k.book(rest(p.Ns))
	}
	return k.Parts
}

// allKinds are the kinds of all traces, by the labels of users.
type allKinds map[string]*kindSum

type kindSum struct {
	Kind
	labels []string
	traces int64
}

// add adds the kinds of a trace to those with each of some labels.
func (a allKinds) add(r *Record, labels [][]string) {
	for _, own := range labels {
		for i := range r.Work {
			a.sum(r, &r.Work[i], own)
		}
	}
}

func (a allKinds) sum(r *Record, k *Kind, own []string) {
	name, how := className(r, k.Name), k.How
	key := keyed(append([]string{name, how}, own...))
	if a[key] == nil && len(a) >= maxAllKinds {
		name, how, own = otherKinds, "", nil
		key = keyed([]string{name})
	}
	if a[key] == nil {
		a[key] = &kindSum{Kind: Kind{Name: name, How: how}, labels: own}
	}
	a[key].merge(k)
	a[key].traces++
}

// document returns the kinds, that of the most time first, and those of one name by their
// labels.
func (a allKinds) document(by []string) []jsondoc.FleetKind {
	out, totals := []jsondoc.FleetKind{}, map[[2]string]int64{}
	for _, k := range a {
		of := [2]string{k.Name, k.How}
		out, totals[of] = append(out, jsondoc.FleetKind{
			Labels: labelled(by, k.labels), Name: k.Name, How: k.How, Traces: k.traces, Count: k.Count, TotalNs: k.TotalNs,
			P50Ns: k.quantile(0.5), P95Ns: k.quantile(0.95), P99Ns: k.quantile(0.99), MaxNs: k.MaxNs, Parts: append([]Part{}, largestParts(k.Parts)...),
		}), add(totals[of], k.TotalNs)
	}
	slices.SortFunc(out, func(x, y jsondoc.FleetKind) int {
		return cmp.Or(cmp.Compare(totals[[2]string{y.Name, y.How}], totals[[2]string{x.Name, x.How}]), strings.Compare(x.Name, y.Name),
			strings.Compare(x.How, y.How), compareTrend(x.Labels, y.Labels))
	})
	return out[:min(len(out), maxReportKinds)]
}

func (k *Kind) quantile(q float64) int64 { return min(k.Histogram.Quantile(q), k.MaxNs) }

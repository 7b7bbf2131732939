package fleet

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/internal/jsondoc"
)

// TestKinds holds the kinds of a record against the units of the trace.
func TestKinds(t *testing.T) {
	const name = "../testdata/traces/network-go1.26-p2.trace.gz"
	r, err := Summarize(t.Context(), name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.validate(); err != nil {
		t.Error(err)
	}
	want := map[string]*Kind{}
	res, err := analyze.File(t.Context(), name, analyze.Options{NoTimeline: true, OnUnit: func(u work.Unit) {
		k := want[u.Kind]
		if k == nil {
			k = &Kind{}
			want[u.Kind] = k
		}
		ns := u.To - u.From
		k.merge(&Kind{Count: 1, TotalNs: ns, MaxNs: ns})
		k.Histogram.Add(ns, 1)
	}})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]*Kind{}
	for i := range r.Work {
		k := r.Work[i]
		of := res.Work.Kinds[i]
		if len(k.Parts) == 0 || k.How != of.How || k.Name != of.Name {
			t.Errorf("%+v", k)
		}
		within(t, "p99", k.quantile(0.99), of.Latency.P99Ns)
		k.Name, k.How, k.Parts = "", "", nil
		got[of.Name] = &k
	}
	if d := cmp.Diff(want, got); d != "" || len(want) < 2 {
		t.Errorf("(-units +record):\n%s", d)
	}
}

// withWork returns a record with one kind, each of whose units take a time.
func withWork(n int, version, kind string, times ...int64) *Record {
	r := made(n, map[string]string{"version": version}, 100, 5)
	k := Kind{Name: kind, How: "cycle"}
	for i, ns := range times {
		k.merge(&Kind{Count: 1, TotalNs: ns, MaxNs: ns})
		k.Histogram.Add(ns, 1)
		k.book(Part{What: "lock", Where: fmt.Sprint("f", i%maxParts), Ns: ns})
	}
	r.Work = []Kind{k}
	return r
}

// TestKindsByVersion puts the kinds of several traces together.
func TestKindsByVersion(t *testing.T) {
	records := []*Record{
		withWork(1, "1.9", "main.report", 1000, 1000), withWork(2, "1.10", "main.report", 1000, 64000), withWork(3, "1.9", "main.report", 2000),
		withWork(4, "1.9", "main.small", 10),
	}
	got := reportOn(t, records, Grouping{By: []string{"version", "gomaxprocs"}}).Work
	label := func(version string) []jsondoc.FleetLabel {
		return []jsondoc.FleetLabel{{Name: "version", Value: version}}
	}
	middle := func(ns int64) int64 { return Bucket{At: bucketOf(ns)}.value() }
	want := []jsondoc.FleetKind{
		{Labels: label("1.9"), Name: "main.report", How: "cycle", Traces: 2, Count: 3, P50Ns: middle(1000), P95Ns: 2000, P99Ns: 2000, MaxNs: 2000, TotalNs: 4000,
			Parts: []jsondoc.FleetPart{{What: "lock", Where: "f0", Ns: 3000}, {What: "lock", Where: "f1", Ns: 1000}}},
		{Labels: label("1.10"), Name: "main.report", How: "cycle", Traces: 1, Count: 2, P50Ns: middle(1000), P95Ns: 64000, P99Ns: 64000, MaxNs: 64000, TotalNs: 65000,
			Parts: []jsondoc.FleetPart{{What: "lock", Where: "f1", Ns: 64000}, {What: "lock", Where: "f0", Ns: 1000}}},
		{Labels: label("1.9"), Name: "main.small", How: "cycle", Traces: 1, Count: 1, P50Ns: 10, P95Ns: 10, P99Ns: 10, MaxNs: 10, TotalNs: 10,
			Parts: []jsondoc.FleetPart{{What: "lock", Where: "f0", Ns: 10}}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestManyKinds has more kinds, and parts of their time, than are held.
func TestManyKinds(t *testing.T) {
	var list []work.UnitKind
	for i := range 2 * maxKinds {
		list = append(list, work.UnitKind{Name: fmt.Sprint("main.f", i), How: "cycle", Count: 1, TotalNs: 100, Latency: work.Latency{MaxNs: 100, Histogram: []int64{int64(bucketOf(100)), 1}}})
		for j := range int64(100) {
			list[i].Path = append(list[i].Path, work.TimePart{Via: &work.Via{What: "lock", Site: fmt.Sprint("main.g", j)}, Ns: 1})
		}
	}
	kinds := kindsOf(list)
	if len(kinds) != maxKinds || kinds[maxKinds-1].Name != otherKinds || kinds[maxKinds-1].Count != maxKinds+1 {
		t.Errorf("%d kinds, the last %+v", len(kinds), kinds[len(kinds)-1])
	}
	a := allKinds{}
	for i := range maxAllKinds + 50 {
		for j := range kinds {
			kinds[j].Name = fmt.Sprint("main.f", i*maxKinds+j)
			if err := kinds[j].validate(); err != nil {
				t.Fatal(err)
			}
		}
		a.add(&Record{Content: Content{Work: kinds}}, [][]string{nil})
	}
	count := int64(0)
	for _, k := range a {
		count += k.Count
		total := int64(0)
		for _, p := range k.Parts {
			total += p.Ns
		}
		if total != k.TotalNs || len(k.Parts) > maxAllParts+1 {
			t.Errorf("%s: %d parts of %d of %d ns", k.Name, len(k.Parts), total, k.TotalNs)
		}
	}
	if want := int64(maxAllKinds+50) * 2 * maxKinds; count != want || len(a) != maxAllKinds+1 {
		t.Errorf("%d units of %d kinds, want %d", count, len(a), want)
	}
}

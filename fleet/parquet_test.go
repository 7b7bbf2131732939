package fleet

import (
	"bytes"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// TestParquet reads the table back: its sums are those of the report, and it is the same
// again.
func TestParquet(t *testing.T) {
	p, err := ParsePattern("{service}-{version}-*.trace.gz")
	if err != nil {
		t.Fatal(err)
	}
	names, err := Find([]string{"testdata"})
	if err != nil {
		t.Fatal(err)
	}
	set, _ := collected(t, names, Collecting{Options: Options{Pattern: p}})
	var b, again bytes.Buffer
	for _, to := range []*bytes.Buffer{&b, &again} {
		if err := WriteParquet(to, set.All()); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Error("the same records give other bytes")
	}
	rows, err := parquet.Read[Row](bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	f := reportOf(t, set)
	var waiting, running, parts int64
	for i := range rows {
		r := &rows[i]
		waiting, running = waiting+r.WaitingNs, running+r.RunningNs
		parts += r.STW + r.Unavailable + r.GC + r.IdlePWaking + r.IdlePMissed + r.Behind + r.Overtaken + r.Tracer + r.Residue
		if r.Labels["service"] == "" || len(r.Classes) == 0 || r.Start == nil || r.Start.Year() < 2026 {
			t.Errorf("%+v", r)
		}
	}
	if len(rows) != 30 || waiting != f.WaitingNs || running != f.RunningNs || parts != waiting {
		t.Errorf("%d rows: waiting %d, running %d, causes %d; want %d, %d", len(rows), waiting, running, parts, f.WaitingNs, f.RunningNs)
	}
}

func reportOf(t *testing.T, set *Set) *Report {
	t.Helper()
	f, err := Aggregate(set.All, nil, Grouping{By: DefaultGrouping()})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

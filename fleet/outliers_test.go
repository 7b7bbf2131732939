package fleet

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gmpscope/gmpscope/internal/jsondoc"
)

func reportOn(t *testing.T, records []*Record, g Grouping) *Report {
	t.Helper()
	s := &Set{}
	t.Cleanup(func() { s.Close() })
	for _, r := range records {
		if err := s.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Aggregate(s.All, nil, g)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestPlantedGroup makes services of three versions on some hosts, of which one version of
// one service waits thrice as long, for another cause.
func TestPlantedGroup(t *testing.T) {
	for _, services := range []int{2, 60} {
		r := rand.New(rand.NewPCG(9, uint64(services)))
		var records []*Record
		for s := range services {
			for v := range 3 {
				for i := range 8 {
					labels := map[string]string{"service": fmt.Sprint("s", s), "version": fmt.Sprintf("1.%d", 9+v), "host": fmt.Sprint("h", i)}
					base := int64(1e6) * int64(1+s%5) // services differ
					rec := made(len(records), labels, 1e9, base*100+r.Int64N(base*10))
					if s == 1 && v == 2 {
						rec.User.TotalNs *= 3
						rec.User.Causes = Causes{4: rec.User.TotalNs * 2 / 3, 5: rec.User.TotalNs - rec.User.TotalNs*2/3}
					}
					if s == 1 && v == 1 && i == 3 {
						rec.User.TotalNs *= 5
						rec.User.Causes[5] = rec.User.TotalNs
					}
					records = append(records, rec)
				}
			}
		}
		f := reportOn(t, records, Grouping{By: DefaultGrouping()})
		if len(f.Groups) != 3*services || len(f.Outliers) != 2 {
			t.Fatalf("%d groups, %d outliers", len(f.Groups), len(f.Outliers))
		}
		o := &f.Outliers[0]
		if o.Kind != "group" || o.Labels[0].Value != "s1" || o.Labels[1].Value != "1.11" || o.Peers != "version" || o.PeerN != 3 || o.Cause != "idle-p-available" || o.ExcessNs < 1e9 {
			t.Errorf("%+v", o)
		}
		o = &f.Outliers[1]
		if o.Kind != "trace" || o.Labels[1].Value != "1.10" || o.Trace != "t35.trace" || o.Cause != "queueing" || o.PeerN != 8 {
			t.Errorf("%+v", o)
		}
	}
}

// TestNothingPlanted expects no outlier among groups that differ by chance only, and none of
// another GOMAXPROCS or service.
func TestNothingPlanted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	var records []*Record
	for i := range 900 {
		rec := made(i, map[string]string{"service": fmt.Sprint(i % 5), "version": fmt.Sprint(i % 3)}, 1e9, 1e8*int64(1+i%5)+r.Int64N(1e7))
		if i%2 == 0 {
			rec.Trace.GOMAXPROCS, rec.User.TotalNs = 8, rec.User.TotalNs*9
			rec.User.Causes[5] = rec.User.TotalNs
		}
		records = append(records, rec)
	}
	if f := reportOn(t, records, Grouping{By: DefaultGrouping()}); len(f.Outliers) != 0 || len(f.Groups) != 30 {
		t.Errorf("%d groups; %+v", len(f.Groups), f.Outliers)
	}
}

func TestNewFindings(t *testing.T) {
	var records []*Record
	for v := range 4 {
		for i, service := range []string{"a", "b"} {
			r := made(len(records), map[string]string{"service": service, "version": fmt.Sprintf("1.%d", 8+v)}, 1e9, 1e8)
			r.Findings = []Finding{{ID: "old", Severity: "warning", CostNs: 5}, {ID: "noted", Severity: "note"}}
			if v >= 2 && i == 1 {
				r.Findings = append(r.Findings, Finding{ID: "fresh", Severity: "critical", CostNs: 2, FromNs: 10, ToNs: 20})
			}
			records = append(records, r)
		}
	}
	find := func(since string) map[string]*jsondoc.FleetFinding {
		out := map[string]*jsondoc.FleetFinding{}
		f := reportOn(t, records, Grouping{By: DefaultGrouping(), Since: since})
		for i := range f.Findings {
			out[f.Findings[i].ID+f.Findings[i].Labels[0].Value] = &f.Findings[i]
		}
		return out
	}
	all := find("")
	if len(all) != 3 || all["olda"].New || all["oldb"].Traces != 4 {
		t.Errorf("%+v", all)
	}
	fresh := all["freshb"]
	if fresh == nil || !fresh.New || fresh.Versions[0] != "1.10" || fresh.CostNs != 4 || fresh.Severity != "critical" || fresh.Worst.FromNs != 10 {
		t.Errorf("%+v", fresh)
	}
	for since, want := range map[string]bool{"1.8": false, "1.9": true, "1.10": true, "1.11": false} {
		if got := find(since)["freshb"].New; got != want {
			t.Errorf("since %s: new %v", since, got)
		}
	}
}

// TestManyGroups has more than are held: one stands for the others, and all sums are whole.
func TestManyGroups(t *testing.T) {
	var records []*Record
	for i := range maxGroups + 50 {
		records = append(records, made(i, map[string]string{"service": fmt.Sprint(i)}, 100, 10))
	}
	f := reportOn(t, records, Grouping{By: []string{"service"}})
	sum := int64(0)
	for i := range f.Groups {
		sum += f.Groups[i].Traces
	}
	if len(f.Groups) != maxGroups+1 || !f.OtherGroup || sum != maxGroups+50 || f.Traces != sum {
		t.Errorf("%d groups with %d traces", len(f.Groups), sum)
	}
}

// TestTwoSources counts a trace with two labels in both groups, and once in all.
func TestTwoSources(t *testing.T) {
	a, b := made(1, map[string]string{"service": "a"}, 100, 10), made(1, map[string]string{"service": "b"}, 100, 10)
	f := reportOn(t, []*Record{a, b, a}, Grouping{By: []string{"service"}})
	if f.Traces != 1 || len(f.Groups) != 2 || f.ConflictN != 0 || f.WaitingNs != 10 {
		t.Errorf("%+v", f)
	}
}

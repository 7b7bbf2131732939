package html

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/jsondoc"
)

// fakeFleet makes a report about groups with hostile names among them.
func fakeFleet(groups int) *jsondoc.Fleet {
	named := func(i int) string {
		if i%3 == 1 {
			return hostileNames[i/3%len(hostileNames)]
		}
		return fmt.Sprint("service-", i)
	}
	causes := func(i int) (out []waits.CauseTime, sum int64) {
		for k, c := range waits.Causes() {
			ns := int64((i*7+k*13)%11) * 1e8 / int64(1+i)
			out, sum = append(out, waits.CauseTime{Cause: c, Ns: ns}), sum+ns
		}
		return out, sum
	}
	f := &jsondoc.Fleet{Schema: 1, Tool: "gmpscope test", GroupBy: []string{"service", "version", "gomaxprocs"}, OutlierN: 90, ConflictN: 1,
		Unread: []jsondoc.FleetUnread{{Name: hostileNames[0], Why: hostileNames[4]}}}
	for i := range groups {
		var g jsondoc.FleetGroup
		trace := jsondoc.FleetTrace{Key: fmt.Sprint(i), Trace: named(i) + ".trace", ToNs: 5e6}
		g.Labels = []jsondoc.FleetLabel{{Name: "service", Value: named(i)}, {Name: "version", Value: fmt.Sprintf("1.%d", i%4)}, {Name: "gomaxprocs", Value: "8"}}
		g.Traces, g.RunningNs, g.P99Ns, g.MaxNs = int64(20+i), 4e9, 3e6, 9e7
		g.Causes, g.WaitingNs = causes(i)
		g.WaitingPerRunning = float64(g.WaitingNs) / float64(g.RunningNs)
		g.Median, g.MAD, g.OutlierN, g.Class, g.Finding, g.WorstTrace = g.WaitingPerRunning, 0.01, int64(i%3), named(i+1), "convoy", trace
		f.Groups = append(f.Groups, g)
		f.Traces, f.RunningNs, f.WaitingNs = f.Traces+g.Traces, f.RunningNs+g.RunningNs, f.WaitingNs+g.WaitingNs
		f.Causes = g.Causes
		f.Classes = append(f.Classes, jsondoc.FleetClass{Name: named(i), Creator: named(i + 4), Traces: 3, WaitingNs: g.WaitingNs, Causes: g.Causes})
		f.Versions = append(f.Versions, jsondoc.FleetTrend{Labels: g.Labels[:2], Traces: 3, RunningNs: 4e9, WaitingNs: g.WaitingNs, WaitingPerRunning: g.WaitingPerRunning, Causes: g.Causes})
		f.Work = append(f.Work, jsondoc.FleetKind{Labels: g.Labels[:2], Name: named(i), How: "cycle", Traces: 3, Count: 100, P50Ns: 1e6, P99Ns: 4e6, MaxNs: 9e6, TotalNs: 2e8,
			Parts: []jsondoc.FleetPart{{What: "lock", Where: named(i + 2), Ns: 1e8}, {What: "running", Ns: 1e8}}})
		f.Findings = append(f.Findings, jsondoc.FleetFinding{ID: "convoy", Class: named(i), Severity: "warning", Labels: g.Labels[:1], Traces: 2, CostNs: 1e9, Versions: []string{"1.0", named(i)}, New: i%2 == 0, Worst: trace})
		if i < 12 {
			kind := []string{"group", "trace"}[i/6]
			f.Outliers = append(f.Outliers, jsondoc.FleetOutlier{Kind: kind, Labels: g.Labels, FleetTrace: trace, Peers: "version", PeerN: 4, Value: 3.2, Median: 0.8, MAD: 0.1, Score: 9.5,
				ExcessNs: 8e9, Cause: "queueing", CauseNs: 7e9, Finding: "convoy", Class: named(i)})
			f.Worst = append(f.Worst, jsondoc.FleetWait{FleetTrace: trace, G: 7, Class: named(i), WaitNs: 9e7, Source: "local", Cause: "overtaken"})
		}
	}
	return f
}

func writeFleet(t *testing.T, f *jsondoc.Fleet, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteFleet(&b, f, false, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFleetPage(t *testing.T) {
	f := fakeFleet(40)
	s := writeFleet(t, f, Options{})
	if s != writeFleet(t, f, Options{}) {
		t.Error("two pages of one report differ")
	}
	for _, want := range []string{"Who waits more than its peers", "<code>gmpscope report service-0.trace --from 0s --to 5ms</code>", "90 outliers", "and 78 more", "By version", "What is missing", "summaries that differ"} {
		if !strings.Contains(s, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	for _, bad := range []string{"window.pwned=1</script>", "<img src=x", "NaN", "ZgotmplZ", "%!", "\u202e"} {
		if strings.Contains(s, bad) {
			t.Errorf("%q is on the page", bad)
		}
	}
}

func TestFleetPageOfNothing(t *testing.T) {
	if s := writeFleet(t, &jsondoc.Fleet{}, Options{}); !strings.Contains(s, "There is no trace that could be read") {
		t.Error("it is not said that there is nothing")
	}
	if err := WriteFleet(&bytes.Buffer{}, nil, false, Options{}); err == nil {
		t.Error("no error without a report")
	}
}

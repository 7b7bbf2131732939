package html

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/compare"
	"github.com/gmpscope/gmpscope/report"
)

// diffOf compares two made-up traces, with hostile names throughout.
func diffOf(t *testing.T) (*compare.Result, *report.Document, *report.Document) {
	t.Helper()
	b, a := fakeDoc(4, 300), fakeDoc(4, 300)
	a.Result.Waits.User.TotalNs *= 40
	a.Result.Breakdown.Program.RunnableNs *= 40
	for i := range a.Result.Waits.User.Causes {
		a.Result.Waits.User.Causes[i].Ns *= 40
	}
	for i := range a.Result.Timeline.Runnable.Mean {
		a.Result.Timeline.Runnable.Mean[i] *= 40
	}
	a.Result.Waits.Classes = a.Result.Waits.Classes[1:]
	a.Result.Findings = a.Result.Findings[1:]
	b.Result.Trace.Name, a.Result.Trace.Name, a.Result.Trace.GoVersion = hostileNames[0], hostileNames[4], hostileNames[2]
	c, err := compare.Compare([]*analyze.Result{b.Result}, []*analyze.Result{a.Result})
	if err != nil {
		t.Fatal(err)
	}
	c.Headline += hostileNames[0]
	c.Renames = append(c.Renames, compare.Rename{Before: hostileNames[0], After: hostileNames[4], Why: "for a test"})
	return c, b, a
}

func writeDiff(t *testing.T, c *compare.Result, b, a *report.Document, o Options) string {
	t.Helper()
	var buf bytes.Buffer
	if err := WriteDiff(&buf, c, b, a, "gmpscope test", o); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func TestDiffPage(t *testing.T) {
	c, b, a := diffOf(t)
	s := writeDiff(t, c, b, a, Options{})
	if s != writeDiff(t, c, b, a, Options{}) {
		t.Error("two pages of one comparison differ")
	}
	for _, want := range []string{"The whole traces", "all waiting", "only before", "Perhaps renamed", "The traces by themselves", "WAITING IN RUN QUEUES"} {
		if !strings.Contains(s, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	for _, bad := range []string{"window.pwned=1</script>", "NaN", "ZgotmplZ", "%!"} {
		if strings.Contains(s, bad) {
			t.Errorf("%q is on the page", bad)
		}
	}
}

func TestDiffPageOfNothing(t *testing.T) {
	zero := &analyze.Result{}
	c, err := compare.Compare([]*analyze.Result{zero}, []*analyze.Result{zero})
	if err != nil {
		t.Fatal(err)
	}
	c.Metrics[0].Before.Value = math.NaN()
	writeDiff(t, c, nil, nil, Options{})
	if err := WriteDiff(&bytes.Buffer{}, nil, nil, nil, "", Options{}); err == nil {
		t.Error("no error without a comparison")
	}
	if c.Verdict != compare.Inconclusive {
		t.Error(c.Verdict)
	}
}

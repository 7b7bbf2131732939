package replay

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/input"
)

// hard are the invariants that no decision of the scheduler can break.
var hard = []Invariant{
	Malformed, TimeBack, TwoPlaces, WrongQueue, NotRunnable, NotRunning, TwoOnP, NoThread,
	RingTooLong, BadLength, LengthDiffers, BrokenBatch, TimeLost,
}

func guide(t testing.TB, file string) *Result {
	t.Helper()
	src, err := input.Open(context.Background(), file, input.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	res, err := Audit(context.Background(), src, Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// Every recorded trace must give a stream without contradictions, and the
// rules must account for nearly every start of those of ours.
func TestAuditTraces(t *testing.T) {
	for _, dir := range []string{"", "real"} {
		files, err := filepath.Glob(filepath.Join("..", "testdata", "traces", dir, "*.trace.gz"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no traces in %q: %v", dir, err)
		}
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".trace.gz")
			if name == "empty" || strings.HasPrefix(name, "header-only") {
				continue // nothing to replay
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				res := guide(t, file)
				if strings.HasPrefix(name, "v1-") {
					if res.Audit != nil {
						t.Errorf("a replay of a trace without queues: %+v", res.Audit)
					}
					return
				}
				g := res.Audit
				t.Logf("starts %d explained %d ambiguous %d unexplained %d corrections %d violations %v races %v", g.Starts, g.Explained, g.Ambiguous, g.Unexplained, g.Corrections, g.Violations, g.Races)
				for _, i := range hard {
					if n := g.Violations[i]; n > 0 {
						t.Errorf("%s: %d times", i, n)
					}
				}
				if g.Explained+g.Ambiguous+g.Unexplained != g.Starts {
					t.Errorf("%d + %d + %d is not %d", g.Explained, g.Ambiguous, g.Unexplained, g.Starts)
				}
				allowed := 1 + g.Starts/100
				if strings.HasPrefix(name, "thousand-by-thousand") {
					// Recorded with more Ps than cores: rings of hundreds are
					// robbed by threads off CPU, which the reconstruction does
					// not follow well. It must not get worse.
					allowed = g.Starts / 12
				}
				if dir == "" && g.Unexplained > allowed {
					t.Errorf("%d of %d starts are unexplained", g.Unexplained, g.Starts)
				}
				if t.Failed() {
					shown := map[string]int{}
					for _, d := range g.Divergences {
						if k := d.Rule + string(d.Verdict); d.Verdict != Ambiguous && shown[k] < 3 {
							shown[k]++
							t.Logf("%d ns, decision %d: %s g%d p%d, %s, %s: expected %s, found %s", d.Time, d.N, d.Kind, d.G, d.P, d.Rule, d.Verdict, d.Expected, d.Found)
						}
					}
				}
			})
		}
	}
}

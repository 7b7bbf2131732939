package findings_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/all"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/procs/procstest"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

func TestRankSortsAndMerges(t *testing.T) {
	victim := func(c string) []findings.Actor { return []findings.Actor{{Role: findings.Victim, Class: c}} }
	list := []findings.Finding{
		{ID: "convoy", Severity: findings.Note, CostNs: 3, FromNs: 10, ToNs: 20, Basis: findings.Inferred, Actors: victim("a")},
		{ID: "convoy", Severity: findings.Warning, CostNs: 5, FromNs: 30, ToNs: 40, Basis: findings.Certain, Actors: victim("a")},
		{ID: "convoy", Severity: findings.Warning, CostNs: 9, Actors: victim("b")},
		{ID: "starvation", Severity: findings.Critical, CostNs: 1},
		{ID: "trace-quality", Kind: findings.KindTrace, Severity: findings.Warning},
		{ID: "late-preemption", Severity: findings.Warning, CostNs: 100, Actors: []findings.Actor{{Role: findings.Cause, Class: "a"}}},
	}
	want := findings.Rank(list)
	var got []string
	for _, x := range want {
		got = append(got, x.ID+" "+quantity.Count(x.CostNs))
	}
	if d := cmp.Diff([]string{"starvation 1", "trace-quality 0", "late-preemption 100", "convoy 9", "convoy 8"}, got); d != "" {
		t.Error(d)
	}
	m := want[4]
	if m.FromNs != 30 || m.Basis != findings.Inferred || m.Severity != findings.Warning || m.Evidence[len(m.Evidence)-1].Value.String() != "2" {
		t.Errorf("%+v", m)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		if d := cmp.Diff(want, findings.Rank(list)); d != "" {
			t.Fatal("depends on the order:", d)
		}
	}
}

func TestGrade(t *testing.T) {
	g := findings.DefaultGrade()
	for _, c := range []struct {
		cost, duration int64
		want           findings.Severity
	}{
		{0, 0, ""}, {0, 1e9, ""}, {1e6, 1e9, findings.Note}, {1e6, 1e10, ""}, {9e6, 1e7, findings.Note},
		{1e7, 1e9, findings.Warning}, {1e7, 1e10, findings.Note}, {1e9, 1e9, findings.Critical}, {9e7, 1e7, findings.Warning},
	} {
		if s, ok := g.Severity(c.cost, c.duration); s != c.want || ok != (c.want != "") {
			t.Errorf("cost %d of %d: %q", c.cost, c.duration, s)
		}
	}
	if !findings.Critical.AtLeast(findings.Warning) || findings.Note.AtLeast(findings.Warning) || findings.Note.Lower() != findings.Note {
		t.Error("order of severities")
	}
}

func TestReducedTracesKeepQueueDetectorsSilent(t *testing.T) {
	ds := all.Detectors(all.Default())
	set := findings.NewSet(ds)
	f := &findings.Facts{Reduced: true, EndNs: 1e9}
	list := set.Finish(f)
	var silent []string
	found := make([]int, len(ds))
	found[0] = 1
	for _, d := range ds {
		if d.NeedsQueues {
			silent = append(silent, d.ID)
		}
	}
	if d := cmp.Diff(silent, f.Silent); d != "" || len(silent) == 0 {
		t.Error(d)
	}
	if len(list) != 1 || list[0].ID != "trace-quality" || !strings.Contains(list[0].Evidence[0].Value.String(), "convoy") {
		t.Errorf("%+v", list)
	}
	if d := cmp.Diff(found, set.Found()); d != "" {
		t.Error(d)
	}
}

func run(ds []reference.Decision, end int64) []findings.Finding {
	set := findings.NewSet(all.Detectors(all.Default()))
	ledger.NewFeed(set.Add).AddAll(ds)
	return set.Finish(&findings.Facts{EndNs: end})
}

// Random streams: no panic, the same result twice, costs within what was waited,
// and every finding whole.
func TestRandomStreams(t *testing.T) {
	found := map[string]int{}
	for seed := range uint64(120) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := procstest.Generate(r.IntN, procstest.Options{NoTruth: true, Steps: 600, MaxStep: 1 << (8 + seed%18)})
		list := run(s.Decisions, s.End)
		if d := cmp.Diff(list, run(s.Decisions, s.End)); d != "" {
			t.Fatal(seed, d)
		}
		for i, x := range list {
			found[x.ID]++
			if x.Title.String() == "" || x.Basis == "" || len(x.Evidence) == 0 || len(x.Advice) == 0 || x.CostNs < 0 ||
				x.FromNs < 0 || x.ToNs < x.FromNs || x.ToNs > s.End {
				t.Errorf("seed %d: %+v", seed, x)
			}
			if i > 0 && list[i-1].Severity.Order() > x.Severity.Order() {
				t.Errorf("seed %d: not sorted", seed)
			}
		}
		if len(list) > 20 {
			t.Errorf("seed %d: %d findings", seed, len(list))
		}
	}
	t.Log(found)
}

// FuzzSet feeds any decisions at all.
func FuzzSet(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	f.Fuzz(func(t *testing.T, b []byte) {
		ps := []int32{-1, 0, 1, 2, 3, 4095, 4096, 1 << 30}
		var ds []reference.Decision
		now := int64(0)
		for ; len(b) >= 10; b = b[10:] {
			now += int64(b[0]) << (b[1] % 24)
			ds = append(ds, reference.Decision{
				Time: now, G: int64(b[2]%16) - 1, Kind: reference.Kind(int(b[3]) % reference.Kinds), P: ps[b[4]%8], Victim: ps[b[4]>>4%8],
				Why: reference.Why(b[5] % 30), To: reference.Queue(b[6] % 6), Src: reference.Source(b[7] % 14),
				Flags: reference.Flags(b[8]), Class: int32(b[9] % 5), Batch: int32(b[9]%7) - 1, Wait: int64(b[1]) - 1,
				By: int64(b[8]%16) - 1, Reason: reference.Reason(b[6] % 25), Stack: int32(b[0] % 4),
			})
		}
		for _, x := range run(ds, now) {
			if x.CostNs < 0 || x.ToNs < x.FromNs {
				t.Errorf("%+v", x)
			}
		}
	})
}

func BenchmarkSet(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	s := procstest.Generate(r.IntN, procstest.Options{NoTruth: true, Steps: 200_000, Live: 2000, Ps: 8, Ring: 256})
	for _, only := range append([]findings.Detector{{ID: "all"}, {ID: "none"}}, all.Detectors(all.Default())...) {
		b.Run(only.ID, func(b *testing.B) {
			var ds []findings.Detector
			switch only.ID {
			case "all":
				ds = all.Detectors(all.Default())
			case "none":
			default:
				ds = []findings.Detector{only}
			}
			b.ReportAllocs()
			for b.Loop() {
				set := findings.NewSet(ds)
				ledger.NewFeed(set.Add).AddAll(s.Decisions)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(s.Decisions)), "ns/decision")
		})
	}
}

// costly is a detector that finds what costs 2 ns, and what costs nothing.
type costly struct{}

func (costly) Finish(*findings.Facts) []findings.Finding {
	return []findings.Finding{{ID: "costly", Severity: findings.Note, CostNs: 2}, {ID: "costly", Severity: findings.Note}}
}

// TestContradiction: nothing has waited, so nothing can have cost waiting. Where
// events are missing that can be; elsewhere it is a mistake, and must show.
func TestContradiction(t *testing.T) {
	for incomplete, want := range map[bool]int64{false: 2, true: 0} {
		set := findings.NewSet([]findings.Detector{{ID: "costly", New: func(*findings.View) findings.Watcher { return costly{} }}})
		if got := set.Finish(&findings.Facts{Incomplete: incomplete}); len(got) != 1 || got[0].CostNs != want {
			t.Errorf("incomplete %t: %+v, want a cost of %d", incomplete, got, want)
		}
	}
}

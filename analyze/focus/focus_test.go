package focus

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/procs/procstest"
	"github.com/gmpscope/gmpscope/reference"
)

// TestSelection matches classes by full and short names and by globs.
func TestSelection(t *testing.T) {
	names := []string{"", "github.com/nats-io/nats.go.(*Conn).readLoop", "golang.org/x/sync/errgroup.(*Group).Go.func1, started by main.run", "main.main", "example.com/a.F[example.com/b/c.T]"}
	for pattern, want := range map[string][]int32{
		"main.main":              {3},
		"main*":                  {3},
		"*readLoop":              {1},
		"nats.go.*":              {1},
		"readLoop":               nil,
		"errgroup.*.func?":       {2},
		"*, started by *":        {2},
		"a.F[example.com/b/c.T]": {4},
		"a.F[*]":                 {4},
		"*":                      {0, 1, 2, 3, 4},
		"[":                      nil,
		`\`:                      nil,
	} {
		s := NewSelection(Focus{Classes: []string{pattern}}, func(c int32) string { return names[c] })
		var got []int32
		for c := range int32(len(names)) {
			if s.Has(7, c) != s.Has(8, c) {
				t.Errorf("%q: class %d: not the same twice", pattern, c)
			}
			if s.Has(7, c) {
				got = append(got, c)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: -want +got:\n%s", pattern, d)
		}
		if err := s.Missing(names[1:]); (err == nil) != (len(want) > 0) {
			t.Errorf("%q: %v", pattern, err)
		}
	}
	s := NewSelection(Focus{Goroutines: []int64{3, 4}}, func(int32) string { return "" })
	if !s.Has(3, 0) || s.Has(5, 0) {
		t.Error("goroutine 3, and not 5, is looked for")
	}
	if err := s.Missing(nil); err == nil || !strings.Contains(err.Error(), "goroutine 4") {
		t.Errorf("%v, want that goroutine 4 is missing", err)
	}
}

// TestClipper cuts random streams at random times. At each decision in the window, what the
// notes say of Ps, queues and goroutines is what they say in the whole stream.
func TestClipper(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := procstest.Generate(r.IntN, procstest.Options{Steps: 300, Ps: 5, Gaps: seed%4 == 0, NoTruth: true})
		from := 1 + r.Int64N(s.End)
		to := from + 1 + r.Int64N(s.End)
		cut := NewClipper(from, to)
		var part ledger.Block
		feed := ledger.NewFeed(func(b *ledger.Block) {
			for i := range b.Decisions {
				d := &b.Decisions[i]
				one := ledger.Block{Decisions: b.Decisions[i : i+1], Notes: b.Notes[i : i+1]}
				synthetic, at := cut.Clip(&one, &part)
				in := len(part.Decisions) - synthetic
				if d.Time < from || d.Time >= to {
					for j := range part.Decisions[synthetic:] {
						if x := &part.Decisions[synthetic+j]; x.Time != to || x.Why != reference.WhyLost && x.Kind != reference.KindGCEnd {
							t.Fatalf("seed %d, [%d, %d): %+v of %+v", seed, from, to, x, d)
						}
					}
					continue
				}
				if in != 1 || at != 0 || part.Decisions[synthetic] != *d || part.Synthetic != synthetic {
					t.Fatalf("seed %d, [%d, %d): %+v became %+v", seed, from, to, d, part.Decisions)
				}
				got, want := part.Notes[synthetic], b.Notes[i]
				if want.Was == ledger.InSyscall && got.Was == ledger.Unseen {
					continue // a system call that had lost its P is not told, as one that a trace begins in
				}
				if want.G != 0 && d.Kind != reference.KindMove && want.Was != ledger.Waiting && want.Was != ledger.Unseen && got.Was != want.Was {
					t.Fatalf("seed %d, [%d, %d): %+v: was %v, want %v", seed, from, to, d, got.Was, want.Was)
				}
				if got.G != 0 && got.Was != ledger.Unseen && d.Kind != reference.KindMove && got.Since != max(want.Since, from) {
					t.Fatalf("seed %d, [%d, %d): %+v: since %d, want %d", seed, from, to, d, got.Since, max(want.Since, from))
				}
				if got.Runnable != want.Runnable {
					t.Fatalf("seed %d, [%d, %d): %+v: %+v, want %+v", seed, from, to, d, got, want)
				}
				whole := slices.IndexFunc(b.PIntervals, func(x ledger.PInterval) bool { return int(x.At) == i })
				for _, got := range part.PIntervals {
					if int(got.At) != synthetic {
						continue
					}
					want := b.PIntervals[whole]
					whole++
					got.From, want.From, want.At = max(got.From, from), max(want.From, from), int32(synthetic)
					if got != want {
						t.Fatalf("seed %d, [%d, %d): %+v: %+v, want %+v", seed, from, to, d, got, want)
					}
				}
			}
		})
		feed.AddAll(s.Decisions)
	}
}

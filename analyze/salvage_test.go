package analyze_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/wire"
	"github.com/gmpscope/gmpscope/internal/damage"
	"github.com/gmpscope/gmpscope/internal/tracetest"
	"github.com/gmpscope/gmpscope/reference"
)

// A trace with one generation lost or broken is analysed in all others, and what
// is said of those does not change: who ran or waited in the gap is forgotten.
func TestSalvage(t *testing.T) {
	for _, minor := range []int{22, 23, 25, 26} {
		if minor == 25 && testing.Short() {
			continue // four times as large as the others
		}
		t.Run(fmt.Sprintf("go1.%d", minor), func(t *testing.T) { salvage(t, minor) })
	}
}

func salvage(t *testing.T, minor int) {
	whole := tracetest.Recorded(t, fmt.Sprintf("real/manygens-io-go1.%d-p4", minor))
	base := runDamaged(t, whole)
	if base.Trace.Incomplete || base.Trace.Format != fmt.Sprintf("go 1.%d", minor) {
		t.Fatalf("the whole trace: %+v", base.Trace)
	}
	last := uint64(base.Trace.Generations)
	step := uint64(5)
	if testing.Short() {
		step = last
	}
	for name, breakIt := range map[string]func(tr *damage.Trace, gen uint64){
		"missing": func(tr *damage.Trace, gen uint64) {
			tr.Blocks = slices.DeleteFunc(tr.Blocks, func(b damage.Block) bool { return b.Gen == gen })
		},
		// The reader gives up before the first event.
		"strings twice": func(tr *damage.Trace, gen uint64) {
			for i := range tr.Blocks {
				if b := &tr.Blocks[i]; b.Gen == gen && len(b.Events) > 2 && b.Events[0].Kind == wire.Strings {
					b.Events[2].Args[0] = b.Events[1].Args[0]
				}
			}
		},
		// The reader gives up somewhere within.
		"a batch in disorder": func(tr *damage.Trace, gen uint64) {
			largest := -1
			for i, b := range tr.Blocks {
				if b.Gen == gen && b.M < 1<<40 && (largest < 0 || len(b.Events) > len(tr.Blocks[largest].Events)) {
					largest = i
				}
			}
			slices.Reverse(tr.Blocks[largest].Events)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for gen := uint64(3); gen < last; gen += step {
				tr := damage.Parse(whole)
				breakIt(tr, gen)
				b := tr.Bytes()
				var lost []int64 // ns, by gap
				src, err := input.New(bytes.NewReader(b), "damaged")
				if err != nil {
					t.Fatal(err)
				}
				res, err := analyze.Run(t.Context(), src, analyze.Options{OnDecision: func(d *reference.Decision) error {
					if d.Kind == reference.KindLost {
						lost = append(lost, d.Wait)
					}
					return nil
				}})
				if err != nil {
					t.Fatal(err)
				}
				addsUp(t, res, int64(len(b)))
				x, y := &res.Trace, &base.Trace
				if len(lost) != 1 || x.LostNs != lost[0] || x.LostNs < 0 || x.LostNs > x.DurationNs/4 {
					t.Errorf("generation %d: %d ns lost, in gaps of %v", gen, x.LostNs, lost)
				}
				if !x.Incomplete || !slices.ContainsFunc(x.Warnings, func(s string) bool { return strings.HasPrefix(s, "what happened between ") }) {
					t.Errorf("generation %d: the loss is not told: %q", gen, x.Warnings)
				}
				if x.DurationNs != y.DurationNs || x.Generations < int(last)-1 || x.Events < y.Events/2 {
					t.Errorf("generation %d: %d ns, %d generations, %d of %d events", gen, x.DurationNs, x.Generations, x.Events, y.Events)
				}
				r, s := &res.Reconstruction, &base.Reconstruction
				if got, want := share(r.Explained, r.Starts), share(s.Explained, s.Starts); got < want-0.15 || r.Corrections > s.Corrections+100 {
					t.Errorf("generation %d: %.3f of the starts are explained, %.3f in the whole trace; %d corrections, and %d", gen, got, want, r.Corrections, s.Corrections)
				}
				if res.Waits.All.OpenCount > base.Waits.All.OpenCount+1 || res.Waits.All.MaxNs > base.Waits.All.MaxNs {
					t.Errorf("generation %d: %d waits do not end, and the longest is %d ns; in the whole trace %d and %d",
						gen, res.Waits.All.OpenCount, res.Waits.All.MaxNs, base.Waits.All.OpenCount, base.Waits.All.MaxNs)
				}
				if got, want := res.Pressure.Some, base.Pressure.Some; got > want+0.2 {
					t.Errorf("generation %d: somebody waits for %.2f of the time, %.2f in the whole trace", gen, got, want)
				}
			}
		})
	}
}

func share(n, of int64) float64 { return float64(n) / float64(max(of, 1)) }

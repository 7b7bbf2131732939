package reconstruct_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/reconstruct"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
	"github.com/gmpscope/gmpscope/reference"
)

// TestOddEvents reconstructs from events that no runtime would write: real ones
// dropped, doubled, swapped, or with other numbers in them, as a damaged or
// hostile trace can bring about. GMPSCOPE_ODD is the number of tries per trace.
func TestOddEvents(t *testing.T) {
	reconstruct.Unchecked(t) // the invariants hold for what a runtime writes
	tries := 12
	if n, err := strconv.Atoi(os.Getenv("GMPSCOPE_ODD")); err == nil {
		tries = n
	}
	files, err := filepath.Glob(filepath.Join(traces, "*.trace*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	for i, f := range files {
		if !tracetest.Long() && i%8 != 0 {
			continue
		}
		tr := load(t, f)
		evs := slices.Concat(tr.blocks...)
		evs = evs[:min(len(evs), 6000)]
		for n := range tries {
			seed := uint64(i)<<32 + uint64(n)
			odd(t, f, seed, tr, evs)
		}
	}
}

func odd(t *testing.T, name string, seed uint64, tr *decoded, evs []events.Event) {
	defer func() {
		if e := recover(); e != nil {
			t.Errorf("%s, seed %d: %v", filepath.Base(name), seed, e)
			if os.Getenv("GMPSCOPE_ODD") != "" {
				panic(e)
			}
		}
	}()
	rng := rand.New(rand.NewPCG(seed, 1))
	rate := []int{4, 30, 300}[rng.IntN(3)] // one event in so many
	var in []events.Event
	for i := 0; i < len(evs); i++ {
		e := evs[i]
		if rng.IntN(rate) == 0 {
			other := &evs[rng.IntN(len(evs))]
			switch rng.IntN(9) {
			case 0:
				continue
			case 1:
				in = append(in, e)
			case 2:
				e.M = other.M
			case 3:
				e.P = other.P
			case 4:
				e.G = other.G
			case 5:
				e.Res = other.Res
			case 6:
				e.From = other.From
			case 7:
				e.To = other.To
			case 8:
				if n := len(in); n > 0 {
					in[n-1], e = e, in[n-1]
				}
			}
		}
		in = append(in, e)
	}
	opt := tr.opt
	starts := int64(0)
	opt.Emit = func(ds []reference.Decision) []reference.Decision {
		for _, d := range ds {
			if d.Kind == reference.KindStart && d.Wait >= -1 {
				starts++
			}
			if d.Local < 0 || d.Global < 0 {
				t.Fatalf("%s, seed %d: a queue of negative length: %+v", filepath.Base(name), seed, d)
			}
		}
		return ds[:0]
	}
	r := reconstruct.New(tr.tables, opt)
	r.Add(in)
	if sum := r.Finish(); sum.Starts > starts {
		t.Errorf("%s, seed %d: %d starts counted, %d emitted", filepath.Base(name), seed, sum.Starts, starts)
	}
}

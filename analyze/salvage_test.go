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
	"github.com/gmpscope/gmpscope/internal/testkit/damage"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
	"github.com/gmpscope/gmpscope/reference"
)

// A trace with one generation lost or broken is analysed in all others, and what is said
// of those does not change: who ran or waited in the gap is forgotten.
func TestSalvage(t *testing.T) {
	for _, minor := range []int{22, 23, 25, 26} {
		if minor == 25 && !tracetest.Long() {
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
	if !tracetest.Long() {
		step = last
	}
	for name, breakIt := range map[string]func(tr *damage.Trace, gen uint64){
		"missing": func(tr *damage.Trace, gen uint64) {
			tr.Blocks = slices.DeleteFunc(tr.Blocks, func(b damage.Block) bool { return b.Gen == gen })
		},
		// Nothing says what a tick is, not even the generation before; that has it from its own before.
		"no frequency": func(tr *damage.Trace, gen uint64) {
			for i := range tr.Blocks {
				if b := &tr.Blocks[i]; b.Gen == gen || b.Gen == gen-1 {
					b.Events = slices.DeleteFunc(b.Events, func(e damage.Event) bool { return e.Kind == wire.Frequency })
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

// A Sync is no event: a generation of which nothing else can be read is not where time begins.
func TestNoEventNoTime(t *testing.T) {
	for _, minor := range []int{22, 23} {
		tr := damage.Parse(tracetest.Recorded(t, fmt.Sprintf("real/manygens-io-go1.%d-p4", minor)))
		first := tr.Blocks[0].Gen
		for i := range tr.Blocks {
			if b := &tr.Blocks[i]; b.Gen == first {
				b.Events = slices.DeleteFunc(b.Events, func(e damage.Event) bool { return e.Kind == wire.Frequency })
			}
		}
		whole := damage.Parse(tr.Bytes())
		whole.Blocks = slices.DeleteFunc(whole.Blocks, func(b damage.Block) bool { return b.Gen == first })
		x, y := summaryOf(t, tr.Bytes()), summaryOf(t, whole.Bytes())
		if x == nil || y == nil {
			t.Fatal("there is no result")
		}
		if a, b := &x.res.Trace, &y.res.Trace; a.DurationNs != b.DurationNs || a.LostNs != 0 || a.Events != b.Events || x.stats.Start != y.stats.Start || !a.Incomplete {
			t.Errorf("go1.%d: %d ns, %d lost, %d events from %d on; without the generation that cannot be read %d ns and %d events from %d on", minor, a.DurationNs, a.LostNs, a.Events, x.stats.Start, b.DurationNs, b.Events, y.stats.Start)
		}
		if lost, all := x.res.Trace.LostBytes, int64(len(tr.Bytes())-len(whole.Bytes())); lost != all {
			t.Errorf("go1.%d: %d bytes are lost, the generation has %d", minor, lost, all)
		}
	}
}

// A batch of a table that is there twice says nothing else the second time.
func TestTableTwice(t *testing.T) {
	for _, name := range []string{"steal-small-go1.22-p2", "steal-small-go1.26-p2"} {
		base := undamagedTrace(t, name)
		tr := damage.Parse(base.trace)
		for i := range tr.Blocks {
			if b := tr.Blocks[i]; len(b.Events) > 0 && b.Events[0].Kind == wire.Stacks {
				tr.Blocks = slices.Insert(tr.Blocks, i, b)
				break
			}
		}
		x := summaryOf(t, tr.Bytes())
		if x == nil {
			t.Fatalf("%s: there is no result", name)
		}
		x.holds(t, base.summary)
		if x.n != base.n || x.stats.Events != base.stats.Events || x.res.Trace.DurationNs != base.res.Trace.DurationNs {
			t.Errorf("%s: %d events and %d waits in %d ns, of %d and %d in %d", name, x.stats.Events, x.n, x.res.Trace.DurationNs, base.stats.Events, base.n, base.res.Trace.DurationNs)
		}
	}
}

// A trace that is cut inside its first batch is no trace that holds a header only.
func TestCutInFirstBatch(t *testing.T) {
	trace := tracetest.Recorded(t, "steal-small-go1.26-p2")
	for n, want := range map[int]string{
		16: "it holds a header only",
		22: "the trace ends inside its first batch, after 6 bytes",
		60: "the trace ends inside a batch, of which ",
	} {
		src, err := input.New(bytes.NewReader(trace[:n]), "cut")
		if err != nil {
			t.Fatal(err)
		}
		_, err = analyze.Run(t.Context(), src, analyze.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the first %d bytes: %v, want %q", n, err, want)
		}
		src.Close()
	}
}

// One bad entry of the tables of an old trace costs that entry, and a cut behind the events none of
// them.
func TestOldTraceWithBadEntries(t *testing.T) {
	const stack, text = 3, 37 // runtime/trace.go, Go 1.21
	base := undamagedTrace(t, "real/v1-context-go1.21")
	// entry calls f with the third entry of a table.
	entry := func(kind byte, f func(b *damage.Block, i int)) []byte {
		tr := damage.Parse(base.trace)
		n := 0
		for i := range tr.Blocks {
			for j := range tr.Blocks[i].Events {
				if tr.Blocks[i].Events[j].Kind == kind {
					if n++; n == 3 {
						f(&tr.Blocks[i], j)
						return tr.Bytes()
					}
				}
			}
		}
		t.Fatalf("no entry of kind %d", kind)
		return nil
	}
	// The reader takes these for whole: what refers to such a stack or string has none.
	accepted := []string{"a stack with another id", "a stack with the id of another", "a stack that is missing", "a string that is missing"}
	lastTables := bytes.LastIndex(base.trace, []byte{stack | 3<<6})
	for name, b := range map[string][]byte{
		"a stack with another id":        entry(stack, func(b *damage.Block, i int) { b.Events[i].Args[0] += 1000 }),
		"a stack with the id of another": entry(stack, func(b *damage.Block, i int) { b.Events[i].Args[0] = b.Events[i-1].Args[0] }),
		"a stack with too few frames":    entry(stack, func(b *damage.Block, i int) { b.Events[i].Args[1]++ }),
		"a frame without its name":       entry(stack, func(b *damage.Block, i int) { b.Events[i].Args[3] = 1_000_003 }),
		"a stack that is missing":        entry(stack, func(b *damage.Block, i int) { b.Events = slices.Delete(b.Events, i, i+1) }),
		"a string that is missing":       entry(text, func(b *damage.Block, i int) { b.Events = slices.Delete(b.Events, i, i+1) }),
		"a string with id 0":             entry(text, func(b *damage.Block, i int) { b.Events[i].Args[0] = 0 }),
		"a string twice":                 entry(text, func(b *damage.Block, i int) { b.Events = slices.Insert(b.Events, i, b.Events[i]) }),
		"a cut within the stacks":        base.trace[:lastTables+1],
		"a cut within one of the stacks": base.trace[:lastTables+5],
	} {
		x := summaryOf(t, b)
		if x == nil {
			t.Errorf("%s: there is no result", name)
			continue
		}
		x.holds(t, base.summary)
		tr := &x.res.Trace
		if x.stats.Events != base.stats.Events || x.n != base.n || tr.DurationNs != base.res.Trace.DurationNs {
			t.Errorf("%s: %d events and %d waits in %d ns, of %d and %d in %d; %q", name, x.stats.Events, x.n, tr.DurationNs, base.stats.Events, base.n, base.res.Trace.DurationNs, tr.Warnings)
		}
		if slices.Contains(accepted, name) {
			continue
		}
		if !tr.Incomplete || tr.LostBytes > 300 || len(tr.Warnings) < 2 || !slices.ContainsFunc(tr.Warnings, func(w string) bool {
			return strings.Contains(w, "stack") || strings.Contains(w, "string") || strings.Contains(w, "bytes of it")
		}) {
			t.Errorf("%s: %d bytes lost, incomplete %v, %q", name, tr.LostBytes, tr.Incomplete, tr.Warnings)
		}
	}
}

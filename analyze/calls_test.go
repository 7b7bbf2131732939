package analyze_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/fairness"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/all"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/stacks"
	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
	"github.com/gmpscope/gmpscope/reference"
)

// System calls that are taken all at once change no result, not even where the
// stream is damaged: decisions are missing, or at the same time as the one before.
func TestCallsAtOnce(t *testing.T) {
	traces, seeds := []string{"network-go1.26-p4", "real/manygens-io-go1.25-p4"}, uint64(4)
	if !tracetest.Long() {
		traces, seeds = traces[:1], 2
	}
	for _, trace := range traces {
		whole := decisionsOf(t, filepath.Join("../testdata/traces", trace+".trace.gz"))
		calls := 0
		for seed := range seeds {
			rnd := rand.New(rand.NewPCG(seed, 1))
			ds := slices.Clone(whole)
			if seed > 0 {
				ds = slices.DeleteFunc(ds, func(reference.Decision) bool { return rnd.IntN(50) == 0 })
				for i := 1; i < len(ds); i++ {
					if rnd.IntN(20) == 0 {
						ds[i].Time = ds[i-1].Time
					}
				}
			}
			one, _ := accountOf(ds, false)
			many, n := accountOf(ds, true)
			calls += n
			for name, want := range one {
				if got := many[name]; !reflect.DeepEqual(got, want) {
					t.Errorf("%s, seed %d: %s at once\n%v\none by one\n%v", trace, seed, name, got, want)
				}
			}
		}
		if calls == 0 {
			t.Errorf("%s: no system calls were taken at once", trace)
		}
	}
}

// handles stand for themselves.
var handles = stacks.Resolver{
	Frames: func(stack int32) []stacks.Frame { return []stacks.Frame{{Line: int64(stack)}} },
	Class:  func(handle int32) int32 { return handle },
}

// accountOf is what all accumulators make of a stream, which they get at once or one
// decision after the other, and how many decisions are brief system calls.
func accountOf(ds []reference.Decision, atOnce bool) (results map[string]any, n int) {
	lines := []string{}
	ws := waits.New(waits.Options{Ended: true})
	record := func(*ledger.Block) {
		for _, w := range ws.Ended {
			w.At = 0 // in whatever block
			lines = append(lines, fmt.Sprint(w))
		}
	}
	where := stacks.New(stacks.Options{})
	ps, found := procs.New(), findings.NewSet(all.Detectors(all.Default()))
	fair, states, tl := fairness.New(), breakdown.New(ledger.Part{}), timeline.New(timeline.Options{})
	count := func(b *ledger.Block) {
		for i := range b.Decisions {
			n += b.Calls(i)
		}
	}
	stacksAdd := func(b *ledger.Block) { where.Add(b, ws.Ended) }
	draw := func(b *ledger.Block) { tl.Add(b, ws.Ended, 0) }
	feed := ledger.NewFeed(ws.Add, record, draw, stacksAdd, ps.Add, fair.Add, states.Add, found.Add, count)
	if atOnce {
		feed.AddAll(ds)
	} else {
		for i := range ds {
			feed.Add(&ds[i])
		}
	}
	end := int64(0) // of what was added last
	feed.Close(end)
	facts := &findings.Facts{EndNs: end}
	facts.Waits, facts.Procs = ws.Finish(end, feed.Live(), nil), ps.Finish()
	fairness, pressure := fair.Finish(end, feed.Live(), nil)
	facts.Pressure = pressure
	return map[string]any{
		"waits": facts.Waits, "single waits": lines, "Ps": facts.Procs, "fairness": fairness, "pressure": pressure,
		"breakdown": states.Finish(end, feed.Live(), nil),
		"stacks":    where.Finish(end, feed.Live(), handles),
		"findings":  found.Finish(facts), "span": facts.Span, "timeline": tl.Finish(end, timeline.Names{Frames: handles.Frames}),
	}, n
}

package analyze_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
	"github.com/gmpscope/gmpscope/reference"
)

// An analysis that is interrupted is one of a beginning of the trace: without
// holes, and the same as that of the whole but for the last of it.
func TestPartial(t *testing.T) {
	trace := tracetest.Recorded(t, "real/manygens-io-go1.25-p4")
	run := func(stopAt, workers int) (*analyze.Result, []reference.Decision, error) {
		src, err := input.New(bytes.NewReader(trace), "whole")
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var seen []reference.Decision
		res, err := analyze.Run(ctx, src, analyze.Options{Partial: true, Workers: workers, OnDecision: func(d *reference.Decision) error {
			seen = append(seen, *d)
			if len(seen) == stopAt {
				cancel()
			}
			return nil
		}})
		return res, seen, err
	}
	whole, all, err := run(-1, 0)
	if err != nil || whole.Trace.Interrupted {
		t.Fatal(whole, err)
	}
	// The reconstruction looks 65,536 events ahead, so the last decisions come when all has been read.
	for _, stopAt := range []int{1, len(all) / 20, len(all) / 10} {
		for _, workers := range []int{1, 4} {
			res, seen, err := run(stopAt, workers)
			if err != nil {
				t.Fatal(err)
			}
			addsUp(t, res, res.Trace.Bytes)
			tr := &res.Trace
			if !tr.Interrupted || !tr.Incomplete || tr.LostBytes != 0 || tr.LostNs != 0 || len(tr.Warnings) != 1 {
				t.Errorf("after %d decisions: %+v", stopAt, tr)
			}
			if tr.DurationNs <= 0 || tr.DurationNs >= whole.Trace.DurationNs || tr.Events >= whole.Trace.Events {
				t.Errorf("after %d decisions: %d ns of %d, %d events of %d", stopAt, tr.DurationNs, whole.Trace.DurationNs, tr.Events, whole.Trace.Events)
			}
			// What is inferred from later events can differ at the end.
			settled := tr.DurationNs - int64(10*time.Millisecond)
			n, _ := slices.BinarySearchFunc(seen, settled, func(d reference.Decision, at int64) int { return int(min(max(d.Time-at, -1), 1)) })
			for i := range n {
				if seen[i] != all[i] {
					t.Fatalf("after %d decisions, %d workers: decision %d of %d is %+v, with the whole trace %+v", stopAt, workers, i, len(seen), seen[i], all[i])
				}
			}
		}
	}
	// Before the first event there is nothing to tell.
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	src, err := input.New(bytes.NewReader(trace), "whole")
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if res, err := analyze.Run(ctx, src, analyze.Options{Partial: true}); res != nil || !errors.Is(err, why) {
		t.Errorf("%v, %v", res, err)
	}
}

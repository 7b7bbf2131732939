package analyze

import (
	"context"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/work"
)

// What is alive at one time cannot be lowered: the analysis ends there, at the
// same place however many generations are decoded at once.
func TestTooManyGoroutines(t *testing.T) {
	const most = 100
	run := func(o Options) (*Result, error) {
		src, err := input.Open(t.Context(), filepath.Join("..", "testdata", "traces", "thousand-go1.26-p4.trace.gz"), input.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		return Run(context.Background(), src, o)
	}
	whole, err := run(Options{})
	if err != nil {
		t.Fatal(err)
	}
	limit := int64(baseMemory + most*goMemory)
	var first *Result
	for _, workers := range []int{1, 4} {
		part, err := run(Options{MaxMemory: limit, Partial: true, Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Join(part.Trace.Warnings, "\n")
		if !part.Trace.Interrupted || part.Trace.DurationNs >= whole.Trace.DurationNs || part.Trace.Bytes != whole.Trace.Bytes || !strings.Contains(said, "goroutines") || !strings.Contains(said, "are more than the limit of 48 MiB of memory allows: raise it (--max-memory") {
			t.Errorf("%+v", part.Trace)
		}
		if first == nil {
			first = part
		} else if !reflect.DeepEqual(first, part) {
			t.Errorf("another result with %d workers", workers)
		}
	}
	if _, err := run(Options{MaxMemory: limit}); err == nil || !strings.Contains(err.Error(), "raise it (--max-memory") {
		t.Errorf("%v", err)
	}
}

// Less memory takes from units of work their paths first, then the bins of their latencies, then
// how far paths look back, and the result says so.
func TestLowerWork(t *testing.T) {
	none := work.Limits{}
	for _, c := range []struct {
		mib  int64
		want work.Limits
		said string
	}{
		{300, none, ""},
		{200, work.Limits{Slowest: 1}, "the slowest is kept with its path instead of the slowest 5"},
		{150, work.Limits{Slowest: 1, Octaves: true}, "by octaves of latency"},
		{100, work.Limits{Slowest: 1, Octaves: true, Intervals: 1 << 16}, "paths look back 65536 intervals instead of 262144"},
	} {
		l := lower(&Options{MaxMemory: c.mib << 20})
		if said := strings.Join(l.said, "\n"); l.work != c.want || !strings.Contains(said, c.said) || c.said == "" && said != "" {
			t.Errorf("%d MiB: %+v, %q", c.mib, l.work, said)
		}
	}
}

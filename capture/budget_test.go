package capture

import (
	"math"
	"strings"
	"testing"
	"time"
)

// bounds are those of four buckets: below 1 ms, from 1, from 10, and from 100 ms on.
var bounds = []float64{math.Inf(-1), 0.001, 0.01, 0.1, math.Inf(1)}

func TestBudget(t *testing.T) {
	ms := time.Millisecond
	for _, tt := range []struct {
		name        string
		budget      Budget
		before, now []uint64
		want        bool
	}{
		{"no waits", Budget{Latency: ms}, []uint64{5, 5, 5, 5}, []uint64{5, 5, 5, 5}, false},
		{"what was before does not count", Budget{Latency: 10 * ms}, []uint64{0, 0, 0, 1000}, []uint64{100, 0, 0, 1000}, false},
		{"too few waits", Budget{Latency: ms}, []uint64{0, 0, 0, 0}, []uint64{0, 0, 0, 9}, false},
		{"few, but enough", Budget{Latency: ms, MinWaits: 9}, []uint64{0, 0, 0, 0}, []uint64{0, 0, 0, 9}, true},
		{"one of a hundred", Budget{Quantile: 0.99, Latency: 10 * ms}, []uint64{0, 0, 0, 0}, []uint64{99, 0, 0, 1}, false},
		{"two of a hundred", Budget{Quantile: 0.99, Latency: 10 * ms}, []uint64{0, 0, 0, 0}, []uint64{98, 0, 0, 2}, true},
		{"the longest", Budget{Latency: 10 * ms}, []uint64{0, 0, 0, 0}, []uint64{99, 0, 0, 1}, true},
		{"a bucket that may be below", Budget{Quantile: 1, Latency: 11 * ms}, []uint64{0, 0, 0, 0}, []uint64{99, 0, 1, 0}, false},
		{"the median", Budget{Quantile: 0.5, Latency: ms}, []uint64{0, 0, 0, 0}, []uint64{50, 50, 0, 0}, false},
		{"beyond the median", Budget{Quantile: 0.5, Latency: ms}, []uint64{0, 0, 0, 0}, []uint64{49, 51, 0, 0}, true},
		{"the first reading", Budget{Latency: ms}, nil, []uint64{0, 0, 0, 100}, true},
	} {
		reason, ok := tt.budget.broken(&latencies{counts: tt.before, bounds: bounds}, &latencies{counts: tt.now, bounds: bounds})
		if ok != tt.want || ok == (reason == "") {
			t.Errorf("%s: %v, %q", tt.name, ok, reason)
		}
	}
}

func TestReason(t *testing.T) {
	for want, b := range map[string]Budget{
		"the longest of 100 sampled waits for a P took at least 100ms; the budget is 10ms":         {Latency: 10 * time.Millisecond},
		"of 100 sampled waits for a P, 6 took at least 100ms; the budget is 10ms at quantile 0.95": {Latency: 10 * time.Millisecond, Quantile: 0.95},
	} {
		reason, ok := b.broken(&latencies{}, &latencies{counts: []uint64{90, 0, 0, 10}, bounds: bounds})
		if !ok || reason != want {
			t.Errorf("%q, want %q", reason, want)
		}
	}
}

// The signal of a budget is about the interval since it was asked last.
func TestBudgetSignal(t *testing.T) {
	long := uint64(0)
	signal := Budget{Latency: time.Millisecond}.signal(func(l *latencies) {
		l.counts = append(l.counts[:0], 1000, long, 0, 0)
		l.bounds = bounds
	})
	for i, tt := range []struct {
		more uint64
		want bool
	}{{100, false}, {0, false}, {100, true}, {0, false}, {100, true}} { // the first reading holds all since the program began
		long += tt.more
		if reason, ok := signal(); ok != tt.want || strings.Contains(reason, "sampled waits") != tt.want {
			t.Errorf("asked %d times: %v, %q", i, ok, reason)
		}
	}
}

// The runtime has the metric, in the shape that is expected of it.
func TestReadLatencies(t *testing.T) {
	var l latencies
	readLatencies()(&l)
	if len(l.counts) == 0 || len(l.bounds) != len(l.counts)+1 {
		t.Errorf("%d counts, %d bounds", len(l.counts), len(l.bounds))
	}
}

package capture

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime/metrics"
	"time"
)

// Budget is how long goroutines may wait for a P: of the waits that ended within
// one Interval, the Quantile must not exceed Latency.
//
// The waits are those of the metric /sched/latencies:seconds. The runtime samples
// them (one of eight stretches of a goroutine's life, casgstatus in
// runtime/proc.go) and counts them in buckets that are a quarter of their value
// wide: a wait counts as too long if all of its bucket is above Latency. Until Go 1.25 a
// return from a system call to a P that was kept counted as a wait of nothing; since
// Go 1.26 it does not count (golang/go#79391): the same load has a longer mean and longer
// quantiles, but for the longest wait.
type Budget struct {
	// Quantile is between 0 and 1. The default is 1, the longest wait: a stall of
	// 200 ms is felt, but may be less than a hundredth of what a busy program waits
	// for in a second.
	Quantile float64

	// Latency is the longest that is tolerated; 0 means that there is no budget.
	Latency time.Duration

	// MinWaits is how many sampled waits an Interval must have to be judged. The
	// default is 10, so that one wait of an idle program is no incident.
	MinWaits uint64
}

func (b *Budget) check() error {
	switch {
	case !(b.Quantile >= 0 && b.Quantile <= 1):
		return fmt.Errorf("capture: Budget.Quantile is %v: it must be between 0 and 1", b.Quantile)
	case b.Latency < 0:
		return fmt.Errorf("capture: Budget.Latency is %v: it must not be negative", b.Latency)
	case b.Latency == 0 && (b.Quantile != 0 || b.MinWaits != 0):
		return errors.New("capture: the Budget has no Latency: say how long a goroutine may wait")
	}
	return nil
}

// Signal returns a [Signal] that is raised if the waits that ended since it was asked last
// break the budget.
func (b Budget) Signal() Signal { return b.signal(readLatencies()) }

func (b Budget) signal(read func(*latencies)) Signal {
	var before, now latencies
	started := false
	return func() (reason string, ok bool) {
		before, now = now, before
		read(&now)
		if started {
			reason, ok = b.broken(&before, &now)
		}
		started = true
		return reason, ok
	}
}

// latencies is a histogram of waits since the program began.
type latencies struct {
	counts []uint64
	bounds []float64 // seconds; bucket i is from bounds[i] to bounds[i+1]
}

// readLatencies returns a function that reads the runtime's histogram.
func readLatencies() func(*latencies) {
	sample := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	return func(l *latencies) {
		metrics.Read(sample)
		h := sample[0].Value.Float64Histogram()
		l.counts = append(l.counts[:0], h.Counts...) // the sample's are used again
		l.bounds = h.Buckets
	}
}

// broken reports whether the waits that ended between two readings break the
// budget, and how.
func (b *Budget) broken(before, now *latencies) (reason string, ok bool) {
	quantile, least := cmp.Or(b.Quantile, 1), cmp.Or(b.MinWaits, 10)
	waits := make([]uint64, len(now.counts))
	total := uint64(0)
	for i := range waits {
		waits[i] = now.counts[i]
		if i < len(before.counts) {
			waits[i] -= before.counts[i]
		}
		total += waits[i]
	}
	if total < least {
		return "", false
	}
	// The wait at the quantile is the rank-th from the shortest.
	rank := max(1, uint64(math.Ceil(quantile*float64(total))))
	i, seen := 0, waits[0]
	for seen < rank {
		i++
		seen += waits[i]
	}
	at := time.Duration(max(0, now.bounds[i]) * float64(time.Second))
	if at < b.Latency {
		return "", false
	}
	at = at.Round(time.Millisecond / 10)
	if quantile == 1 {
		return fmt.Sprintf("the longest of %d sampled waits for a P took at least %v; the budget is %v", total, at, b.Latency), true
	}
	return fmt.Sprintf("of %d sampled waits for a P, %d took at least %v; the budget is %v at quantile %v", total, total-rank+1, at, b.Latency, quantile), true
}

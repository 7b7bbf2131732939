// Package heartbeat is a small membership table: agents report in, and a
// detector declares those dead that have been silent for too long.
package heartbeat

import (
	"context"
	"sort"
	"sync"
	"time"
)

// Detector keeps the last sign of life of every member.
type Detector struct {
	timeout time.Duration
	sweep   time.Duration

	mu   sync.Mutex
	last map[string]time.Time
	dead map[string]time.Duration // how long it was silent when declared dead
}

// NewDetector returns a detector that looks at its table every sweep and
// declares a member dead after timeout without a beat.
func NewDetector(timeout, sweep time.Duration) *Detector {
	return &Detector{
		timeout: timeout,
		sweep:   sweep,
		last:    make(map[string]time.Time),
		dead:    make(map[string]time.Duration),
	}
}

// Beat records a sign of life.
func (d *Detector) Beat(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last[id] = time.Now()
}

// Run sweeps until ctx ends.
func (d *Detector) Run(ctx context.Context) {
	t := time.NewTicker(d.sweep)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			d.sweepOnce(time.Now())
		}
	}
}

func (d *Detector) sweepOnce(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, at := range d.last {
		if silent := now.Sub(at); silent > d.timeout {
			delete(d.last, id)
			d.dead[id] = silent
		}
	}
}

// Dead lists the members that were declared dead, sorted.
func (d *Detector) Dead() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	ids := make([]string, 0, len(d.dead))
	for id := range d.dead {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	return ids
}

// Agent beats for one member.
type Agent struct {
	ID    string
	Every time.Duration
}

// Run beats until ctx ends.
func (a Agent) Run(ctx context.Context, d *Detector) {
	t := time.NewTicker(a.Every)
	defer t.Stop()
	for {
		d.Beat(a.ID)
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

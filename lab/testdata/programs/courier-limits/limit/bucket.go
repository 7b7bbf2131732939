// Package limit lets through as many calls as a contract allows.
package limit

import (
	"context"
	"sync"
	"time"
)

// A Bucket lets through a call each period.
type Bucket struct {
	period time.Duration
	mu     sync.Mutex
	next   time.Time
}

func NewBucket(period time.Duration) *Bucket { return &Bucket{period: period, next: time.Now()} }

// Wait returns when the call may be made.
func (b *Bucket) Wait(ctx context.Context) error {
	b.mu.Lock()
	now := time.Now()
	if b.next.Before(now) {
		b.next = now
	}
	turn := b.next
	b.next = turn.Add(b.period)
	b.mu.Unlock()
	wait := time.NewTimer(turn.Sub(now))
	defer wait.Stop()
	select {
	case <-wait.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

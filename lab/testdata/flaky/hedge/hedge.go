// Package hedge reads from replicas and, when the first is slow, asks a second
// one as well and takes the faster answer (hedged requests, "The Tail at
// Scale"). A semaphore bounds the calls in flight.
package hedge

import (
	"context"
	"fmt"
	"time"
)

// Replica answers a key.
type Replica interface {
	Read(key string) (string, error)
}

// Reader reads hedged.
type Reader struct {
	replicas []Replica
	delay    time.Duration
	slots    chan struct{}
}

// NewReader asks the second replica after delay, with at most limit calls in
// flight.
func NewReader(delay time.Duration, limit int, replicas ...Replica) *Reader {
	return &Reader{replicas: replicas, delay: delay, slots: make(chan struct{}, limit)}
}

type answer struct {
	value string
	err   error
}

func (r *Reader) acquire(ctx context.Context) error {
	select {
	case r.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("hedge: waiting for a slot: %w", ctx.Err())
	}
}

func (r *Reader) call(rep Replica, key string, out chan<- answer) {
	defer func() { <-r.slots }()
	v, err := rep.Read(key)
	out <- answer{v, err}
}

// Read returns the first answer.
func (r *Reader) Read(ctx context.Context, key string) (string, error) {
	out := make(chan answer)
	t := time.NewTimer(r.delay)
	defer t.Stop()
	for i := 0; ; i++ {
		if i < len(r.replicas) {
			if err := r.acquire(ctx); err != nil {
				return "", err
			}
			go r.call(r.replicas[i], key, out)
		}
		select {
		case a := <-out:
			return a.value, a.err
		case <-t.C:
			t.Reset(r.delay)
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

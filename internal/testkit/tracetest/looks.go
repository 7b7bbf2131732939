package tracetest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
)

// Looks is a context that is cancelled when Err is called for the nth time. Contexts made of
// it are done at once, too, but their own Err is not counted.
type Looks struct {
	context.Context
	cancel context.CancelFunc
	nth    int64
	seen   atomic.Int64
}

// CancelledAtLook returns a context that is cancelled when Err is called for the nth time.
func CancelledAtLook(t testing.TB, nth int64) *Looks {
	l := &Looks{nth: nth}
	l.Context, l.cancel = context.WithCancel(t.Context())
	t.Cleanup(l.cancel)
	return l
}

// Err counts the call, and returns an error from the nth call on. It implements
// [context.Context].
func (l *Looks) Err() error {
	if l.seen.Add(1) == l.nth {
		l.cancel()
	}
	return l.Context.Err()
}

// Cancelled reports whether the context is done, which is no look.
func (l *Looks) Cancelled() bool { return l.Context.Err() != nil }

// Late returns how often Err was called after the context was cancelled.
func (l *Looks) Late() int64 { return max(0, l.seen.Load()-l.nth) }

// EachLook calls f with contexts that are cancelled at their first look, their second and so
// on, after the first few at ever larger steps, until f reports that the last was not looked
// at so often.
func EachLook(t testing.TB, f func(*Looks) (cancelled bool)) {
	share := int64(3)
	if testing.Short() {
		share = 1
	}
	for nth := int64(1); f(CancelledAtLook(t, nth)); nth += 1 + nth/share {
	}
}

// String returns at which look the context is cancelled, for messages of tests.
func (l *Looks) String() string { return fmt.Sprintf("cancelled at look %d", l.nth) }

// Rpc-watch is a client of a key-value store in shared memory. A call can be
// given up by its context; for that, each call is watched.
package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	sessions = 4
	bursts   = 130
	calls    = 280
	pause    = 2 * time.Millisecond
)

// A client calls the store. It is not safe for concurrent use.
type client struct {
	broken atomic.Bool
	values map[int]int
}

func newClient() *client {
	c := &client{values: make(map[int]int)}
	for k := range 1000 {
		c.values[k] = k * k
	}
	return c
}

// Call reads a value, unless ctx is done before.
func (c *client) Call(ctx context.Context, key int) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	finish := c.watch(ctx)
	defer finish()
	return c.exchange(key)
}

// watch breaks the call off when ctx is done. The function returned ends that,
// and returns when the watching has ended.
func (c *client) watch(ctx context.Context) (finish func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-ctx.Done():
			c.broken.Store(true)
		case <-done:
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// exchange reads a value from the store.
func (c *client) exchange(key int) (int, error) {
	if c.broken.Load() {
		return 0, context.Canceled
	}
	return c.values[key], nil
}

type session struct {
	c       *client
	calling time.Duration
	sum     int
}

// load fills a page with the values of many keys.
func (s *session) load(ctx context.Context, page int) error {
	start := time.Now()
	defer func() { s.calling += time.Since(start) }()
	for n := range calls {
		v, err := s.c.Call(ctx, (page+n)%1000)
		if err != nil {
			return err
		}
		s.sum += v
	}
	return nil
}

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	plain := newClient()
	start := time.Now()
	for n := range bursts * calls * sessions {
		if _, err := plain.exchange(n % 1000); err != nil {
			panic(err)
		}
	}
	unwatched := time.Since(start)
	all := make([]*session, sessions)
	var open sync.WaitGroup
	rec.Start()
	for i := range all {
		all[i] = &session{c: newClient()}
		open.Go(func() {
			time.Sleep(time.Duration(i) * pause / sessions)
			for page := range bursts {
				if err := all[i].load(ctx, page); err != nil {
					panic(err)
				}
				time.Sleep(pause)
			}
		})
	}
	open.Wait()
	rec.Stop()
	var calling time.Duration
	for _, s := range all {
		calling += s.calling
	}
	fmt.Fprintf(os.Stderr, "proof: %d calls took %v with a watcher each, %v without\n",
		bursts*calls*sessions, calling, unwatched)
}

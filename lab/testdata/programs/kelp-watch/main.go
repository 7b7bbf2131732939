// Kelp-watch hands out the settings of two thousand buoys, each of which
// watches its own.
package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/kelp-watch/kv"
)

const (
	buoys   = 2000
	changes = 50
	period  = 10 * time.Millisecond
)

// A harbour is a store, and the buoys that watch it.
type harbour struct {
	store *kv.Store
	done  chan struct{}
	open  sync.WaitGroup
	mu    sync.Mutex
	took  []time.Duration
}

func main() {
	h := newHarbour(false)
	rec.Start()
	took := h.change()
	rec.Stop()
	mended := newHarbour(true).change()
	fmt.Fprintf(os.Stderr, "proof: %d changes known after p50 %v, p90 %v; if only who watches the key is told, untraced: p50 %v, p90 %v\n",
		len(took), took[len(took)/2], took[len(took)*9/10], mended[len(mended)/2], mended[len(mended)*9/10])
}

func newHarbour(perKey bool) *harbour {
	h := &harbour{store: kv.NewStore(), done: make(chan struct{})}
	h.store.PerKey = perKey
	for buoy := range buoys {
		h.open.Go(func() { h.watch(fmt.Sprint("buoy ", buoy)) })
	}
	time.Sleep(50 * time.Millisecond) // until all watch
	return h
}

// watch follows the settings of a buoy, which are the time they were set.
func (h *harbour) watch(key string) {
	known := 0
	for {
		text, version, ok := h.store.Next(key, known, h.done)
		if !ok {
			return
		}
		known = version
		set, _ := strconv.ParseInt(text, 10, 64)
		took := time.Since(time.Unix(0, set))
		h.mu.Lock()
		h.took = append(h.took, took)
		h.mu.Unlock()
	}
}

func (h *harbour) change() []time.Duration {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for n := range changes {
		<-ticker.C
		h.store.Set(fmt.Sprint("buoy ", n*37%buoys), fmt.Sprint(time.Now().UnixNano()))
	}
	<-ticker.C
	close(h.done)
	h.open.Wait()
	slices.Sort(h.took)
	return h.took
}

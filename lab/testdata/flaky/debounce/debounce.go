// Package debounce folds bursts of file changes into single rebuilds, as a
// development server does.
package debounce

import (
	"sort"
	"sync"
	"time"
)

// Rebuild is called with the changed paths after a burst.
type Rebuild func(paths []string)

// Watcher collects changes until it was quiet for the window.
type Watcher struct {
	window  time.Duration
	rebuild Rebuild

	mu      sync.Mutex
	pending map[string]struct{}
	timer   *time.Timer
	gen     int
	busy    sync.WaitGroup
}

// New returns a watcher that calls rebuild after window without a change.
func New(window time.Duration, rebuild Rebuild) *Watcher {
	return &Watcher{window: window, rebuild: rebuild, pending: make(map[string]struct{})}
}

// Changed reports a change and starts the window anew.
func (w *Watcher) Changed(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending[path] = struct{}{}
	w.gen++
	gen := w.gen
	if w.timer != nil && w.timer.Stop() {
		w.busy.Done()
	}
	w.busy.Add(1)
	w.timer = time.AfterFunc(w.window, func() {
		defer w.busy.Done()
		w.flush(gen)
	})
}

// flush rebuilds, unless a later change has restarted the window.
func (w *Watcher) flush(gen int) {
	w.mu.Lock()
	if gen != w.gen || len(w.pending) == 0 {
		w.mu.Unlock()
		return
	}
	paths := make([]string, 0, len(w.pending))
	for p := range w.pending {
		paths = append(paths, p)
	}
	clear(w.pending)
	w.mu.Unlock()
	sort.Strings(paths)
	w.rebuild(paths)
}

// Wait returns when all rebuilds that are due have been done.
func (w *Watcher) Wait() { w.busy.Wait() }

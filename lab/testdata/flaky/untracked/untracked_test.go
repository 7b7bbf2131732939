// Package untracked is projectcalico/calico#12034: one of the goroutines is not in the WaitGroup.
package untracked

import (
	"sync"
	"testing"
)

func TestReadiness(t *testing.T) {
	var mu sync.Mutex
	ready := map[string]bool{"anykey": false}
	set := func(key string) { mu.Lock(); ready[key] = true; mu.Unlock() }
	var wg sync.WaitGroup
	for _, key := range []string{"a", "b"} {
		wg.Go(func() { set(key) })
	}
	go set("anykey")
	wg.Wait()
	mu.Lock()
	defer mu.Unlock()
	if !ready["anykey"] {
		t.Fatal("anykey should be ready")
	}
}

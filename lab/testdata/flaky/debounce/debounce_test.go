package debounce

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

func TestBurstIsOneRebuild(t *testing.T) {
	var mu sync.Mutex
	var builds [][]string
	w := New(30*time.Millisecond, func(paths []string) {
		mu.Lock()
		defer mu.Unlock()
		builds = append(builds, paths)
	})
	for i := range 25 { // an editor's "save all"
		w.Changed(fmt.Sprintf("src/page%02d.html", i))
		time.Sleep(4 * time.Millisecond)
	}
	w.Wait()
	if len(builds) != 1 {
		t.Fatalf("%d rebuilds for one burst, want 1: %v", len(builds), builds)
	}
	if len(builds[0]) != 25 {
		t.Fatalf("rebuild of %d paths, want 25", len(builds[0]))
	}
}

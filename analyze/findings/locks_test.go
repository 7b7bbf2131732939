package findings_test

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

func TestIsLock(t *testing.T) {
	for frame, want := range map[string]bool{
		"sync.(*Mutex).Lock (/go/src/sync/mutex.go:46)":         true,
		"sync.(*RWMutex).RLock (/go/src/sync/rwmutex.go:74)":    true,
		"internal/poll.(*fdMutex).rwlock (fd_mutex.go:154)":     true,
		"sync.(*Mutex).Unlock (/go/src/sync/mutex.go:65)":       false,
		"sync.(*WaitGroup).Wait (/go/src/sync/waitgroup.go:20)": false,
		"example.com/sync.(*Mutex).Lock (mutex.go:1)":           false,
		"": false,
	} {
		if got := findings.IsLock([]string{frame}); got != want {
			t.Errorf("%q: %v", frame, got)
		}
	}
}
